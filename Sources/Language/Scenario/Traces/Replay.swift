public import Arbiter
public import ArbiterProtocol
public import Explain

/// The same events through the same core: the same decisions, byte for byte (semantics.md §8, 9).
public struct Replay {
    /// The first step whose result is not the line.
    public struct Difference: Sendable {
        public var file: String
        public var line: Int
        /// The line, and the core's result now.
        public var expected: String
        public var got: String
    }

    public struct Step: Sendable {
        public var step: TraceStep
        public var effects: [Effect]
    }

    /// Steps a fresh core through a part.
    /// - Parameter each: receives every step whose result is the line.
    /// - Returns: the first difference.
    /// - Throws: the contradiction in the snapshot.
    public static func run(
        _ part: TracePart, each: (Step) -> Void = { _ in }
    ) throws(Arbiter.BrokenSnapshot) -> (difference: Difference?, end: Arbiter) {
        var arbiter = try part.header.arbiter()
        for step in part.steps {
            let effects = arbiter.step(step.event, at: step.moment)
            let body = TraceWriter.step(
                step.number, step.event, at: step.moment, name: step.name, decision: arbiter.lastDecision, effects)
            guard step.body.elementsEqual(body.bytes) else {
                return (
                    Difference(
                        file: part.file, line: step.line, expected: String(decoding: step.body, as: UTF8.self) + "}",
                        got: String(decoding: body.bytes, as: UTF8.self) + "}"), arbiter
                )
            }
            each(Step(step: step, effects: effects))
        }
        return (nil, arbiter)
    }
}
