import Arbiter
import ArbiterProtocol
import ArgumentParser
import Explain
import Scenario

struct TraceOptions: ParsableArguments {
    @Flag(help: "Leave out a trace's last line where it is cut short, as a killed broker may leave it.") var cut = false

    func read(_ file: String) throws(TraceError) -> [TracePart] { try TraceReader.read(path: file, mayBeCut: cut) }
}

extension TracePart {
    func checked<Value>(_ body: () throws(Arbiter.BrokenSnapshot) -> Value) throws(Failure) -> Value {
        try at("\(file):\(header.line): the snapshot", body)
    }
}

struct TraceConvert: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert", abstract: "Make a scenario of a trace: the same inputs, and the notices of sessions.",
        usage: "camclient trace convert [options] <file>",
        discussion: """
            The trace has to begin with its broker's start, as a scenario does. Recorders answer as they did; deadlines \
            fire by themselves. The scenario's sessions receive the same notices as those of the trace, or the exit status \
            is 1, and a sentence has the difference; the scenario is written in both cases.
            With --policy, the same inputs under another policy, with their outcome there, as trace replay --policy \
            compares them: recorders are simulated then, and answer at once.
            Examples:
              camclient trace convert out/demo.trace -o demo.scenario
              camclient test demo.scenario
              camclient trace convert out/demo.trace --policy policies/kiosk.toml
            """)

    @Argument(help: .value("file", "A trace; - is standard input.")) var file: String
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: .value("scenario", "Write the scenario into this file; without it to standard output.")) var target:
        String?
    @OptionGroup var other: OtherPolicyOptions
    @OptionGroup var traces: TraceOptions

    func run() async throws {
        let other = try other.load()
        let parts = try traces.read(file)
        guard parts.count == 1, let part = parts.first else {
            throw Failure(.usage, "\(file): steps are missing in between, and a scenario has no gaps.")
        }
        let scenario = try scenario(part, other)
        if let target { try writeText(scenario.text, to: target, for: .owner) } else { Output.text(scenario.text) }
        if let deviation = scenario.deviation {
            throw Failure(.answerIsNo, "\(file): the scenario is not told the same as the trace. \(deviation).")
        }
    }

    private func scenario(_ part: TracePart, _ other: Policy?) throws(TraceError) -> TraceScenario {
        let source = "What \(part.header.program) was told"
        guard let other else {
            return try TraceScenario(part, title: "\(source) and decided: \(part.steps.count.counted("step")).")
        }
        let scenario = try TraceScenario(
            part, title: "\(source), under “\(other.name)” instead of “\(part.header.policy.name)”.", under: other)
        for (what, count) in scenario.leftOut.sorted(by: { $0.key < $1.key }) {
            Output.notice("\(file): not in the scenario: \(count) \(what)")
        }
        return scenario
    }
}

struct TraceReplay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Step a fresh core through a trace: it must decide the same, byte for byte.",
        usage: "camclient trace replay [options] <file> ...",
        discussion: """
            Several files are those of one broker, the oldest first. Exit status 0 when all steps come out as written; 1 \
            at the first difference, which is shown, or when steps are missing in between; 2 when a file is not a trace, \
            or was changed. No broker is needed.
            With --policy, the changes for sessions under another policy: recorders are simulated then, and answer at \
            once. The files may be of many machines, and the exit status is 1 when something changes.
            Examples:
              camclient trace replay out/demo.trace
              camclient trace replay camarb.trace.2 camarb.trace.1 camarb.trace
              camclient trace replay visit.trace --policy policies/kiosk.toml
            """)

    @Argument(help: .value("file", "Traces, the oldest first; - is standard input.")) var files: [String]
    @OptionGroup var other: OtherPolicyOptions
    @OptionGroup var traces: TraceOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let other = try other.load()
        var parts: [TracePart] = []
        for file in files {
            let read = try traces.read(file)
            // Under another policy each file is compared from its own snapshot.
            if other == nil, let before = parts.last, let next = read.first, let gap = next.gap(after: before) {
                throw Failure(.usage, "\(file):\(next.header.line): \(gap). Give the oldest file first.")
            }
            parts += read
        }
        if let other { try compare(parts, other) } else { try replay(parts) }
    }

    private func replay(_ parts: [TracePart]) throws {
        var steps = 0
        let progress = Progress()
        var before: Arbiter?
        for part in parts {
            if let before, let snapshot = part.header.snapshot, part.header.follows != nil,
                JSONEncoding.text(of: snapshot) != JSONEncoding.text(of: before.snapshot())
            {
                throw Failure(
                    .answerIsNo, "\(part.file):\(part.header.line): the snapshot is not what the file before ends with."
                )
            }
            let (difference, end) = try part.checked { () throws(Arbiter.BrokenSnapshot) in
                try Replay.run(part) { _ in
                    steps += 1
                    progress.show("step \(steps)")
                }
            }
            Output.endProgress()
            if let difference {
                show(difference, steps)
                throw Failure(.answerIsNo)
            }
            before = end
        }
        let lost = parts.reduce(UInt64(0)) { sum, part in
            if case .lost(let count) = part.end { sum + count } else { sum }
        }
        let isCut = parts.last?.end == nil
        var lines = ["\(steps) step\(steps == 1 ? "" : "s") replayed, byte for byte the same"]
        if isCut {
            lines.append("The trace has no end: its broker was killed, or goes on; what came last may be missing.")
        }
        if lost > 0 {
            let missing = Int(clamping: lost).counted("step")
            lines.append("\(missing) missing in between: whoever recorded them was too slow.")
        }
        output.show(["ok": lost == 0, "steps": steps, "lost": lost, "ended": !isCut], lines)
        if lost > 0 { throw Failure(.answerIsNo) }
    }

    private func show(_ difference: Replay.Difference, _ steps: Int) {
        output.show(
            [
                "ok": false, "steps": steps, "file": difference.file, "line": difference.line,
                "expected": difference.expected, "got": difference.got,
            ],
            [
                "\(difference.file):\(difference.line): this step's outcome differs; those of the \(steps) before it do not",
                "  expected  \(difference.expected)", "  got       \(difference.got)",
            ])
    }

    /// A fleet has changes of one kind by the thousand; rarer ones are in the lines above.
    private static let kindsMax = 10

    private func compare(_ parts: [TracePart], _ policy: Policy) throws {
        var changes = 0
        var inputs = 0
        var leftOut: [String: Int] = [:]
        var changed: Set<String> = []
        var kinds: [String: Int] = [:]
        for part in parts {
            let comparison = try part.checked { () throws(Arbiter.BrokenSnapshot) in
                try PolicyComparison(part, under: policy)
            }
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
        let compared = Set(parts.map(\.file)).count
        var lines = [
            changes == 0
                ? "Under “\(policy.name)”, nothing changes of what \(inputs.counted("input")) led to."
                : "Under “\(policy.name)”, \(changes.counted("decision")) of what \(inputs.counted("input")) led to would be another.",
            "Recorders are simulated, and answer at once; apps are taken to ask for the same at the same times.",
        ]
        lines += missing.map { "Not replayed: \($1) \($0)." }
        if changes > 0, files.count > 1 {
            lines.append("\(changed.count) of \(compared) files change. Most often:")
            let ranked = kinds.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            lines += ranked.prefix(Self.kindsMax).map { "  \($1)  \($0)" }
        }
        output.show(
            [
                "policy": policy.name, "inputs": inputs, "changes": changes, "files": compared,
                "changedFiles": changed.count, "leftOut": JSONObject(missing.map { ($0.key, $0.value) }),
            ], lines)
        if changes > 0 { throw Failure(.answerIsNo) }
    }

    private func show(_ change: PolicyComparison.Change, _ part: TracePart) {
        let time = TimeText.write(change.moment, from: part.header.origin)
        output.show(
            [
                "file": part.file, "line": change.line, "moment": change.moment.nanoseconds, "event": change.event,
                "session": change.session, "before": change.before, "after": change.after,
            ],
            [
                "\(part.file):\(change.line): \(time)   \(change.event ?? "time passes")",
                "       \(change.session): \(change.after)", "         instead of \(change.before)",
            ])
    }
}
