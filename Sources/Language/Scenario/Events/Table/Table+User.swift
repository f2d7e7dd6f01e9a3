import Arbiter
import ArbiterProtocol

extension EventDescription.Table {
    mutating func addUsersWorld() {
        (origin, concern) = (.user, .users)
        add(
            .sourceAttached, .value(["shell", "agent"], verb: "attach"), concerning: .usersOrEverybody,
            Event.sourceAttached, .source, .userOrAll
        ) { if case .sourceAttached(let source, let user) = $0 { (source, user) } else { nil } }
        add(
            .sourceGone, .value(["shell", "agent"], verb: "gone"), concerning: .usersOrEverybody, Event.sourceGone,
            .source, .userOrAll
        ) { if case .sourceGone(let source, let user) = $0 { (source, user) } else { nil } }
        add(
            .placed, .own("presence"), marked: [.noted], Event.placed, .app, .presence, .mark("focused"),
            .by("source", usual: .shell, "a presence source")
        ) {
            guard case .placed(let app, let presence, let focused, let source) = $0 else { return nil }
            return (app, presence, focused, source)
        }
        add(
            .unplaced, .own("presence", verb: "gone"), marked: [.noted], Event.unplaced, .app,
            .by("source", usual: .shell, "a presence source")
        ) { if case .unplaced(let app, let source) = $0 { (app, source) } else { nil } }
        add(
            .microphone, .line("microphone"), marked: [.noted], Event.microphone, .app,
            .either("taken", "taken", "released")
        ) { if case .microphone(let app, let taken) = $0 { (app, taken) } else { nil } }
        add(.sensitiveContent, .line("sensitive"), marked: [.noted], Event.sensitiveContent, .app) {
            if case .sensitiveContent(let app) = $0 { app } else { nil }
        }
        add(.operatorChose, .line("operator"), marked: [.noted], Event.operatorChose, .appOrNone) {
            if case .operatorChose(let app) = $0 { app } else { nil }
        }
        add(
            .attribute, .line("attribute"), Event.attribute, .app, .word("attribute", "an attribute"),
            .optionalWord("value")
        ) { if case .attribute(let app, let name, let value) = $0 { (app, name, value) } else { nil } }
        add(.loginSession, .own("login-session"), marked: [.noted], Event.loginSession, .login, .loginFacts) {
            if case .loginSession(let login, let facts) = $0 { (login, facts) } else { nil }
        }
        add(.loginSessionEnded, .own("login-session", verb: "ended"), marked: [.noted], Event.loginSessionEnded, .login)
        {
            if case .loginSessionEnded(let login) = $0 { login } else { nil }
        }
    }

    /// What users say of their apps, and of the whole machine.
    mutating func addUsersWords() {
        (origin, concern) = (.user, .users)
        add(
            .modeSet, .line("mode"), concerning: .everybody, marked: [.noted], Event.modeSet, .modeOrNone,
            .by("from", usual: .root, "who sets a mode")
        ) { if case .modeSet(let mode, let setter) = $0 { (mode, setter) } else { nil } }
        add(
            .answered, .line("answer", order: [0, 2, 1, 3]), Event.answered, .app, .mark("claimed"), .answerOrNone,
            .by("from", usual: .user, "who says so")
        ) {
            guard case .answered(let app, let isClaimed, let answer, let origin) = $0 else { return nil }
            return (app, isClaimed, answer, origin)
        }
        add(
            .questionAnswered, .line("answer-question"), Event.questionAnswered, .question,
            .oneOf("answer", "an answer")
        ) { if case .questionAnswered(let question, let answer) = $0 { (question, answer) } else { nil } }
        add(
            .questionsWatched, .line("questions", order: [1, 0]), Event.questionsWatched, .user,
            .either("on", "watched", "unwatched")
        ) { if case .questionsWatched(let user, let on) = $0 { (user, on) } else { nil } }
        add(.stoppedByUser, .line("stop-app"), Event.stoppedByUser, .app) {
            if case .stoppedByUser(let app) = $0 { app } else { nil }
        }
        add(.ownPrivacy, .line("own-privacy", order: [1, 0]), Event.ownPrivacy, .user, .either("on", "on", "off")) {
            if case .ownPrivacy(let user, let on) = $0 { (user, on) } else { nil }
        }
        add(.answersForgotten, .line("forget-answers"), Event.answersForgotten, .user) {
            if case .answersForgotten(let user) = $0 { user } else { nil }
        }
    }
}
