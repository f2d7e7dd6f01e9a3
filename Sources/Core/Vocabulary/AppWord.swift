/// The answer about one app of a user.
public struct AppWord: Hashable, Sendable, Codable {
    public let app: AppID
    /// True for clients that claim the name. The app that the kernel vouches for is another app.
    public let isClaimed: Bool
    /// `nil`: no answer by its user.
    public package(set) var answer: AppAnswer?
    public package(set) var origin: AnswerOrigin
    /// The permission store denies the app.
    public package(set) var isDenied: Bool

    package init(
        app: AppID, isClaimed: Bool, answer: AppAnswer? = nil, origin: AnswerOrigin = .user, isDenied: Bool = false
    ) {
        (self.app, self.isClaimed, self.answer) = (app, isClaimed, answer)
        (self.origin, self.isDenied) = (origin, isDenied)
    }

    /// By user, then by name, the vouched app first.
    package func isBefore(_ app: AppID, _ isClaimed: Bool) -> Bool {
        if self.app.user != app.user { return self.app.user < app.user }
        return self.app.name != app.name ? self.app.name < app.name : !self.isClaimed && isClaimed
    }
}

/// A question to a user whether an app may have cameras.
public struct Question: Hashable, Sendable {
    public var id: QuestionID
    public var app: AppID
    /// The kernel does not vouch for the name.
    public var isClaimed: Bool
    /// The session whose start asks, and its camera.
    public var session: SessionID
    public var camera: CameraID
    /// The end of the time for a reply.
    public var until: Moment

    package init(id: QuestionID, app: AppID, isClaimed: Bool, session: SessionID, camera: CameraID, until: Moment) {
        (self.id, self.app, self.isClaimed) = (id, app, isClaimed)
        (self.session, self.camera, self.until) = (session, camera, until)
    }
}
