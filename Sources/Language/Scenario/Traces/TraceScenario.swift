import Arbiter
public import ArbiterProtocol
import Explain
import PolicyFile

/// A trace as a scenario: the same inputs at the same times, recorders with the same answers, and the notices of a run.
public struct TraceScenario {
    /// The whole file; `camclient test` passes it.
    public let text: String
    /// The first notice that differs from the trace, as a sentence.
    public let deviation: String?
    /// Under another policy: how many inputs of each kind are not in it.
    public private(set) var leftOut: [String: Int] = [:]

    /// - Parameter title: the scenario's first line.
    /// - Throws: that the trace begins in the middle, which no scenario can, or that a name in it cannot be written.
    public init(_ part: TracePart, title: String) throws(TraceError) {
        func fault(_ line: Int, _ message: String) -> TraceError {
            TraceError(file: part.file, line: line, message: message)
        }
        var lines = try Self.head(part, title, part.header.policy, recorders: "manual")
        // Events before the first one count from the broker's start, so none is before 0.
        var writer = ScenarioWriter(origin: part.header.origin)
        for step in part.steps {
            guard step.moment >= part.header.origin else { throw fault(step.line, Self.tooEarly) }
            writer.names.learn(step)
            let lead = Self.lead(step.moment, part)
            switch step.event {
            // Deadlines come by themselves, each at its very moment.
            case .timePassed: continue
            case .policyLoaded(let policy):
                var block = Self.policy("policy-reload", policy)
                block[0] = lead + block[0]
                lines += block
            default:
                guard let text = writer.text(of: step.event) else {
                    throw fault(step.line, "a scenario has no line for \(step.event.kind.rawValue)")
                }
                lines.append(lead + text)
            }
        }
        // The effects of time alone behind the last input need its last moment.
        if let last = part.steps.last, case .timePassed = last.event {
            lines.append(TimeText.write(last.moment, from: part.header.origin))
        }
        let (text, stage) = try Self.run(lines, part)
        self.text = text
        deviation = try Self.deviation(part, stage.steps.flatMap(\.effects))
    }

    /// The trace's inputs under another policy, as `PolicyComparison` performs them: recorders are simulated, since the
    /// trace has no answers to orders of this policy.
    /// - Throws: as above.
    public init(_ part: TracePart, title: String, under policy: Policy) throws(TraceError) {
        var lines = try Self.head(part, title, policy, recorders: "works")
        let comparison: PolicyComparison
        do throws(Arbiter.BrokenSnapshot) { comparison = try PolicyComparison(part, under: policy) } catch {
            throw TraceError(file: part.file, line: part.header.line, message: error.message)
        }
        for input in comparison.lines {
            guard input.moment >= part.header.origin else {
                throw TraceError(file: part.file, line: input.line, message: Self.tooEarly)
            }
            lines.append(Self.lead(input.moment, part) + input.text)
        }
        if let last = part.steps.last { lines.append(TimeText.write(last.moment, from: part.header.origin)) }
        text = try Self.run(lines, part).text
        deviation = nil
        leftOut = comparison.leftOut
    }

    private static let tooEarly = "this step is before the trace's origin"

    private static func head(
        _ part: TracePart, _ title: String, _ policy: Policy, recorders: String
    ) throws(TraceError) -> [String] {
        guard part.header.snapshot == nil else {
            throw TraceError(
                file: part.file, line: part.header.line,
                message: "the trace begins in the middle, behind step \(part.header.steps): a scenario begins with "
                    + "nothing. Convert the trace's first file, or replay this one")
        }
        var lines = ["# \(String(title.map { $0 == "\n" ? " " : $0 }))", ""]
        lines += Self.policy("policy", policy)
        lines += ["cameras none", "", "0s   recorder all \(recorders)"]
        if placesBeforeAttaching(part) { lines.append("     shell gone") }
        return lines + untold(part).map { "     login-session \($0.name.scenarioWord) ended" }
    }

    private static func lead(_ moment: Moment, _ part: TracePart) -> String {
        let time = TimeText.write(moment, from: part.header.origin)
        return time + String(repeating: " ", count: max(1, 5 - time.count))
    }

    /// - Returns: the scenario with the notices of its run, which passes, and the stage behind it.
    private static func run(_ lines: [String], _ part: TracePart) throws(TraceError) -> (text: String, stage: Stage) {
        func fault(_ message: String) -> TraceError {
            TraceError(
                file: part.file, line: part.header.line,
                message: "the trace cannot be written as a scenario:\n\(message)")
        }
        let text: String
        let parsed: Scenario
        do throws(ScenarioError) {
            let bare = try Scenario.parse(lines.joined(separator: "\n") + "\n", file: part.file, policies: ".")
            text = bare.run().rewritten
            parsed = try Scenario.parse(text, file: part.file, policies: ".")
        } catch { throw fault(error.description) }
        var stage = Stage(Arbiter(policy: parsed.world.policy))
        let outcome = parsed.run(on: &stage)
        guard outcome.passed else { throw fault(outcome.report) }
        return (text, stage)
    }

    /// A scenario lets a shell attach by itself before it first places an app. Where it did not, a line is needed.
    private static func placesBeforeAttaching(_ part: TracePart) -> Bool {
        for step in part.steps {
            switch step.event {
            case .sourceAttached(.shell, _), .sourceGone(.shell, _): return false
            case .placed(_, _, _, by: .shell): return true
            default: break
            }
        }
        return false
    }

    /// Login sessions that no event mentions before their first client. A scenario adds an event then, unless a line
    /// mentions them.
    private static func untold(_ part: TracePart) -> [LoginSessionID] {
        var (told, untold): (Set<LoginSessionID>, [LoginSessionID]) = ([], [])
        for step in part.steps {
            switch step.event {
            case .loginSession(let id, _), .loginSessionEnded(let id): told.insert(id)
            case .connected(_, _, let identity):
                if case .session(let id) = identity.login, told.insert(id).inserted { untold.append(id) }
            default: break
            }
        }
        return untold
    }

    private static func policy(_ command: String, _ policy: Policy) -> [String] {
        Scenario.policyLine(command, policy).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// A scenario's deadlines fire on time and a broker's a little later, so moments and durations may differ; notices
    /// to each session, and their order, may not.
    private static func deviation(_ part: TracePart, _ effects: [Effect]) throws(TraceError) -> String? {
        var before: [Effect] = []
        do throws(Arbiter.BrokenSnapshot) {
            _ = try Replay.run(part) { before += $0.effects }
        } catch {
            throw TraceError(file: part.file, line: part.header.line, message: error.message)
        }
        let (traced, staged) = (told(before), told(effects))
        for session in Set(traced.keys).union(staged.keys).sorted() {
            let (expected, got) = (traced[session] ?? [], staged[session] ?? [])
            guard expected != got else { continue }
            let place = zip(expected, got).prefix { $0 == $1 }.count
            let words = [expected, got].map { $0.count > place ? $0[place] : "nothing more" }
            return
                "session \(session.rawValue), notice \(place + 1): the trace has \(words[0]), the scenario \(words[1])"
        }
        return nil
    }

    private static func told(_ effects: [Effect]) -> [SessionID: [String]] {
        let writer = ScenarioWriter()
        var told: [SessionID: [String]] = [:]
        for case .notify(_, let session, _, let event) in effects {
            told[session, default: []].append(writer.notice(session, event.withoutTimes))
        }
        return told
    }
}

extension SessionEvent {
    fileprivate var withoutTimes: SessionEvent {
        switch self {
        case .willBeInterrupted(let told):
            .willBeInterrupted(InterruptionWarning(id: told.id, cause: told.cause, deadline: .zero, rule: told.rule))
        case .interruptionEnded(let told):
            .interruptionEnded(
                InterruptionEnd(
                    id: told.id, causes: told.causes, duration: .zero, willResume: told.willResume,
                    recording: told.recording))
        case .wasInterrupted, .interruptionWithdrawn, .interruptionChanged, .didStartRunning, .didStopRunning,
            .accessChanged, .sharersChanged, .sessionStopped, .recordingStarted, .recordingPaused, .recordingResumed,
            .recordingFinished, .photoCaptured, .configurationApplied, .rampFinished, .connectionsFormed,
            .cameraStateChanged, .runtimeError, .ended:
            self
        }
    }
}
