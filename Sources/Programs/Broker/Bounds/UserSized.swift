import Arbiter
import ArbiterProtocol
import Bus
import Explain
import System

/// One thing in camarbd whose size users decide, with its bounds. None can be said without saying both, and who loses what when they
/// are used up.
///
/// A test holds the table of `docs/reliability.md` to `all`, and each collection that camarbd keeps beyond a call to the names in
/// `kept` here and in `MachineSized`: a new one needs its line, and so its bound.
package struct UserSized: Sendable {
    package let what: String
    /// Of one client or user.
    package let ofOne: String
    package let inAll: String
    package let whenUsedUp: String
    /// The collections that hold it, each as `Type.property`.
    package let kept: String

    private init(_ what: String, ofOne: String, inAll: String, whenUsedUp: String, kept: String) {
        (self.what, self.ofOne, self.inAll, self.whenUsedUp, self.kept) = (what, ofOne, inAll, whenUsedUp, kept)
    }

    /// What `Budgets` counts.
    private init(_ what: String, _ bound: Budgets.Bound, ofClient: Int? = nil, kept: String) {
        self.init(
            what, ofOne: (ofClient.map { "\($0) of a client, " } ?? "") + "\(bound.ofUser) of a user, and its share",
            inAll: "\(bound.inAll)", whenUsedUp: "who asks for more is refused", kept: kept)
    }

    package static let all: [UserSized] = [connections, calls, sayings, sessions, files, news].flatMap { $0 }

    private static let connections: [UserSized] = [
        UserSized(
            "connections, and what is one for each", .connections(ofUser: 64, inAll: 512),
            kept: """
                Clients.all NamePool.taken Audience.listeners BusTraffic.written BusTraffic.due Turns.waiting TurnOrder.lines \
                TurnOrder.usedInWindow BusDeadlines.entries Budgets.uses Speakers.seated Permissions.told State.clients \
                State.clientSlots State.clientTexts State.users State.sources State.questionWatchers
                """),
        UserSized(
            "groups and login sessions of a client",
            ofOne: "\(ClientIdentity.groupsMax) groups, 2 sessions of a connection",
            inAll: "so many for each connection", whenUsedUp: "only its primary group counts",
            kept: """
                BrokerClient.groups BrokerClient.loginSessions ClientTexts.groups LoginSessionObserver.members \
                LoginSessionObserver.seen LoginSessionObserver.told State.logins State.loginNames FactBoard.logins
                """),
        UserSized(
            "connections that have not authenticated", ofOne: "\(HalfOpenConnections.ofUserMax) of a user",
            inAll: "\(HalfOpenConnections.countMax)", whenUsedUp: "the oldest of the user with the most goes",
            kept: "HalfOpenConnections.entries AuthenticationGate.line"),
        UserSized(
            "bytes of messages that are not whole",
            ofOne: "\(BusConnection.messageBytesMax >> 10) KiB of a connection; of a user half of what others leave",
            inAll: "\(Feed.halvesMax >> 20) MiB", whenUsedUp: "the connection ends",
            kept: "Feed.halves MessageFramer.header"),
        UserSized(
            "what a client has not read",
            ofOne: """
                \(BusConnection.queuedBytesMax >> 10) KiB or \(BusConnection.queuedMessagesMax) messages of a connection
                """,
            inAll: "\(BusConnection.queuedInAllMax >> 20) MiB", whenUsedUp: "the connection ends that has left most",
            kept: "BusConnection.stuck BusConnection.held BusConnection.queued MessageWriter.bytes UnreadBytes.behind"),
        UserSized(
            "rules of signals that are wanted",
            ofOne: "\(SignalRules.rulesMax) rules, \(SignalRules.bytesMax >> 10) KiB of a connection",
            inAll: "so many for each connection", whenUsedUp: "the connection hears every signal",
            kept: "SignalRules.rules"),
    ]

    private static let calls: [UserSized] = [
        UserSized(
            "calls that wait, until the cameras are known or an answer is written", .questions,
            kept: "Cameras.untilKnown"),
        UserSized(
            "plans and explanations that wait", ofOne: "\(SlowQuestions.ofUserMax) of a user",
            inAll: "\(SlowQuestions.countMax), \(SlowQuestions.keptForTrusted) of them root's",
            whenUsedUp: "the newcomer is refused", kept: "SlowQuestions.waiting"),
        UserSized(
            "calls that are done in further turns", ofOne: "2 of a connection", inAll: "so many for each connection",
            whenUsedUp: "nothing more of the connection is read meanwhile", kept: "BusConnection.rest"),
        UserSized(
            "pages of sessions for whoever asks next", ofOne: "none: all clients share them",
            inAll: "\(SessionPages.pagesMax) pages of \(SessionPages.sessionsMax) sessions, until the next step",
            whenUsedUp: "the oldest goes", kept: "SessionPages.pages"),
    ]

    private static let sayings: [UserSized] = [
        UserSized(
            "apps that shells and agents place, and what is known of apps by name", .placedApps,
            ofClient: ClientBound.placedAppsMax, kept: "FactBoard.places State.apps State.appNames State.attributes"),
        UserSized(
            "microphones taken", .microphones, ofClient: ClientBound.microphonesMax,
            kept: "FactBoard.microphones State.microphones"),
        UserSized(
            "answers about apps in memory, while their user has a client or they are to be written", .answers,
            kept: "AnswerStore.users AnswerStore.unwritten State.words State.privateUsers"),
        UserSized(
            "answers on the disk", ofOne: "\(Bound.answersMax) of a user, who has a right to some camera",
            inAll: "files of \(AnswerStore.filesMax) users",
            whenUsedUp: "the newcomer is refused; who has a file keeps it", kept: ""),
        UserSized(
            "questions that users are asked", ofOne: "1 of a user, about a session of its own",
            inAll: "one for each user",
            whenUsedUp: "the next is asked when that one is over", kept: "Ledger.questions"),
    ]

    private static let sessions: [UserSized] = [
        UserSized(
            "sessions, and what is one for each", .sessions, ofClient: ClientBound.sessionsMax,
            kept: """
                BrokerClient.sessions Clients.owners PropertyNews.sessions PropertyNews.running PropertyNews.due \
                State.sessions State.sessionSlots State.sessionSettings SessionSettings.others BrokerMetrics.waitingSince CameraOutputs.underWay
                """),
        UserSized(
            "times that run in the core",
            ofOne: """
                1 of each kind for a session, an app and a camera; cool-downs and leases of apps that have left end with \
                their time
                """,
            inAll: "as many as sessions and cameras, and the apps that lost a camera within a cool-down",
            whenUsedUp: "a camera is lost no faster than it is cut and opened", kept: "State.timers"),
        UserSized(
            "calls, photos and settings that a recorder core has not answered",
            ofOne:
                "\(CameraOutputs.underWayMax) calls, \(CameraOutputs.photosMax) photos of a session",
            inAll: "those of the sessions that have a camera; \(CameraLink.batchesMax) settings of a camera",
            whenUsedUp: "the call is refused", kept: "CameraOutputs.photos Ledger.photos CameraSettings.asked"),
    ]

    private static let files: [UserSized] = [
        UserSized(
            "descriptors on their way, and keepers at work or that hang",
            ofOne: """
                \(DescriptorKeepers.ofUserMax) of a user, one message at a time; of a user whose file hangs no other is \
                taken
                """,
            inAll: """
                \(DescriptorKeepers.inAllMax), by \(DescriptorKeepers.workingMax) keepers; \
                \(DescriptorKeepers.stuckMax) may hang
                """,
            whenUsedUp: "a message waits; what nobody can take ends its connection",
            kept: """
                DescriptorKeepers.keepers DescriptorKeepers.stuck DescriptorKeepers.ending DescriptorKeepers.wishes \
                DescriptorKeepers.atWork DescriptorKeepers.onTheirWay DescriptorKeepers.unclosed DescriptorKeeper.owed \
                Intake.passed BusMessage.passed Reader.descriptors Request.files
                """),
        UserSized(
            "recordings that run, are being finished or completed, and microphones that are let go",
            ofOne: "1 recording of a session runs; \(CameraOutputs.underWayMax) calls of a session begin others",
            inAll: """
                those of the holders; \(Completions.atOnceMax) completions, \(LeftMicrophones.atOnceMax) microphones of a \
                camera
                """,
            whenUsedUp:
                "the call is refused; a further completion is told at once, a further microphone let go at once",
            kept: "CameraOutputs.recordings Ledger.recordings Completions.underWay LeftMicrophones.left"),
    ]

    private static let news: [UserSized] = [
        UserSized(
            "users whose lines in the journal are counted apart", ofOne: "1",
            inAll: "\(LineLimiter.usersMax), the others share one count",
            whenUsedUp: "lines are counted and not written", kept: "LineLimiter.accounts"),
        UserSized(
            "users and names that metrics count apart", ofOne: "1; \(Tally.namesMax) names",
            inAll: "\(BrokerMetrics.usersMax) users", whenUsedUp: "all others are one",
            kept: "BrokerMetrics.ofUser Tally.counts"),
        UserSized(
            "steps that `Explain` lives again", ofOne: "none: all clients share them",
            inAll: "\(History.stepsMax) steps, a copy of the tables for each \(History.eventsBetweenCopies)",
            whenUsedUp: "the oldest are forgotten", kept: "History.stretches"),
    ]
}

/// Collections of camarbd whose size is the machine's, its operator's or a constant: no user's word makes them grow.
package enum MachineSized {
    package static let kept = """
        Broker.listeners BrokerOptions.cameras Budgets.holders Budgets.used Budgets.usersCount Cameras.links Cameras.order \
        CamerasFollowed.present PropertyNews.cameras FactBoard.privacy FactBoard.pressure FactBoard.sleep GrantStore.entries GrantStore.holdersLeft GrantStore.keptLeft \
        GrantStore.unreclaimed RecorderLife.goneHandlers RecorderLife.afterwards PolicySources.files PolicySources.origins \
        LoginSessionObserver.sessions TraceFile.buffer BusTraffic.writers BusConnection.calls BusConnection.untilReady \
        Logind.sessions Logind.ids Logind.waiting VirtualTime.armed EventLoop.deferred EventLoop.signalSources EventLoop.parts \
        Table.rows Table.free Directory.ids Directory.places NameTable.places NameTable.names State.carriedTexts State.cameras State.cameraNames State.cameraOrder State.seats \
        State.cameraSettings BrokerMetrics.cutSince OpenMetrics.lines Gauges.budgets Histogram.counts
        """
}
