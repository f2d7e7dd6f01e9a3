import Arbiter
import ArbiterProtocol
import Glibc
import System

/// What `Shell1` says of a user's apps: questions, answers, what is in use, and ending it. The core decides all of it;
/// this file says which client may say what and is shown a question, and what is kept.
extension MethodTables {
    static let answerMethods: [String: Handler] = [
        "WatchQuestions": { (broker, request, reader) throws(BrokerError) in
            try broker.permissions.answerQuestions(try reader.boolean("on"), request)
        },
        "AnswerQuestion": { (broker, request, reader) throws(BrokerError) in
            try broker.permissions.answerQuestion(
                try reader.uint32("question"), try reader.word("answer", as: AppAnswer.self), request)
        },
        "ListAnswers": { (broker, request, reader) throws(BrokerError) in
            try broker.permissions.whenKept([request.client.uid], request) {
                request.answer([broker.permissions.listAnswers(of: request.client.uid)])
            }
        },
        "SetAnswer": { (broker, request, reader) throws(BrokerError) in
            let app = try broker.desktops.app(try reader.string("app"), by: request.client)
            let isVouched = try reader.boolean("vouched")
            let word = try reader.string("answer")
            let answer = AppAnswer(rawValue: word)
            guard answer != nil || word.isEmpty else {
                throw BrokerError(
                    .invalidValue, "answer is \(word.quotedShort); it takes allow, deny, or \"\" to forget it.")
            }
            try broker.permissions.requireAnswerer(request.client)
            try broker.permissions.whenKept([app.user], request) { () throws(BrokerError) in
                try broker.permissions.setAnswer(app, isClaimed: !isVouched, answer, request)
            }
        },
        "SetDenied": { (broker, request, reader) throws(BrokerError) in
            try broker.permissions.setDenied(try reader.strings("apps"), request)
        },
        "StopApp": { (broker, request, reader) throws(BrokerError) in
            let app = try broker.desktops.app(try reader.string("app"), by: request.client)
            try broker.permissions.requireWord(request.client)
            broker.decide(.stoppedByUser(app), request)
        },
        "SetOwnPrivacy": { (broker, request, reader) throws(BrokerError) in
            let on = try reader.boolean("on")
            try broker.permissions.requireWord(request.client)
            try broker.permissions.whenKept([request.client.uid], request) { () throws(BrokerError) in
                try broker.permissions.setOwnPrivacy(on, request)
            }
        },
        "ListUse": { (broker, request, reader) throws(BrokerError) in
            try broker.desktops.requireDesktop(request.client)
            request.answer([broker.desktops.listUse(for: request.client)])
        },
    ]
}

final class Permissions: BrokerPart {
    let answers: AnswerStore
    var told: [UInt32: Told] = [:]
    enum Told {
        case part(KeptLines)
        case all
        /// Their file cannot be read, and is tried again for the next client that comes when none is there.
        case unreadable
    }

    init(_ broker: Broker, keeps: Bool) throws(SystemFault) {
        let side = try SideWork(on: broker.loop)
        answers = AnswerStore(
            folder: keeps ? AnswerStore.usualFolder : nil, aside: { side.begin($0, done: $1) },
            warn: { [unowned broker] in broker.clients.lines.send(.warning, about: $0, $1) })
        super.init(of: broker)
        answers.onGone = { [unowned self] in settle($0) }
    }

    fileprivate func answerQuestions(_ on: Bool, _ request: Request) throws(BrokerError) {
        if on { try requireAnswerer(request.client) }
        try desktops.answerQuestions(on, request.client)
        request.answer()
        guard on, let question = broker.arbiter.questions.first(where: { $0.app.user == request.client.uid }) else {
            return
        }
        tell(question)
    }

    func tell(_ question: Question) {
        let left = (question.until - Broker.now()).wholeNanoseconds
        let asked = AppQuestion {
            ($0.number, $0.app, $0.isVouched) = (question.id, question.app.name, !question.isClaimed)
            $0.program = program(of: clients.owner(of: question.session))
            $0.camera = broker.cameras[question.camera]?.capabilities?.name ?? question.camera.name
            // An answer that is shown to count for a second does.
            $0.time = .seconds(max(0, left) / 1_000_000_000)
        }
        tellAsked(question.app.user, "Question", asked.wireArguments)
    }

    func tellQuestionEnded(_ question: QuestionID, of user: UInt32, _ end: QuestionEnd) {
        tellAsked(user, "QuestionEnded", [.uint32(question), .string(end.rawValue)])
    }

    private func tellAsked(_ user: UInt32, _ member: String, _ arguments: [WireValue]) {
        guard let speaker = desktops.speakers.speaker(in: .init(.ask, user: user)),
            let client = clients[speaker.client.rawValue]
        else { return }
        desktops.tellShell(client, member, arguments)
    }

    /// Whoever speaks for the app's user hears who answered for it: a program of that user's may do so, and no question was
    /// shown. Whoever said it knows.
    func tellAnswered(_ app: AppID, isClaimed: Bool, _ answer: AppAnswer?, by author: BrokerClient) {
        let hearing = desktops.speaking(for: app.user).filter { $0 !== author }
        if hearing.isEmpty { return }
        let name = author.app?.name ?? AppIdentity.of(author.pid, user: author.uid, author.process)?.name
        let program = program(of: author)
        for client in hearing {
            let isKnown = trust.mayKnow(AppID(name ?? "", user: author.uid), client)
            let change = AnswerChange {
                ($0.app, $0.isVouched, $0.answer) = (app.name, !isClaimed, answer)
                $0.author = isKnown ? name.map { .app($0) } : .anotherUsersApp
                if isKnown { ($0.process, $0.program) = (UInt32(clamping: author.pid), program) }
            }
            desktops.tellShell(client, "AnswerChanged", change.wireArguments)
        }
    }

    /// The path of a client's executable, as far as the kernel shows it to this process; else "".
    private func program(of client: BrokerClient?) -> String {
        guard let client, client.process.isAlive else { return "" }
        var buffer = [CChar](repeating: 0, count: 256)
        let count = readlink("/proc/\(client.pid)/exe", &buffer, buffer.count - 1)
        guard count > 0 else { return "" }
        let path = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return Journal.printable(path, keepLines: false)
    }

    fileprivate func answerQuestion(_ id: QuestionID, _ answer: AppAnswer, _ request: Request) throws(BrokerError) {
        let client = request.client
        try requireAnswerer(client)
        // No client learns here whether another user has a question.
        let user = broker.arbiter.questions.first { $0.id == id }?.app.user ?? client.uid
        guard trust.isTrusted(client) || desktops.speakers.speaker(in: .init(.ask, user: user))?.client == client.id
        else {
            throw BrokerError(
                .notTrusted,
                client.more?.displaced ?? "Only a client that shows questions answers them; call WatchQuestions first.")
        }
        try decide(.questionAnswered(id, answer), of: user, adding: 1, request)
    }

    /// What a user says to all of its apps: whoever speaks for it in a role, be that a service, and whatever may answer.
    fileprivate func requireWord(_ client: BrokerClient) throws(BrokerError) {
        if trust.isTrusted(client) || desktops.speakers.speaks(client.id, for: client.uid) { return }
        try requireAnswerer(client)
    }

    /// An app must not answer for itself: nothing in a sandbox does, and no service, root's excepted.
    func requireAnswerer(_ client: BrokerClient) throws(BrokerError) {
        if client.uid == 0 { return }
        let group = try clients.livingGroup(of: client)
        guard !group.isSandbox, !group.isService else {
            throw BrokerError(
                .notTrusted,
                "Answers come from a user's own session; a sandbox or a service does not answer for apps, which it may be."
            )
        }
    }
}
