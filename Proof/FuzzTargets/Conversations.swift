import ArbiterProtocol
import Broker
import Bus
import Glibc
import System

/// A whole broker with two cameras without pictures, two peers whose calls come from the input, and a bystander.
///
/// Every call is answered once, in valid D-Bus; the core breaks no promise; the bystander is answered; and after all have gone nothing
/// of theirs is left, not even a descriptor.
extension FuzzTarget {
    static func connection(_ input: [UInt8]) {
        let next = Hearer.nextDescriptor
        do throws(SystemFault) { try Conversation(input).run() } catch {
            preconditionFailure("This target could not be set up: \(error)")
        }
        // A side thread closes the descriptor that woke the loop a moment later.
        let until = EventLoop.now + Conversation.answersTimeMax
        while Hearer.nextDescriptor != next {
            precondition(EventLoop.now < until, "A conversation left a descriptor open.")
            sched_yield()
        }
    }
}

private final class Conversation {
    static let recordsMax = 48
    /// Nanoseconds, for answers that are worked out beside the loop.
    static let answersTimeMax: Int64 = 60_000_000_000

    private let loop: EventLoop
    private let broker: Broker
    private var callers: [Caller] = []
    private var seed: WireSeed
    private var sessions: [String] = []

    private final class Caller {
        let peer: Peer
        /// Serials of the calls that want an answer.
        var asked: [UInt32] = []
        var created: Set<UInt32> = []
        var lastSerial: UInt32 = 0
        /// It has sent bytes whose answers are unknown.
        var isWild = false

        init(_ peer: Peer) { self.peer = peer }
    }

    init(_ input: [UInt8]) throws(SystemFault) {
        seed = WireSeed(input)
        loop = try EventLoop()
        var options = BrokerOptions()
        options.socket = "/tmp/camarb-fuzz.\(getpid())"
        options.systemBus = ""
        options.policyFolder = ""
        options.answers = nil
        options.cameras = ["front", "back"].map { BrokerOptions.Camera(id: CameraID($0), spec: "none") }
        var journal = Journal(identifier: "camarbd")
        journal.threshold = .error
        broker = try Broker(options, recorders: nil, on: loop, journal: journal)
        Peer.settle(loop)
        for _ in 0..<3 {
            let (ours, its) = try UnixPair.make()
            broker.accept(ours)
            let caller = Caller(Peer(its, loop))
            caller.peer.send(FuzzTarget.handshake)
            callers.append(caller)
        }
    }

    func run() {
        var current = callers[0]
        for _ in 0..<Self.recordsMax where !seed.isEmpty {
            let kind = seed.byte()
            switch kind % 16 {
            case 14: current = callers[Int(kind / 16) & 1]
            case 15:
                current.isWild = true
                current.peer.send(seed.part(Int(seed.byte())))
            default: call(current, kind)
            }
        }
        check()
        leave()
    }

    /// One call of a camarb method, with arguments of its types or any bytes, or of a method of D-Bus.
    private func call(_ caller: Caller, _ kind: UInt8) {
        caller.lastSerial += 1
        let target = kind % 16 == 13 ? foreign() : own()
        let isRaw = (8...12).contains(kind % 16)
        let body = isRaw ? seed.part(Int(seed.byte())) : FuzzTarget.marshalled(seed.values(target.signature))
        let wantsNone = kind / 16 == 15
        let message = Marshaller.message(
            flags: wantsNone ? 1 : 0, serial: caller.lastSerial, path: target.path, interface: target.interface,
            member: target.member, signature: target.signature, body: body)
        if !wantsNone { caller.asked.append(caller.lastSerial) }
        if target.member == "CreateSession" { caller.created.insert(caller.lastSerial) }
        // A malformed message has no answer.
        if isRaw { caller.isWild = true }
        caller.peer.send(message)
        learn(caller)
    }

    private typealias Target = (path: String, interface: String, member: String, signature: String)

    private func own() -> Target {
        let choice = Int(seed.byte())
        let interfaces = [Interface.broker, Interface.session, Interface.session, Interface.shell]
        let interface = interfaces[choice % 4]
        let method = interface.methods[choice / 4 % interface.methods.count]
        let path: String
        switch interface.name {
        case InterfaceName.broker: path = ObjectPath.broker
        case InterfaceName.shell: path = ObjectPath.shell
        default: path = session()
        }
        return (path, interface.name, method.name, method.signatureTaken)
    }

    /// By the next byte the newest session, or another one, also of another peer or of none.
    private func session() -> String {
        let choice = Int(seed.byte())
        guard choice < 250, !sessions.isEmpty else { return ObjectPath.session(SessionID(UInt64(choice))) }
        return sessions[sessions.count - 1 - choice % sessions.count]
    }

    private func foreign() -> Target {
        let calls: [(String, String, String)] = [
            ("org.freedesktop.DBus", "Hello", ""), ("org.freedesktop.DBus", "AddMatch", "s"),
            ("org.freedesktop.DBus", "GetNameOwner", "s"), ("org.freedesktop.DBus", "GetConnectionCredentials", "s"),
            ("org.freedesktop.DBus", "ListNames", ""), ("org.freedesktop.DBus.Monitoring", "BecomeMonitor", ""),
            ("org.freedesktop.DBus.Introspectable", "Introspect", ""), ("org.freedesktop.DBus.Peer", "Ping", ""),
            ("org.freedesktop.DBus.Properties", "Get", "ss"), ("org.freedesktop.DBus.Properties", "GetAll", "s"),
            ("org.freedesktop.DBus.ObjectManager", "GetManagedObjects", ""), ("", "Watch", "b"), ("", "Close", ""),
            ("org.example.None", "Nothing", "a{sv}"),
        ]
        let choice = Int(seed.byte())
        let paths = [ObjectPath.root, ObjectPath.broker, ObjectPath.shell, ObjectPath.cameras + "/front", "/"]
        let (interface, member, signature) = calls[choice % calls.count]
        let place = choice / calls.count
        return (place < paths.count ? paths[place] : session(), interface, member, signature)
    }

    private func learn(_ caller: Caller) {
        guard !caller.created.isEmpty, !caller.isWild else { return }
        for message in Said(caller.peer.heard).messages where caller.created.remove(message.answers) != nil {
            if message.kind == 2 { sessions.append(Said.text(message.body)) }
        }
    }

    private func check() {
        let (calls, bystander) = (callers, callers[2])
        bystander.asked.append(1)
        bystander.peer.send(
            Marshaller.message(
                serial: 1, path: ObjectPath.broker, interface: "org.freedesktop.DBus.Peer", member: "Ping",
                signature: "", body: []))
        turn("A call was not answered in a minute: \(calls.map(\.asked))") {
            for caller in calls { caller.peer.listen() }
            return calls.allSatisfy(isAnswered)
        }
        for caller in callers where !caller.isWild && !caller.peer.isOver {
            let answers = Said(caller.peer.heard).messages.map(\.answers).filter { $0 != 0 }.sorted()
            precondition(answers == caller.asked, "To the calls \(caller.asked) came the answers \(answers).")
        }
        precondition(!bystander.peer.isOver, "The peer that did nothing wrong was disconnected.")
    }

    private func isAnswered(_ caller: Caller) -> Bool {
        if caller.isWild || caller.peer.isOver { return true }
        return Said(caller.peer.heard).messages.count { $0.answers != 0 } >= caller.asked.count
    }

    private func turn(_ sentence: @autoclosure () -> String, until isOver: () -> Bool) {
        let until = EventLoop.now + Self.answersTimeMax
        while !isOver() {
            precondition(EventLoop.now < until, sentence())
            _ = try? loop.turn(timeout: 10_000_000)
        }
    }

    private func leave() {
        let broken = broker.brokenPromises
        precondition(broken.isEmpty, "The core broke a promise: \(broken)")
        for caller in callers { caller.peer.close() }
        Peer.settle(loop)
        turn("Work that nobody waits for goes on for a minute.") { !broker.isWorkingAside }
        let left = broker.leftOfClients
        precondition(left.isEmpty, "All clients have gone, and there is left: \(left.joined(separator: ", "))")
        broker.stop()
        Peer.settle(loop)
    }
}
