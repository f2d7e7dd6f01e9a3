import ArbiterProtocol
import Synchronization
import SystemdBus

/// What is asked of the broker for what the user sees and says: one thing after the other, on the connection that a
/// `BrokerLink` has. Lives on the loop's thread; a task of the client library's leaves the answers in a mailbox.
final class BrokerTalk {
    enum Order: Hashable, Sendable {
        /// Who has which camera, and whether the user's own privacy switch is on.
        case use
        case stop(app: String)
        case setOwnPrivacy(Bool)
        case watchQuestions(Bool)
        case answer(QuestionID, AppAnswer)
        case setDenied([String])
    }

    enum Answer: Sendable {
        case use([CameraUse], isPrivate: Bool)
        case done
        case failed(BrokerError)
    }

    /// Clicks come from whoever is on the user's bus: more than a person makes while one waits for its answer are refused.
    static let waitingMax = 32

    private let mailbox = Mailbox<(connection: Int, Order, Answer)>()
    private let onAnswer: (Order, Answer) -> Void
    private var orders: AsyncStream<Order>.Continuation?
    /// Answers of an earlier connection are nobody's.
    private var connection = 0
    private var waiting = 0

    var isConnected: Bool { orders != nil }

    init(on loop: EventLoop, onAnswer: @escaping (Order, Answer) -> Void) throws(SystemFault) {
        self.onAnswer = onAnswer
        mailbox.setWakeup(try loop.addWakeup { [unowned self] in takeAnswers() })
    }

    /// From now on this client is asked.
    func begin(_ client: CameraClient) {
        end()
        let (number, mailbox) = (connection, mailbox)
        let (stream, continuation) = AsyncStream.makeStream(of: Order.self)
        orders = continuation
        Task.detached {
            for await order in stream { mailbox.post((number, order, await order.perform(on: client))) }
        }
    }

    func end() {
        connection += 1
        waiting = 0
        orders?.finish()
        orders = nil
    }

    /// - Returns: false where there is no broker, or too much waits for it.
    @discardableResult
    func ask(_ order: Order) -> Bool {
        guard let orders, waiting < Self.waitingMax else { return false }
        waiting += 1
        orders.yield(order)
        return true
    }

    private func takeAnswers() {
        for (number, order, answer) in mailbox.take() where number == connection {
            waiting -= 1
            onAnswer(order, answer)
        }
    }
}

extension BrokerTalk.Order {
    fileprivate func perform(on client: CameraClient) async -> BrokerTalk.Answer {
        do throws(BrokerError) {
            switch self {
            case .use:
                // First the switch: what is listed then is as it leaves it.
                let isPrivate = try await client.status().isOwnPrivate
                return .use(try await client.cameraUse(), isPrivate: isPrivate)
            case .stop(let app): try await client.stop(app: app)
            case .setOwnPrivacy(let on): try await client.setOwnPrivacy(on)
            case .watchQuestions(let on): try await client.watchQuestions(on)
            case .answer(let question, let answer): try await client.answer(question, answer)
            case .setDenied(let apps): try await client.setDenied(apps: apps)
            }
            return .done
        } catch {
            return .failed(error)
        }
    }
}
