import Arbiter
import ArbiterProtocol
import Glibc
import System

/// Questions about a user's apps, their answers, and the user's other orders of `Shell1`. The core decides all of it; this type
/// decides which client may give them and is shown a question, and keeps the answers.
final class Permissions: BrokerPart {
    let answers: AnswerStore
    /// How much of the users' files the core has.
    var loaded: [UInt32: Loaded] = [:]
    enum Loaded {
        case part(KeptLines)
        case all
        /// The file cannot be read, and is tried again for the next client that comes when none is there.
        case unreadable
    }

    init(_ broker: Broker) throws(SystemFault) {
        let side = try SideWork(on: broker.loop)
        answers = AnswerStore(
            folder: broker.options.answers, aside: { side.begin($0, done: $1) },
            warn: { [unowned broker] in broker.clients.lines.send(.warning, about: $0, $1) })
        super.init(of: broker)
        answers.onGone = { [unowned self] in settle($0) }
    }

    func watchQuestions(_ on: Bool, _ request: Request) throws(BrokerError) {
        if on { try requireAnswerer(request.client) }
        try desktops.watchQuestions(on, request.client)
        request.answer()
        if on, let question = broker.arbiter.questions.first(where: { $0.app.user == request.client.uid }) {
            send(question)
        }
    }

    func send(_ question: Question) {
        let left = (question.until - Broker.now()).wholeNanoseconds
        let asked = AppQuestion {
            ($0.number, $0.app, $0.isVouched) = (question.id, question.app.name, !question.isClaimed)
            $0.program = program(of: clients.owner(of: question.session))
            $0.camera = broker.cameras[question.camera]?.capabilities?.name ?? question.camera.name
            // Rounded down: an answer counts for as long as is shown.
            $0.time = .seconds(max(0, left) / 1_000_000_000)
        }
        sendAsking(question.app.user, "Question", asked.wireArguments)
    }

    /// Sends a signal to the client that asks the user.
    func sendAsking(_ user: UInt32, _ member: String, _ arguments: [WireValue]) {
        guard let speaker = desktops.speakers.speaker(in: .init(.ask, user: user)),
            let client = clients[speaker.client.rawValue]
        else { return }
        desktops.send(client, member, arguments)
    }

    /// The speakers of the app's user receive the author of an answer, except the author: a program of that user's may answer
    /// without a question.
    func sendAnswered(_ app: AppID, isClaimed: Bool, _ answer: AppAnswer?, by author: BrokerClient) {
        let speaking = desktops.speaking(for: app.user).filter { $0 !== author }
        if speaking.isEmpty { return }
        let name = author.app?.name ?? AppIdentity.of(author.pid, user: author.uid, author.process)?.name
        let program = program(of: author)
        for client in speaking {
            let isKnown = trust.mayKnow(AppID(name ?? "", user: author.uid), client)
            let change = AnswerChange {
                ($0.app, $0.isVouched, $0.answer) = (app.name, !isClaimed, answer)
                $0.author = isKnown ? name.map { .app($0) } : .anotherUsersApp
                if isKnown { ($0.process, $0.program) = (UInt32(clamping: author.pid), program) }
            }
            desktops.send(client, "AnswerChanged", change.wireArguments)
        }
    }

    /// The path of a client's executable; "" where the kernel does not show it to this process.
    private func program(of client: BrokerClient?) -> String {
        guard let client, client.process.isAlive else { return "" }
        var buffer = [CChar](repeating: 0, count: 256)
        let count = readlink("/proc/\(client.pid)/exe", &buffer, buffer.count - 1)
        guard count > 0 else { return "" }
        let path = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return Journal.printable(path, keepLines: false)
    }

    func answerQuestion(_ id: QuestionID, _ answer: AppAnswer, _ request: Request) throws(BrokerError) {
        let client = request.client
        try requireAnswerer(client)
        // No client learns here whether another user has a question.
        let user = broker.arbiter.questions.first { $0.id == id }?.app.user ?? client.uid
        guard trust.isTrusted(client) || desktops.isAsking(client, for: user) else {
            throw client.notTrusted("Only a client that shows questions answers them; call WatchQuestions first.")
        }
        try decide(.questionAnswered(id, answer), of: user, adding: 1, request)
    }

    /// Orders to all of a user's apps come from its speakers, services among them, and from clients that may answer.
    func requireSpeaker(_ client: BrokerClient) throws(BrokerError) {
        if trust.isTrusted(client) || desktops.speakers.speaks(client.id, for: client.uid) { return }
        try requireAnswerer(client)
    }

    /// An app must not answer for itself: no sandbox and no service answers, root's excepted.
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
