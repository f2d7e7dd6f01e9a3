/// What is said of one app of a user's.
public struct AppWord: Hashable, Sendable, Codable {
    public let app: AppID
    /// It is said of whoever claims the name. What the kernel vouches for is another app.
    public let isClaimed: Bool
    /// Nil: its user said nothing.
    public package(set) var answer: AppAnswer?
    /// Where that comes from.
    public package(set) var origin: AnswerOrigin
    /// The permission store says no.
    public package(set) var isDenied: Bool

    package init(
        app: AppID, isClaimed: Bool, answer: AppAnswer? = nil, origin: AnswerOrigin = .user, isDenied: Bool = false
    ) {
        (self.app, self.isClaimed, self.answer) = (app, isClaimed, answer)
        (self.origin, self.isDenied) = (origin, isDenied)
    }

    /// By user, then by name, the vouched-for app first.
    package func isBefore(_ app: AppID, _ isClaimed: Bool) -> Bool {
        if self.app.user != app.user { return self.app.user < app.user }
        return self.app.name != app.name ? self.app.name < app.name : !self.isClaimed && isClaimed
    }
}

/// A user is asked whether an app may have cameras.
public struct Question: Hashable, Sendable {
    public var id: QuestionID
    public var app: AppID
    /// The kernel does not vouch for the name.
    public var isClaimed: Bool
    /// Whose start asked, and for which camera.
    public var session: SessionID
    public var camera: CameraID
    /// Then it is late.
    public var until: Moment

    package init(id: QuestionID, app: AppID, isClaimed: Bool, session: SessionID, camera: CameraID, until: Moment) {
        (self.id, self.app, self.isClaimed) = (id, app, isClaimed)
        (self.session, self.camera, self.until) = (session, camera, until)
    }
}
