import Arbiter
import ArbiterProtocol
import Broker
import Explain
import PolicyFile
import RecorderCore
import Scenario
import Synchronization
import System
import TomlFile

/// Policies, scenarios, traces, the broker's own files, and paths of control groups.
extension FuzzTarget {
    /// A policy that was read can be written, and reads back as the same.
    static func policy(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        do throws(FileProblems) {
            let policy = try PolicyFile.parse(text, file: "policy.toml")
            let written = PolicyWriter.text(policy)
            checkReadsBack(policy, "A policy, written as \(written),") {
                try PolicyFile.parse(written, file: "written.toml")
            }
            _ = PolicyFile.check(text, file: "policy.toml")
        } catch { precondition(!error.problems.isEmpty, "A policy was refused without a problem.") }
    }

    /// A plan is answered or refused, in a world with a holder and a waiting session.
    static func scenario(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        do throws(ScenarioError) {
            let lines = try Scenario.plan(text, on: world, at: .zero, policies: "/nonexistent")
            precondition(
                lines?.allSatisfy { !$0.contains("\n") } != false, "A line of a plan's answer has lines of its own.")
        } catch { precondition(!error.problems.isEmpty, "A plan was refused without a problem.") }
    }

    /// Lines get valid checksums, so that the reader behind them is reached.
    static func trace(_ bytes: [UInt8]) {
        var writer = TraceWriter()
        let sealed = bytes.split(separator: UInt8(ascii: "\n")).flatMap { line in
            writer.write(step: TraceWriter.Body(text: String(decoding: line, as: UTF8.self)))
        }
        guard let parts = try? TraceReader.read(sealed, file: "a.trace", mayBeCut: true) else { return }
        for part in parts {
            guard let replayed = try? Replay.run(part) else { continue }
            precondition(
                replayed.end.violations().isEmpty || replayed.difference != nil,
                "A trace that replays as written leaves a broken state: \(replayed.end.violations())")
        }
    }

    static let world: Arbiter = {
        let text = """
            # One has the camera, and one waits.
            policy built-in
            camera back
            camera front
            0s   connect photos
                 connect call
                 session photos camera=back
                 session call camera=back
                 start photos
                 start call
            """
        do throws(ScenarioError) {
            let scenario = try Scenario.parse(text, file: "world", policies: "/nonexistent")
            var stage = Stage(Arbiter(policy: .firstCome))
            _ = scenario.run(on: &stage)
            return stage.arbiter
        } catch { preconditionFailure("The world of this target is wrong: \(error)") }
    }()

    /// A plan is answered or refused; the same question has the same answer, and with less patience none instead of a part of it; and
    /// no promise of the core is broken when the policy is loaded.
    static func planPolicy(_ input: [UInt8]) {
        let parts = String(decoding: input, as: UTF8.self).split(
            separator: "\n%%\n", maxSplits: 1, omittingEmptySubsequences: false)
        let scenario = parts.count == 2 ? String(parts[1]) : ""
        let sent: SentPolicy
        do throws(BrokerError) { sent = try SentPolicy(text: String(parts[0]), name: "policy.toml") } catch { return }
        let first = Planned(sent, scenario, patience: patience)
        precondition(Planned(sent, scenario, patience: patience) == first, "The same question got another answer.")
        guard first.isAnswered else { return }
        precondition(
            Planned(sent, scenario, patience: 2 * patience) == first, "Who waits for longer gets another answer.")
        checkLoading(sent)
    }

    /// More steps than a plan of two pages has.
    private static let patience = 400

    private static func checkLoading(_ sent: SentPolicy) {
        do throws(FileProblems) {
            let loaded = try sent.read()
            var arbiter = world
            _ = arbiter.step(.policyLoaded(loaded.policy), at: .zero)
            let broken = arbiter.violations()
            precondition(broken.isEmpty, "A policy that is loaded breaks a promise: \(broken)")
        } catch { preconditionFailure("A policy that was planned cannot be read: \(error)") }
    }

    private struct Planned: Equatable {
        var isAnswered = false
        var lines: [String] = []
        var changes: [PolicyPlan.Change] = []
        var hash = ""
        var token = ""

        init(_ sent: SentPolicy, _ scenario: String, patience: Int) {
            let left = Mutex(patience)
            let answer = sent.plan(
                scenario: scenario, for: Names.usualUser, on: FuzzTarget.world, at: .zero,
                names: Names(of: FuzzTarget.world)
            ) {
                left.withLock { left in
                    left -= 1
                    return left > 0
                }
            }
            switch answer {
            case .wrong(let problems): take(problems.problems.map(\.message))
            case .wrongLines(let error): take(error.problems.map(\.message))
            case .planned(let loaded, let plan):
                hash = loaded.policy.hash
                guard let plan else { return }
                isAnswered = true
                (lines, changes, token) = (plan.lines, plan.changes, plan.token)
                precondition(!token.isEmpty, "A plan has no token.")
                let sessions = FuzzTarget.world.sessions(after: SessionID(0), atMost: .max).map(\.id)
                for change in changes {
                    precondition(
                        sessions.contains(change.session) && change.after >= .zero && !change.words.utf8.contains(10),
                        "A plan has a change that cannot be: \(change)")
                }
            case .lines(let lines, let policy):
                hash = policy.hash
                guard let lines else { return }
                isAnswered = true
                self.lines = lines
            }
            precondition(
                !isAnswered || lines.allSatisfy { !$0.utf8.contains(10) },
                "A line of a plan's answer has lines of its own: \(lines)")
        }

        private mutating func take(_ problems: [String]) {
            precondition(!problems.isEmpty, "A plan was refused without a problem.")
            lines = problems
        }
    }

    /// Valid lines are written and read again as the same.
    static func answers(_ bytes: [UInt8]) {
        let read = lines(bytes)
        let kept = read.filter { if case .unreadable = $0 { false } else { true } }
        let written = kept.map { line in
            switch line {
            case .answer(let answer): answer.line + "\n"
            case .isPrivate, .unreadable: "private\n"
            }
        }.joined()
        precondition(lines(Array(written.utf8)) == kept, "Answers read back as others:\n\(written)")
    }

    private static func lines(_ bytes: [UInt8]) -> [KeptLines.Line] {
        var rest = KeptLines(bytes)
        var lines: [KeptLines.Line] = []
        while let line = rest.next() { lines.append(line) }
        precondition(lines.count <= rest.answersMax, "\(lines.count) lines were read of at most \(rest.answersMax).")
        return lines
    }

    /// Holders and surviving grants read back as the same. A listener's name stays in its folder, a secret equals only itself, and a
    /// microphone is possible.
    static func holders(_ bytes: [UInt8]) {
        let (holders, strange) = StoredHolder.read(bytes)
        let lines = bytes.split(separator: UInt8(ascii: "\n")).count
        precondition(
            holders.count + strange.count == lines, "Of \(lines) lines \(holders.count) count, and \(strange) do not.")
        var written = ""
        for holder in holders {
            guard let line = holder.line else {
                preconditionFailure("A holder that was read cannot be written: \(holder)")
            }
            written += line + "\n"
            guard let kept = holder.kept else { continue }
            precondition(
                StoredHolder.isListener(kept.listener) && !kept.listener.contains("/"),
                "A listener leads elsewhere: \(kept.listener)")
            precondition(
                kept.grant.rawValue > 0 && kept.microphone?.problem == nil, "A grant is kept that cannot be: \(line)")
            precondition(kept.secret.map { $0.equals($0) } != false, "A secret is not equal to itself.")
        }
        let (again, strangers) = StoredHolder.read(Array(written.utf8))
        precondition(
            strangers.isEmpty && again.map(\.line) == holders.map(\.line),
            "Holders read back as others: \(again.map(\.line)), and as none \(strangers)\n\(written)")
    }

    /// An app's name is one line of bounded length. A unit is the first part of the path after its slices. Only a service of
    /// system.slice is vouched for; a unit in a user's part is none of the system's.
    static func controlGroup(_ bytes: [UInt8]) {
        // A path is read as a C string.
        let path = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        let (name, isVerified) = AppIdentity.unit(inControlGroup: path)
        if let name {
            precondition(
                name.utf8.count <= AppIdentity.nameBytesMax && name.unicodeScalars.allSatisfy { $0.value >= 0x20 },
                "\(path) gives the name \(name)")
        }
        let group = ControlGroup(path: path)
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Array($0) }
        guard let unit = group.unit else {
            precondition(name == nil && !isVerified && group.userUnit == nil, "\(path) has no unit, and a name.")
            return
        }
        // The empty part before the first slash, then slices and the unit, which may have a `_` before it.
        let before = [[]] + group.slices.map { Array($0.utf8) }
        precondition(
            parts.starts(with: before) && parts.count > before.count
                && [Array(unit.utf8), Array("_\(unit)".utf8)].contains(parts[before.count]),
            "\(unit) is not the first unit of \(path)")
        precondition(isVerified == (group.isVouchedService && name != nil), "\(path) is vouched for by halves.")
        if group.isVouchedService {
            precondition(
                parts.count == before.count + 1 && parts[1] == Array("system.slice".utf8) && group.userUnit == nil
                    && !group.isSandbox, "\(path) passes for a service of the system.")
        }
        if let own = group.userUnit {
            precondition(
                group.slices == ["user.slice", "user-\(own.user).slice"] && unit.hasPrefix("user@") && !isVerified
                    && !group.isService, "\(path) is taken for a unit of user \(own.user).")
        }
    }
}
