import ArbiterProtocol
import Bus
import Camarb
import Glibc
import Loop

/// An app of a simulation: it calls, and believes what it is told; what it is told must fit together.
final class SimulatedClient: BusConnectionDelegate {
    private unowned let world: SimulatedWorld
    let app: String
    private var connection: BusConnection?
    private(set) var sessions: [SessionView] = []
    /// It has said who it is; before, it asks for nothing.
    private(set) var isDeclared = false
    /// Calls without an answer, by when they were made.
    private var underWay: [UInt64: (member: String, since: Int64)] = [:]
    private var callCount: UInt64 = 0
    private(set) var answers = 0
    private(set) var refusals = 0
    private(set) var notices = 0
    /// Signals of sessions whose creation was not answered yet.
    private var early: [WireSignal] = []
    private var streams: [Int32] = []

    /// Longer than everything that an answer may wait for: cameras that are not known yet, and a recorder core that hangs.
    static let answerTimeMax = 40 * SimulatedWorld.second
    static let earlyMax = 64

    init(_ app: String, _ path: String, _ world: SimulatedWorld) throws(SystemFault) {
        self.app = app
        self.world = world
        connection = try BusConnection(
            adopting: try SocketAddress.connect(toPath: path), as: .client, on: world.loop, delegate: self)
        let attributes: WireDictionary = ["app": .string(app)]
        call(ObjectPath.broker, InterfaceName.broker, "DeclareClient", [.dictionary(attributes)]) {
            [unowned self] result in if case .success = result { isDeclared = true }
        }
    }

    deinit {
        for stream in streams { close(stream) }
        connection?.close()
    }

    var isConnected: Bool { connection != nil }

    /// Without a word.
    func vanish() {
        world.note("\(app) vanishes")
        connection?.close()
        connection = nil
        sessions = []
        underWay = [:]
    }

    func connectionReady(_ connection: BusConnection) {}

    func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) {
        world.violated("\(app) was disconnected (\(end)), and had done nothing wrong.")
        vanish()
    }

    // MARK: Calls

    private func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [WireValue] = [],
        _ handler: @escaping (Result<BusMessage, BrokerError>) -> Void = { _ in }
    ) {
        guard let connection else { return }
        callCount += 1
        let number = callCount
        underWay[number] = (member, EventLoop.now)
        world.note("\(app) calls \(member)")
        // Never by the client's own limit: the broker answers, or it is a violation.
        connection.call(path: path, interface: interface, member: member, arguments, timeout: .max / 2) {
            [weak self] result in
            guard let self, underWay.removeValue(forKey: number) != nil else { return }
            answers += 1
            switch result {
            case .success: world.note("\(app) is answered \(member)")
            case .failure(let error):
                refusals += 1
                world.note("\(app) is refused \(member): \(error.kind.rawValue)")
            }
            handler(result)
        }
    }

    func createSession(_ camera: String, frameRate: Double?) {
        var settings = WireDictionary()
        if let frameRate { settings["frameRate"] = .double(frameRate) }
        call(ObjectPath.broker, InterfaceName.broker, "CreateSession", [.string(camera), .dictionary(settings)]) {
            [unowned self] result in
            guard case .success(let answer) = result, let path = (try? answer.arguments())?.first?.string,
                let id = ObjectPath.sessionID(path)
            else { return }
            sessions.append(SessionView(id: id, camera: camera))
            let waiting = early
            early = []
            for signal in waiting { take(signal) }
        }
    }

    func ask(_ session: SessionID, _ member: String, _ arguments: [WireValue] = []) {
        guard let place = place(session) else { return }
        switch member {
        case "StopRunning": sessions[place].wantsToRun = false
        case "Close": sessions.remove(at: place)
        default: break
        }
        call(ObjectPath.session(session), InterfaceName.session, member, arguments) { [unowned self] result in
            guard case .success(let answer) = result else { return }
            if member == "StartRunning", let place = self.place(session) { sessions[place].wantsToRun = true }
            for case .fileDescriptor(let stream) in (try? answer.arguments()) ?? [] { streams.append(stream) }
        }
    }

    /// Facts of the desktop, from a trusted client, as one of the broker's own user is.
    func tell(_ member: String, _ arguments: [WireValue]) {
        call(ObjectPath.shell, InterfaceName.shell, member, arguments)
    }

    private func place(_ session: SessionID) -> Int? { sessions.firstIndex { $0.id == session } }

    /// - Returns: the oldest call that nobody has answered for too long.
    var overdue: String? {
        underWay.values.filter { EventLoop.now - $0.since > Self.answerTimeMax }.min { $0.since < $1.since }?.member
    }

    var isWaiting: Bool { !underWay.isEmpty }

    // MARK: Signals

    func connection(_ connection: BusConnection, received message: BusMessage) {
        guard message.kind == .signal, message.interface == InterfaceName.session else { return }
        let arguments = (try? message.arguments()) ?? []
        take(
            WireSignal(
                path: message.path, interface: message.interface, member: message.member, arguments: arguments))
    }

    private func take(_ signal: WireSignal) {
        guard let id = ObjectPath.sessionID(signal.path) else {
            return world.violated("\(app) was told \(signal.member) of \(signal.path).")
        }
        guard let place = place(id) else {
            // Closed meanwhile, or not known yet.
            if early.count < Self.earlyMax { early.append(signal) }
            return
        }
        notices += 1
        world.note("\(app) hears \(signal.member) of \(id.rawValue)")
        do throws(BrokerError) {
            let read = try SessionSignal(signal: signal)
            if let wrong = sessions[place].take(read) {
                world.violated("\(app), session \(id.rawValue), \(signal.member): \(wrong)")
            }
        } catch {
            world.violated("\(app) was told what cannot be read: \(error.message)")
        }
    }
}
