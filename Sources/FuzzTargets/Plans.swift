import Arbiter
import ArbiterProtocol
import Broker
import PolicyFile
import Scenario
import Synchronization
import TomlFile

/// A policy that a client sends, with what is to happen under it.
extension FuzzTarget {
    /// It is answered or refused, in a world where somebody has the camera and somebody waits; the same question gets the same
    /// answer, and where patience ends none instead of half of one; and in the policy's first moment no promise of the
    /// core is broken.
    static func planPolicy(_ input: [UInt8]) {
        // Policy and lines with a line between that neither has.
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

    /// How often a plan may ask whether it may go on: more than any of a page or two does.
    private static let patience = 400

    private static func checkLoading(_ sent: SentPolicy) {
        do throws(FileProblems) {
            let loaded = try sent.read()
            var arbiter = world
            _ = arbiter.step(.policyLoaded(loaded.policy), at: .zero)
            let broken = arbiter.violations()
            precondition(broken.isEmpty, "A policy that is loaded breaks a promise: \(broken)")
        } catch {
            preconditionFailure("A policy that was planned cannot be read: \(error)")
        }
    }

    /// What a question came to, to be compared.
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
}
