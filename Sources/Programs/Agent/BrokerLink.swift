import ArbiterProtocol
import Camarb
import System

/// The connection to the broker: sends the known facts, and on a new connection all of them again.
///
///     waiting ──time──▶ connecting ──there──▶ connected ──ended──▶ waiting, longer each time up to a bound
///
/// One batch is on its way at a time; later facts go with the next. Lives on the loop's thread; the client library's
/// tasks leave their news in a mailbox.
final class BrokerLink {
    private enum News: Sendable {
        case connected(CameraClient, [ClientProcess])
        case clients([ClientProcess])
        case said([BrokerError])
        case displaced(role: String, by: String)
        case notice(BrokerNotice)
        case ended(BrokerError)
    }

    enum FaceNews {
        case connected(CameraClient)
        /// The facts were sent, or there are none: from now on camagent speaks for its user, if the broker lets it.
        case spoke
        case notice(BrokerNotice)
        case ended
    }

    /// One connection, from its beginning to its end. Its news carry its number: news of an earlier one are dropped.
    private struct Connection: Sendable {
        var number: Int
        var address: String?
        var mailbox: LoopQueue<(Int, News)>

        func run() async {
            do throws(BrokerError) {
                let client = try CameraClient.connect(address: address, reconnects: false)
                let notices = client.brokerNotices
                mailbox.post((number, .connected(client, try await clients(of: client))))
                for await notice in notices {
                    switch notice {
                    case .clientsChanged: mailbox.post((number, .clients(try await clients(of: client))))
                    case .displaced(let role, let by): mailbox.post((number, .displaced(role: role, by: by)))
                    case .ended(let error): mailbox.post((number, .ended(error)))
                    case .question, .questionEnded, .useChanged, .recordingCut, .answerChanged:
                        mailbox.post((number, .notice(notice)))
                    case .camerasChanged, .holderChanged, .prioritiesChanged, .decided, .traced, .traceLost: break
                    }
                }
            } catch { mailbox.post((number, .ended(error))) }
        }

        private func clients(of client: CameraClient) async throws(BrokerError) -> [ClientProcess] {
            try await client.listClients().map { ClientProcess(process: $0.process, app: $0.app) }
        }
    }

    /// The clients of this user, by the broker's names; empty without a connection.
    private(set) var clients: [ClientProcess] = []

    private let address: String?
    private let user: UInt32
    private let journal: Journal
    private let onClients: () -> Void
    private let onFace: (FaceNews) -> Void
    private let mailbox = LoopQueue<(Int, News)>()
    private var retry: Timer?
    private var speakAgain: Timer?
    /// The pause before the next attempt, in nanoseconds: another agent may speak meanwhile, which has its desktop to
    /// follow.
    private static let silenceTime: Int64 = 10_000_000_000
    private var backOff = BackOff.broker
    private var number = 0
    private var client: CameraClient?
    private var isBusy = false
    private var facts = UserFacts()
    private var said = SaidFacts()
    private var refused: Set<String> = []
    private var trouble: String?

    init(
        on loop: EventLoop, address: String?, user: UInt32, journal: Journal, onClients: @escaping () -> Void,
        onFace: @escaping (FaceNews) -> Void
    ) throws(SystemFault) {
        (self.address, self.user, self.journal) = (address, user, journal)
        (self.onClients, self.onFace) = (onClients, onFace)
        mailbox.setWakeup(try loop.addWakeup { [unowned self] in takeNews() })
        retry = try loop.addTimer { [unowned self] in connect() }
        speakAgain = try loop.addTimer { [unowned self] in speak() }
    }

    func connect() {
        number += 1
        let task = Connection(number: number, address: address, mailbox: mailbox)
        Task.detached { await task.run() }
    }

    func disconnect() {
        number += 1
        client?.disconnect()
        client = nil
    }

    func tell(_ new: UserFacts) {
        facts = new
        if speakAgain?.deadline == nil { speak() }
    }

    private func takeNews() {
        for (number, news) in mailbox.take() where number == self.number {
            switch news {
            case .connected(let client, let clients):
                self.client = client
                backOff.reset()
                isBusy = false
                said = SaidFacts()
                speakAgain?.arm(at: nil)
                if trouble != nil { journal.send(.notice, "the broker is reached again; it is told everything anew") }
                trouble = nil
                take(clients)
                speak()
                onFace(.connected(client))
                if !isBusy { onFace(.spoke) }
            case .clients(let clients): take(clients)
            case .said(let refusals):
                isBusy = false
                note(refusals)
                if refusals.contains(where: { $0.kind == .notTrusted }) { beSilent() } else { speak() }
                onFace(.spoke)
            // The role of asking the user is apart from the role of placing apps.
            case .displaced(let role, let by) where role == "ask": onFace(.notice(.displaced(role: role, by: by)))
            case .displaced(let role, let by):
                journal.send(.notice, "somebody else speaks as the \(role) now: \(by)")
                beSilent()
            case .notice(let notice): onFace(.notice(notice))
            case .ended(let error): ended(error)
            }
        }
    }

    private func note(_ refusals: [BrokerError]) {
        let new = Set(refusals.map(\.message))
        for refusal in refusals where !refused.contains(refusal.message) {
            journal.send(.warning, "the broker refused: \(refusal.message)")
        }
        refused = new
    }

    /// Another agent speaks for the user: tries again later, and sends everything then.
    private func beSilent() {
        said = SaidFacts()
        speakAgain?.arm(at: EventLoop.now + Self.silenceTime)
    }

    private func take(_ new: [ClientProcess]) {
        guard new != clients else { return }
        clients = new
        onClients()
    }

    private func ended(_ error: BrokerError) {
        disconnect()
        if trouble != error.message { journal.send(.notice, "\(error.message) Trying again.") }
        trouble = error.message
        retry?.arm(at: EventLoop.now + backOff.wait().nanoseconds)
        take([])
        onFace(.ended)
    }

    private func speak() {
        guard let client, !isBusy else { return }
        let sayings = said.toSay(facts)
        guard !sayings.isEmpty else { return }
        isBusy = true
        let (number, mailbox, user) = (number, mailbox, user)
        Task.detached {
            var refusals: [BrokerError] = []
            for saying in sayings {
                do throws(BrokerError) { try await saying.say(to: client, user: user) } catch {
                    switch error.kind {
                    // The rest could not be sent either: everything is, on the next connection.
                    case .disconnected, .noReply: return mailbox.post((number, .ended(error)))
                    default: refusals.append(error)
                    }
                }
            }
            mailbox.post((number, .said(refusals)))
        }
    }
}

extension Saying {
    /// Apps are named with their user: without it a broker may take the name for another user's app.
    fileprivate func say(to client: CameraClient, user: UInt32) async throws(BrokerError) {
        switch self {
        case .attach(let apps):
            try await client.attach(
                as: .agent,
                placing: apps.map {
                    AppPlacement(
                        app: "\($0.app)@\(user)", presence: $0.placement.presence, isFocused: $0.placement.isFocused)
                })
        case .describe(let source): try await client.describeSource(source)
        case .detach: try await client.detach(as: .agent)
        case .place(let placed):
            let placement = placed.placement
            try await client.place(app: "\(placed.app)@\(user)", placement.presence, focused: placement.isFocused)
        case .reportMicrophones(let on): try await client.reportMicrophones(on)
        case .takeMicrophone(let app): try await client.takeMicrophone(app: "\(app)@\(user)")
        case .releaseMicrophone(let app): try await client.releaseMicrophone(app: "\(app)@\(user)")
        }
    }
}

/// The wait before the next try: twice as long each time, up to a bound.
public struct BackOff: Hashable, Sendable {
    public let first, longest: Duration
    private var next: Duration

    public init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
        next = first
    }

    /// A broker is back in a fraction of a second; a machine without one is tried twelve times a minute.
    public static let broker = BackOff(first: .milliseconds(100), longest: .seconds(5))
    /// A desktop that starts brings its services within seconds; a desktop without them is tried twice a minute.
    public static let desktop = BackOff(first: .milliseconds(250), longest: .seconds(30))

    public mutating func wait() -> Duration {
        defer { next = min(next * 2, longest) }
        return next
    }

    public mutating func reset() { next = first }
}
