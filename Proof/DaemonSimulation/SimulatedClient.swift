import ArbiterProtocol
import Bus
import Camarb
import Glibc
import System

/// A simulated app, whose notices must be consistent.
final class SimulatedClient: BusConnectionDelegate {
    private unowned let world: SimulatedWorld
    let app: String
    private var connection: BusConnection?
    private(set) var sessions: [HeardSession] = []
    private(set) var isDeclared = false
    private var underWay: [UInt64: (member: String, since: Int64)] = [:]
    private var callCount: UInt64 = 0
    private(set) var answers = 0
    private(set) var refusals = 0
    private(set) var notices = 0
    /// Signals of sessions before the answer to their creation.
    private var early: [WireSignal] = []
    private var streams: [Int32] = []

    /// Longer than unknown cameras and a hanging recorder core delay an answer.
    static let answerTimeMax = 40 * SimulatedWorld.second
    static let earlyMax = 64

    init(_ app: String, _ path: String, _ world: SimulatedWorld) throws(SystemFault) {
        self.app = app
        self.world = world
        connection = try BusConnection(
            adopting: try SocketAddress.connect(toPath: path), as: .client, on: world.loop, delegate: self)
        call(ObjectPath.broker, InterfaceName.broker, "DeclareClient", [.dictionary(["app": .string(app)])]) {
            [unowned self] result in if case .success = result { isDeclared = true }
        }
    }

    deinit {
        for stream in streams { close(stream) }
        connection?.close()
    }

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

    private func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [WireValue] = [],
        _ handler: @escaping (Result<BusMessage, BrokerError>) -> Void = { _ in }
    ) {
        guard let connection else { return }
        callCount += 1
        let number = callCount
        underWay[number] = (member, EventLoop.now)
        world.note("\(app) calls \(member)")
        // The client has no limit of its own: a missing answer is a violation.
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
            sessions.append(HeardSession(id: id, camera: camera))
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

    /// Facts of the desktop, from a trusted client of the broker's own user.
    func tell(_ member: String, _ arguments: [WireValue]) {
        call(ObjectPath.shell, InterfaceName.shell, member, arguments)
    }

    private func place(_ session: SessionID) -> Int? { sessions.firstIndex { $0.id == session } }

    /// The oldest call that waits for too long.
    var overdue: String? {
        underWay.values.filter { EventLoop.now - $0.since > Self.answerTimeMax }.min { $0.since < $1.since }?.member
    }

    var isWaiting: Bool { !underWay.isEmpty }

    func connection(_ connection: BusConnection, received message: BusMessage) {
        guard message.kind == .signal, message.interface == InterfaceName.session else { return }
        let arguments = (try? message.arguments()) ?? []
        take(WireSignal(path: message.path, interface: message.interface, member: message.member, arguments: arguments))
    }

    private func take(_ signal: WireSignal) {
        guard let id = ObjectPath.sessionID(signal.path) else {
            return world.violated("\(app) was told \(signal.member) of \(signal.path).")
        }
        guard let place = place(id) else {
            // Closed meanwhile, or unknown yet.
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
        } catch { world.violated("\(app) was told what cannot be read: \(error.message)") }
    }
}

/// A client's view of a session.
struct HeardSession {
    let id: SessionID
    var camera: String
    var wantsToRun = false
    private(set) var view = SessionView()
    fileprivate var sequence: UInt64 = 0

    /// - Returns: how the notice contradicts the earlier ones.
    mutating func take(_ signal: SessionSignal) -> String? {
        sequence += 1
        guard signal.sequence == sequence else { return "number \(signal.sequence) came for number \(sequence)." }
        if let wrong = problem(signal.event) { return wrong }
        view.take(signal.event)
        if case .sessionStopped = signal.event { wantsToRun = false }
        return nil
    }

    private func problem(_ event: SessionEvent) -> String? {
        let open = view.interruption?.id
        switch event {
        case .wasInterrupted: if let open { return "it is interrupted already, by number \(open)." }
        case .interruptionChanged(let told):
            if told.id != open { return "interruption \(told.id) is not the open one." }
        case .interruptionEnded(let told): if told.id != open { return "interruption \(told.id) is not the open one." }
        case .didStartRunning:
            if view.grant != nil { return "it runs already." }
            if let open { return "interruption \(open) has not ended." }
        case .didStopRunning: if view.grant == nil { return "it did not run." }
        case .sessionStopped: if view.grant != nil { return "it still runs." }
        default: break
        }
        return nil
    }
}

/// A connection that sends nothing, half of something, or nonsense.
final class HostilePeer {
    enum Manner: Int, CaseIterable { case silent, halfAuthentication, nonsense, endless, halfMessage, hugeMessage }

    let manner: Manner
    private let descriptor: Int32

    init(_ manner: Manner, _ path: String) throws(SystemFault) {
        self.manner = manner
        descriptor = try SocketAddress.connect(toPath: path)
        say()
    }

    deinit { close(descriptor) }

    private static let hello = "\0AUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n"

    private func say() {
        switch manner {
        case .silent: break
        case .halfAuthentication: write(Array("\0AUTH EXT".utf8))
        case .nonsense: write(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        case .endless: write([0] + [UInt8](repeating: UInt8(ascii: "A"), count: 3000))
        case .halfMessage:
            // A call of 64 bytes of fields and 16 of body, without its end.
            write(Array(Self.hello.utf8) + Self.header(body: 16, fields: 64) + [UInt8](repeating: 0, count: 40))
        case .hugeMessage: write(Array(Self.hello.utf8) + Self.header(body: 64 * 1024 * 1024, fields: 64))
        }
    }

    /// The first sixteen bytes of a method call, little-endian.
    private static func header(body: UInt32, fields: UInt32) -> [UInt8] {
        [UInt8(ascii: "l"), 1, 0, 1] + bytes(body) + bytes(1) + bytes(fields)
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// Without waiting for the broker to read.
    private func write(_ bytes: [UInt8]) {
        _ = send(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
    }
}
