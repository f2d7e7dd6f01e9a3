/// Whether a source says where a user's apps are, or what counts instead.
public enum PresenceStanding: String, Hashable, Sendable, CaseIterable {
    /// A shell, an agent or the apps themselves say it.
    case told
    /// Its source has left, and what it said holds for `Bound.sourceFreeze` longer.
    case kept
    /// Its source has left: every app counts as in the background until a source says it again.
    case lost
    /// No source tells windows apart; apps of an active login session count as in front, those of another one as in the
    /// background.
    case login = "login-session"
    /// No source ever said it: every app counts as in front.
    case nobody
}
