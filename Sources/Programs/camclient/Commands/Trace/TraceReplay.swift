import Arbiter
import ArbiterProtocol
import ArgumentParser
import Explain
import PolicyFile
import Scenario
import Workbench

struct TraceReplay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Step a fresh core through a trace: it must decide the same, byte for byte.",
        usage: "camclient trace replay [options] <file> ...",
        discussion: """
            Several files are those of one broker, the oldest first. Exit status 0 when all came out as written; 1 at \
            the first difference, which is shown, or when steps are missing in between; 2 when a file is no trace, or \
            not as it was written. No broker is needed.
            With --policy, what sessions would have had otherwise: recorders are simulated then, and answer at once. The \
            files may be of many machines, and exit status 1 says that something changes.
            Examples:
              camclient trace replay out/demo.trace
              camclient trace replay camarb.trace.2 camarb.trace.1 camarb.trace
              camclient trace replay visit.trace --policy policies/kiosk.toml
            """)

    @Argument(help: ArgumentHelp("Traces, the oldest first; - is standard input.", valueName: "file"))
    var files: [String]
    @Option(help: ArgumentHelp("Show what this policy would have decided otherwise.", valueName: "file"))
    var policy: String?
    @OptionGroup var policyFiles: PolicyFileOptions
    @Flag(help: "Leave out a last line that is cut short, as a broker that was killed may leave it.") var cut = false
    @OptionGroup var output: OutputOptions

    func run() async throws {
        var other: Policy?
        if let policy {
            other = try policyFiles.load(policy).policy
        } else if policyFiles.policyDir != nil {
            throw Failure(.usage, "--policy-dir needs --policy, whose drop-ins are meant.")
        }
        // Everything is read and checked before anything is shown.
        var parts: [TracePart] = []
        for file in files {
            let read = try readParts(file, mayBeCut: cut)
            // Under another policy each is compared from its own snapshot, whosever it is.
            if other == nil, let before = parts.last, let next = read.first, let gap = next.gap(after: before) {
                throw Failure(.usage, "\(file):\(next.header.line): \(gap). Give the oldest file first.")
            }
            parts += read
        }
        if let other { try compare(parts, other) } else { try replay(parts) }
    }

    /// Whether both hold the same: one form has one text.
    private func isSame(_ one: Arbiter.Snapshot, _ other: Arbiter.Snapshot) throws -> Bool {
        try JSONEncoding.json(of: one) == JSONEncoding.json(of: other)
    }

    private func replay(_ parts: [TracePart]) throws {
        var steps = 0
        var progress = Progress()
        var before: Arbiter?
        for part in parts {
            if let before, let snapshot = part.header.snapshot, part.header.follows != nil,
                try !isSame(snapshot, before.snapshot())
            {
                throw Failure(
                    .answerIsNo, "\(part.file):\(part.header.line): the snapshot is not what the file before ends with."
                )
            }
            let (difference, end) = try run(part) {
                steps += 1
                progress.show("step \(steps)")
            }
            progress.end()
            if let difference {
                show(difference, steps)
                throw Failure(.answerIsNo, "")
            }
            before = end
        }
        let lost = parts.reduce(UInt64(0)) { sum, part in
            if case .lost(let count) = part.end { sum + count } else { sum }
        }
        let isCut = parts.last?.end == nil
        if output.json {
            Output.json([
                "ok": .bool(lost == 0), "steps": .integer(Int64(steps)), "lost": .count(lost), "ended": .bool(!isCut),
            ])
        } else {
            Output.line("\(steps) steps replayed, byte for byte the same")
            if isCut {
                Output.line("The trace has no end: its broker was killed, or goes on; what came last may be missing.")
            }
            if lost > 0 { Output.line("\(lost) steps are missing in between: whoever recorded them was too slow.") }
        }
        if lost > 0 { throw Failure(.answerIsNo, "") }
    }

    private func run(
        _ part: TracePart, _ each: () -> Void
    ) throws(Failure) -> (difference: Replay.Difference?, end: Arbiter) {
        do throws(Arbiter.BrokenSnapshot) {
            return try Replay.run(part) { _ in each() }
        } catch { throw Failure(.usage, "\(part.file):\(part.header.line): the snapshot: \(error.message)") }
    }

    private func show(_ difference: Replay.Difference, _ steps: Int) {
        if output.json {
            Output.json([
                "ok": .bool(false), "steps": .integer(Int64(steps)), "file": .string(difference.file),
                "line": .integer(Int64(difference.line)), "expected": .string(difference.expected),
                "got": .string(difference.got),
            ])
            return
        }
        Output.line("\(difference.file):\(difference.line): this step comes out otherwise, after \(steps) that did not")
        Output.line("  expected  \(difference.expected)")
        Output.line("  got       \(difference.got)")
    }

    /// Changes of one kind come by the thousand from a fleet; what is rarer than ten others is in the lines above.
    private static let kindsMax = 10

    private func compare(_ parts: [TracePart], _ policy: Policy) throws {
        var changes = 0
        var inputs = 0
        var leftOut: [String: Int] = [:]
        var changed: Set<String> = []
        var kinds: [String: Int] = [:]
        for part in parts {
            let comparison: PolicyComparison
            do throws(Arbiter.BrokenSnapshot) {
                comparison = try PolicyComparison(part, under: policy)
            } catch { throw Failure(.usage, "\(part.file):\(part.header.line): the snapshot: \(error.message)") }
            for change in comparison.changes {
                show(change, part)
                changed.insert(part.file)
                kinds["\(change.after), instead of \(change.before)", default: 0] += 1
            }
            changes += comparison.changes.count
            inputs += comparison.inputs
            leftOut.merge(comparison.leftOut) { $0 + $1 }
        }
        let missing = leftOut.sorted { $0.key < $1.key }
        if output.json {
            Output.json([
                "policy": .string(policy.name), "inputs": .integer(Int64(inputs)), "changes": .integer(Int64(changes)),
                "files": .integer(Int64(Set(parts.map(\.file)).count)), "changedFiles": .integer(Int64(changed.count)),
                "leftOut": .object(missing.map { JSON.Member(key: $0.key, value: .integer(Int64($0.value))) }),
            ])
            if changes > 0 { throw Failure(.answerIsNo, "") }
            return
        }
        Output.line(
            changes == 0
                ? "Under “\(policy.name)”, nothing that the \(inputs) inputs led to changes."
                : "Under “\(policy.name)”, \(changes) decisions of what \(inputs) inputs led to change.")
        Output.line(
            "Recorders are simulated, and answer at once; apps are taken to ask for the same at the same times.")
        for (what, count) in missing { Output.line("Not replayed: \(count) \(what).") }
        guard changes > 0 else { return }
        if files.count > 1 {
            Output.line("\(changed.count) of \(Set(parts.map(\.file)).count) files change. Most often:")
            let ranked = kinds.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            for (kind, count) in ranked.prefix(Self.kindsMax) { Output.line("  \(count)  \(kind)") }
        }
        throw Failure(.answerIsNo, "")
    }

    private func show(_ change: PolicyComparison.Change, _ part: TracePart) {
        let time = TimeText.write(change.moment, from: part.header.origin)
        if output.json {
            Output.json([
                "file": .string(part.file), "line": .integer(Int64(change.line)),
                "moment": .integer(change.moment.nanoseconds), "event": .optional(change.event),
                "session": .string(change.session), "before": .string(change.before), "after": .string(change.after),
            ])
            return
        }
        Output.line("\(part.file):\(change.line): \(time)   \(change.event ?? "time passes")")
        Output.line("       \(change.session): \(change.after)")
        Output.line("         instead of \(change.before)")
    }
}

/// A line on a terminal that says how far something is, once it has taken two seconds.
struct Progress {
    private let begin = Moment.now
    private var last = Moment.now
    private var isShown = false

    mutating func show(_ text: @autoclosure () -> String) {
        let now = Moment.now
        // Ten times a second is more than anybody reads.
        guard now - last > .milliseconds(100) else { return }
        last = now
        guard Output.isErrorTerminal, now - begin > .seconds(2) else { return }
        isShown = true
        Output.progress(text())
    }

    mutating func end() {
        if isShown { Output.progress("") }
        isShown = false
    }
}
