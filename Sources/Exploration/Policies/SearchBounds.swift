/// What ends a search before it is complete.
public enum SearchBound: String, Sendable, Hashable, CaseIterable {
    case states, time, memory, depth

    /// As the end of “it was cut off …”.
    public var sentence: String {
        switch self {
        case .states: "by the bound on states"
        case .time: "by the bound on time"
        case .memory: "by the bound on memory"
        case .depth: "by the bound on steps"
        }
    }
}

/// How far a search may go. It has no clock: whoever started it looks at time and memory, and says when to stop.
public struct SearchBounds: Sendable {
    /// Over all worlds together.
    public var statesMax: Int
    /// Steps from the beginning of a world.
    public var depthMax: Int

    public init(statesMax: Int = .max, depthMax: Int = .max) {
        self.statesMax = statesMax
        self.depthMax = depthMax
    }
}

/// How far a search has come.
public struct SearchProgress: Sendable {
    /// From 1.
    public var world = 0
    public var worlds = 0
    public var states = 0
    public var transitions = 0
    public var depth = 0
    /// Of several walks that are done together, which one this is about, from 0 on.
    public var walk = 0
    /// Worlds of all walks that are walked at this moment.
    public var worldsAtOnce = 1
    /// Since it began, as the clock has it that whoever began it gave.
    public var elapsed = Duration.zero
}

/// Asked every few thousand transitions: nil goes on.
public typealias SearchLimiter = (SearchProgress) -> SearchBound?
