package import ArbiterProtocol
package import Bus
import Glibc
package import System

/// A message bus with nobody on it but a systemd-logind that does what a test tells it.
package final class FakeLogind: BusConnectionDelegate {
    private let folder: Scratch
    private var listener: UnixListener?
    private var connection: BusConnection?
    /// The unique name of the service; empty: it does not run.
    package private(set) var owner = ":1.7"
    /// `InhibitDelayMaxUSec`; nil: an error.
    package var delay: WireValue? = .uint64(5_000_000)
    package var isAsleep = false
    package var refusesInhibitors = false
    /// So often it does not say which sessions there are.
    package var busyFor = 0
    /// When each `ListSessions` was read, oldest first, before it was answered.
    package private(set) var sessionsAskedAt: [Int64] = []
    /// By id; as `GetAll` tells of each.
    package var sessions: [(id: String, properties: WireDictionary)] = []
    /// The calls to it, oldest first: the member, then the property, or the session's id.
    package private(set) var calls: [String] = []
    /// Calls that begin so are not answered before `answer`.
    package var holds: String?
    package private(set) var held: [(call: String, message: BusMessage)] = []
    /// Our ends of the inhibitors that were given away.
    private var inhibitors: [Int32] = []

    private static let name = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"
    private static let properties = "org.freedesktop.DBus.Properties"

    package init(on loop: EventLoop) throws {
        folder = try Scratch()
        listener = try UnixListener(
            path: folder.path + "/bus", on: loop, onRefused: { _ in },
            onConnection: { [unowned self] descriptor in
                connection = try? BusConnection(
                    adopting: descriptor, as: .server, on: loop, delegate: self, anonymous: true)
            })
    }

    deinit {
        connection?.close()
        for end in inhibitors { close(end) }
    }

    package var address: String { "unix:path=\(folder.path)/bus" }

    package func count(_ call: String) -> Int { calls.count { $0 == call } }

    package func add(
        _ id: String, user: UInt32, seat: String = "seat0", remote: Bool = false, active: Bool = false,
        locked: Bool = false, class: String = "user"
    ) {
        let properties: WireDictionary = [
            "User": .structure([.uint32(user), .objectPath("\(Self.path)/user/_\(user)")]),
            "Seat": .structure([.string(seat), .objectPath("\(Self.path)/seat/none")]),
            "Remote": .boolean(remote), "Active": .boolean(active), "LockedHint": .boolean(locked),
            "Class": .string(`class`), "Timestamp": .uint64(1),
        ]
        sessions.append((id, properties))
    }

    private static func path(of id: String) -> String { "\(path)/session/s\(id)" }

    package func connectionReady(_ connection: BusConnection) {}
    package func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) {}

    package func connection(_ connection: BusConnection, received message: BusMessage) {
        guard message.kind == .call else { return }
        if message.interface == MessageBus.name { return answerAsBus(message) }
        var call = message.member
        switch call {
        case "Get":
            _ = try? message.readString()
            call += " \((try? message.readString()) ?? "")"
        case "GetAll": call += " \(message.path.dropFirst(Self.path(of: "").count))"
        default: break
        }
        calls.append(call)
        if call == "ListSessions" { sessionsAskedAt.append(EventLoop.now) }
        if let holds, call.hasPrefix(holds) { held.append((call, message)) } else { answer(call, message) }
    }

    private func answerAsBus(_ message: BusMessage) {
        switch message.member {
        case "Hello": message.answer([.string(":1.9")])
        case "GetNameOwner" where owner.isEmpty: message.answer(BrokerError(.failed, "It has no owner."))
        case "GetNameOwner": message.answer([.string(owner)])
        default: message.answer()
        }
    }

    /// Answers the held call of that number.
    package func answer(_ number: Int) {
        let (call, message) = held.remove(at: number)
        answer(call, message)
    }

    private func answer(_ call: String, _ message: BusMessage) {
        switch call {
        case "ListSessions" where busyFor > 0:
            busyFor -= 1
            message.answer(BrokerError(.limitExceeded, "too busy"))
        case "ListSessions":
            let list = sessions.map { session in
                WireValue.structure([
                    .string(session.id), .uint32(0), .string("somebody"), .string(""),
                    .objectPath(Self.path(of: session.id)),
                ])
            }
            message.answer([.array(type: "(susso)", list)])
        case "Inhibit" where refusesInhibitors: message.answer(BrokerError(.accessDenied, "Permission denied"))
        case "Inhibit":
            guard let (ours, theirs) = try? UnixPair.make() else { return }
            message.answer([.fileDescriptor(theirs)])
            close(theirs)
            inhibitors.append(ours)
        case "Get InhibitDelayMaxUSec":
            if let delay { message.answer(variant: delay) } else { message.answer(BrokerError(.failed, "unknown")) }
        case "Get PreparingForSleep": message.answer(variant: .boolean(isAsleep))
        default:
            guard let session = sessions.first(where: { call == "GetAll \($0.id)" }) else {
                return message.answer(BrokerError(.failed, "There is no such session."))
            }
            message.answer([.dictionary(session.properties)])
        }
    }

    package var inhibitorsGiven: Int { inhibitors.count }

    /// Whether somebody holds the inhibitor of that number; the first is 0.
    package func isHeld(_ number: Int) -> Bool {
        var byte: UInt8 = 0
        return recv(inhibitors[number], &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) != 0
    }

    /// - Parameter sender: `nil` for logind's own.
    package func say(
        _ member: String, sender: String? = nil, path: String = path, interface: String = name + ".Manager",
        _ values: WireValue...
    ) {
        connection?.signal(
            path: path, interface: interface, member: member, sender: sender ?? owner,
            values.map(\.signature).joined()
        ) { writer in for value in values { writer.append(value) } }
        connection?.flush()
    }

    package func say(asleep: Bool, sender: String? = nil) {
        isAsleep = asleep
        say("PrepareForSleep", sender: sender, .boolean(asleep))
    }

    package func say(new id: String, sender: String? = nil) { say("SessionNew", of: id, sender: sender) }

    package func say(removed id: String, sender: String? = nil) {
        sessions.removeAll { $0.id == id }
        say("SessionRemoved", of: id, sender: sender)
    }

    package func say(_ member: String, of id: String, sender: String? = nil) {
        say(member, sender: sender, .string(id), .objectPath(Self.path(of: id)))
    }

    package func say(
        changed id: String, _ changed: WireDictionary, of interface: String = name + ".Session", sender: String? = nil
    ) {
        say(
            "PropertiesChanged", sender: sender, path: Self.path(of: id), interface: Self.properties,
            .string(interface), .dictionary(changed), .strings([]))
    }

    /// Its name has another owner, as the bus says; empty: it has ended.
    package func say(owner newOwner: String, sender: String = MessageBus.name) {
        let earlier = owner
        if sender == MessageBus.name { owner = newOwner }
        say(
            "NameOwnerChanged", sender: sender, path: "/org/freedesktop/DBus", interface: MessageBus.name,
            .string(Self.name), .string(earlier), .string(newOwner))
    }
}
