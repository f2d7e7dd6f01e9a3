public import Arbiter
public import Scenario

/// A second check of a story, besides the stage's own: an arbiter written in another way, say.
public protocol FuzzJudge: Sendable {
    /// A story begins, under this policy.
    mutating func begin(_ policy: Policy)
    /// What is wrong with a step, as a sentence; nil: nothing. Steps come in their order; those that plug in the
    /// cameras of the world are the first.
    mutating func judge(_ step: Stage.Step) -> String?
    /// A line was performed, or time has passed up to the next one, and every step of it was judged.
    mutating func rest(_ stage: Stage) -> String?
    /// How often it compared all that is to be seen with what it expects, in this story.
    var comparisons: Int { get }
    /// It judged up to the end of the story, faults under way excepted.
    var judgedAll: Bool { get }
}

extension FuzzJudge {
    public mutating func begin(_ policy: Policy) {}
    public mutating func rest(_ stage: Stage) -> String? { nil }
    public var comparisons: Int { 0 }
    public var judgedAll: Bool { false }
}
