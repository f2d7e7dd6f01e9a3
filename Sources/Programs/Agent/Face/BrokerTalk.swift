import ArbiterProtocol
import Camarb
import System

/// Calls to the broker on behalf of the user, in order, on a `BrokerLink`'s connection.
final class BrokerTalk {
    enum Order: Hashable, Sendable {
        /// The apps with cameras, and the user's own privacy switch.
        case use
        case stop(app: String)
        case setOwnPrivacy(Bool)
        case answerQuestions(Bool)
        case answer(QuestionID, AppAnswer)
        case setDenied([String])
    }

    enum Answer: Sendable {
        case use([CameraUse], isPrivate: Bool)
        case done
        case failed(BrokerError)
    }

    /// Apps that are to be stopped. Clicks come from any program on the user's bus: more than a person makes during one
    /// call are refused. Nothing else is: of each other kind the latest call is the one that waits.
    static let stopsMax = 32
    /// Questions with a waiting answer. The broker asks a user one after the other: with more, the first are over for
    /// it.
    static let answersMax = 8

    private let mailbox = LoopQueue<(connection: Int, Order, Answer)>()
    private let onAnswer: (Order, Answer) -> Void
    private var orders: AsyncStream<Order>.Continuation?
    /// Results of an earlier connection are dropped.
    private var connection = 0
    /// In the order of the requests, one call at a time.
    private var waiting: [Order] = []
    private var isAsking = false

    var isConnected: Bool { orders != nil }

    init(on loop: EventLoop, onAnswer: @escaping (Order, Answer) -> Void) throws(SystemFault) {
        self.onAnswer = onAnswer
        mailbox.setWakeup(try loop.addWakeup { [unowned self] in takeAnswers() })
    }

    func begin(_ client: CameraClient) {
        end()
        let (number, mailbox) = (connection, mailbox)
        let (stream, continuation) = AsyncStream.makeStream(of: Order.self)
        orders = continuation
        Task.detached { for await order in stream { mailbox.post((number, order, await order.perform(on: client))) } }
    }

    func end() {
        connection += 1
        waiting = []
        isAsking = false
        orders?.finish()
        orders = nil
    }

    @discardableResult
    func ask(_ order: Order) -> Bool {
        guard isConnected, wait(order) else { return false }
        askNext()
        return true
    }

    private func wait(_ order: Order) -> Bool {
        // The latest call of its kind already.
        if waiting.contains(order) { return true }
        switch order {
        case .use: break
        case .stop: guard waiting.count(where: \.isStop) < Self.stopsMax else { return false }
        case .setOwnPrivacy: waiting.removeAll { if case .setOwnPrivacy = $0 { true } else { false } }
        case .answerQuestions: waiting.removeAll { if case .answerQuestions = $0 { true } else { false } }
        case .setDenied: waiting.removeAll { if case .setDenied = $0 { true } else { false } }
        case .answer(let question, _):
            // A denial stands.
            if waiting.contains(.answer(question, .deny)) { return true }
            waiting.removeAll { $0.question == question }
            let answers = waiting.prefix { $0.question != nil }.count
            // Before all else: a question has a deadline.
            waiting.insert(order, at: answers)
            if answers == Self.answersMax { waiting.removeFirst() }
            return true
        }
        waiting.append(order)
        return true
    }

    private func askNext() {
        guard !isAsking, !waiting.isEmpty, let orders else { return }
        isAsking = true
        orders.yield(waiting.removeFirst())
    }

    private func takeAnswers() {
        for (number, order, answer) in mailbox.take() where number == connection {
            isAsking = false
            onAnswer(order, answer)
            askNext()
        }
    }
}

extension BrokerTalk.Order {
    fileprivate var isStop: Bool { if case .stop = self { true } else { false } }
    fileprivate var question: QuestionID? { if case .answer(let question, _) = self { question } else { nil } }

    fileprivate func perform(on client: CameraClient) async -> BrokerTalk.Answer {
        do throws(BrokerError) {
            switch self {
            case .use:
                // The list first: it subscribes to later changes, of the switch, too.
                let cameras = try await client.cameraUse()
                return .use(cameras, isPrivate: try await client.status().isOwnPrivate)
            case .stop(let app): try await client.stop(app: app)
            case .setOwnPrivacy(let on): try await client.setOwnPrivacy(on)
            case .answerQuestions(let on): try await client.answerQuestions(on)
            case .answer(let question, let answer): try await client.answer(question, answer)
            case .setDenied(let apps): try await client.setDenied(apps: apps)
            }
            return .done
        } catch { return .failed(error) }
    }
}
