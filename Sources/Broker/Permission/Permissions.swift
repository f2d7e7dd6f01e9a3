import Arbiter
import ArbiterProtocol
import Glibc
import Identity
import Loop
import Machine

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
            request.answer([broker.permissions.listAnswers(of: request.client.uid)])
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
            broker.permissions.load(of: app.user)
            broker.decide(.answered(app, isClaimed: !isVouched, answer, by: .user), request)
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
            broker.permissions.load(of: request.client.uid)
            broker.decide(.ownPrivacy(user: request.client.uid, on: on), request)
            broker.permissions.answers.keep(privacy: on, of: request.client.uid)
        },
        "ListUse": { (broker, request, reader) throws(BrokerError) in
            try broker.desktops.requireDesktop(request.client)
            request.answer([broker.desktops.listUse(for: request.client)])
        },
    ]
}

final class Permissions {
    private unowned let broker: Broker
    /// What users said of their apps.
    let answers: AnswerStore

    private var clients: Clients { broker.clients }
    private var desktops: Desktops { broker.desktops }
    private var trust: Trust { broker.trust }

    init(_ broker: Broker, keeps: Bool) throws(SystemFault) {
        self.broker = broker
        answers = try AnswerStore(journal: broker.journal, isKept: keeps, on: broker.loop)
    }

    // MARK: Questions

    /// The one that stands is told behind the answer.
    fileprivate func answerQuestions(_ on: Bool, _ request: Request) throws(BrokerError) {
        if on { try requireAnswerer(request.client) }
        try desktops.answerQuestions(on, request.client)
        request.answer()
        guard on, let question = broker.arbiter.questions.first(where: { $0.app.user == request.client.uid }) else {
            return
        }
        tell(question)
    }

    /// To the client that asks its user, if there is one.
    func tell(_ question: Question) {
        let left = (question.until - Broker.now()).wholeNanoseconds
        tellAsked(
            question.app.user, "Question",
            [
                .uint32(question.id), .string(question.app.name), .boolean(!question.isClaimed),
                .string(program(of: question.session)),
                .string(broker.cameras[question.camera]?.capabilities?.name ?? question.camera.name),
                // An answer that is shown to count for a second does.
                .uint32(UInt32(clamping: max(0, left) / 1_000_000_000)),
            ])
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

    /// The path of a client's executable, as far as the kernel shows it to this process; else "".
    private func program(of session: SessionID) -> String {
        guard let client = clients.owner(of: session), client.process.isAlive else { return "" }
        var buffer = [CChar](repeating: 0, count: 256)
        let count = readlink("/proc/\(client.pid)/exe", &buffer, buffer.count - 1)
        guard count > 0 else { return "" }
        let path = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return Journal.printable(path, keepLines: false)
    }

    fileprivate func answerQuestion(
        _ id: QuestionID, _ answer: AppAnswer, _ request: Request
    ) throws(BrokerError) {
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
        broker.decide(.questionAnswered(id, answer), request)
    }

    // MARK: Answers

    /// Before anything is decided about a user's apps.
    func load(of user: UInt32) {
        guard user != 0, let kept = answers.load(user) else { return }
        if kept.isPrivate { broker.step(.ownPrivacy(user: user, on: true)) }
        for answer in kept.answers {
            broker.step(
                .answered(
                    AppID(answer.app, user: user), isClaimed: answer.isClaimed, answer.answer, by: answer.origin))
        }
    }

    fileprivate func listAnswers(of user: UInt32) -> WireValue {
        load(of: user)
        var list: [WireDictionary] = []
        for word in broker.arbiter.words(of: user) {
            func add(_ answer: AppAnswer, _ since: String, _ origin: AnswerOrigin) {
                list.append([
                    "app": .string(word.app.name), "vouched": .boolean(!word.isClaimed),
                    "answer": .string(answer.rawValue), "since": .string(since), "from": .string(origin.rawValue),
                ])
            }
            if let answer = word.answer {
                add(answer, answers.since(word.app.name, isClaimed: word.isClaimed, of: user), word.origin)
            }
            if word.isDenied { add(.deny, "", .permissionStore) }
        }
        return .dictionaries(list)
    }

    /// What a user says to all of its apps: whoever speaks for it in a role, be that a service, and whatever may answer.
    fileprivate func requireWord(_ client: BrokerClient) throws(BrokerError) {
        if trust.isTrusted(client) || desktops.speakers.speaks(client.id, for: client.uid) { return }
        try requireAnswerer(client)
    }

    /// An app must not answer for itself: nothing in a sandbox does, and no service, root's excepted.
    fileprivate func requireAnswerer(_ client: BrokerClient) throws(BrokerError) {
        if client.uid == 0 { return }
        let group = try clients.livingGroup(of: client)
        guard !group.isSandbox, !group.isService else {
            throw BrokerError(
                .notTrusted,
                "Answers come from a user's own session; a sandbox or a service does not answer for apps, which it may be."
            )
        }
    }

    /// The list as a whole: what it does not name any more is not denied any more.
    fileprivate func setDenied(_ names: [String], _ request: Request) throws(BrokerError) {
        let client = request.client
        // Where a shell says where apps are, the agent sees no windows, and is known by the microphones alone.
        let agent =
            desktops.speakers.speaker(in: .init(.agent, user: client.uid))
            ?? desktops.speakers.speaker(in: .init(.microphones, user: client.uid))
        guard trust.isTrusted(client) || agent?.client == client.id else {
            throw BrokerError(
                .notTrusted,
                client.more?.displaced ?? "Only the agent of a user reads its permission store; Attach first.")
        }
        try requireAnswerer(client)
        guard names.count <= Bound.answersMax else {
            throw BrokerError(
                .limitExceeded, "apps has \(names.count) entries; a permission store may deny \(Bound.answersMax) apps."
            )
        }
        var wanted: Set<AppID> = []
        // Keys of the store are whatever somebody once wrote there: one that no app can be called denies nobody, and the others count.
        for name in names {
            do throws(BrokerError) { wanted.insert(try desktops.app(name, by: client)) } catch { continue }
        }
        let users = Set(wanted.map(\.user)).union([client.uid])
        for user in users { load(of: user) }
        let denied = users.sorted().flatMap { broker.arbiter.words(of: $0) }.filter(\.isDenied).map(\.app)
        let events: [Event] =
            denied.filter { !wanted.contains($0) }.map { .answered($0, isClaimed: false, nil, by: .permissionStore) }
            + wanted.subtracting(denied).filter { $0.user != 0 }.sorted()
            .map { .answered($0, isClaimed: false, .deny, by: .permissionStore) }
        request.answerLater()
        desktops.say(events[...], request)
    }
}
