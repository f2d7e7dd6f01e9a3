/// One part of a policy, by the words its file has for it: what a place, or a comment, is about.
public enum PolicyPart: Hashable, Sendable {
    /// A key at the top of the file, such as `ranks`.
    case top(String)
    /// An `[[attribute]]`, by its name.
    case attribute(String)
    /// A key of `[contention]`.
    case contention(String)
    /// A rule of either kind. No two rules share a name.
    case rule(String)
    /// A `[[camera]]`, by its id.
    case camera(String)
}
