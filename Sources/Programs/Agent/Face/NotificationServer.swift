import ArbiterProtocol
import Bus
import System

struct ShownNotification: Hashable {
    /// The unique name of the server that shows it: another server may have the same number.
    var server: String
    var id: UInt32
}

struct NotificationOrder {
    var text: NotificationText
    var replaces: ShownNotification?
    var buttons: [(key: String, label: String)] = []
    var isUrgent = false
    /// `nil`: the server's own time.
    var time: Duration?
}

/// The desktop's org.freedesktop.Notifications.
///
///     unknown ──GetCapabilities──▶ there ──its name has no owner──▶ unknown, queried again a while later
///                     │
///                     └── no such service ──▶ absent, until its name has an owner
///
/// The query starts a server that the bus can start, as any program's notification would. Signals count by its unique
/// name: any program on the bus may send a signal that looks like one of its own.
final class NotificationServer: AskedService {
    enum News {
        case changed
        case button(ShownNotification, key: String)
        case closed(ShownNotification)
    }

    private static let path = "/org/freedesktop/Notifications"
    /// Several times the longest list of a known server.
    private static let capabilitiesMax = 256
    /// In nanoseconds: a server that dies of the query is not queried on and on.
    private static let steadyTime: Int64 = 30_000_000_000

    private(set) var capabilities: Set<String>?
    private var owner = ""
    private let onNews: (News) -> Void
    private var thereSince: Int64 = 0

    init(on loop: EventLoop, onNews: @escaping (News) -> Void) throws(SystemFault) {
        self.onNews = onNews
        try super.init("org.freedesktop.Notifications", on: loop)
    }

    override func owned(by owner: String) {
        if owner.isEmpty {
            let wasSteady = capabilities != nil && EventLoop.now - thereSince > Self.steadyTime
            gone()
            if wasSteady { worked() }
            // A server that the bus can start is started again.
            failed()
        } else if owner != self.owner {
            gone()
            ask()
        }
    }

    override func lost() {
        super.lost()
        gone()
    }

    private func gone() {
        forget()
        owner = ""
        guard capabilities != nil else { return }
        capabilities = nil
        onNews(.changed)
    }

    override func ask() {
        ask(Self.path, "GetCapabilities") { [unowned self] result in
            do throws(BrokerError) {
                let answer = try result.get()
                capabilities = Set(try answer.readStrings(most: Self.capabilitiesMax))
                owner = answer.sender
                thereSince = EventLoop.now
                onNews(.changed)
            } catch {
                // Without an activatable service, the next owner of the name begins a query.
                if error.message.holds("ServiceUnknown") || error.kind == .disconnected { return }
                failed()
            }
        }
    }

    override func heard(_ signal: BusMessage) throws(BrokerError) {
        guard !owner.isEmpty, signal.sender == owner, signal.interface == name else { return }
        if signal.isMember("ActionInvoked"), signal.isSignature("us") {
            let id = try signal.readUInt32()
            onNews(.button(ShownNotification(server: owner, id: id), key: try signal.readString()))
        } else if signal.isMember("NotificationClosed"), signal.isSignature("uu") {
            onNews(.closed(ShownNotification(server: owner, id: try signal.readUInt32())))
        }
    }

    func show(_ order: NotificationOrder, isShown: @escaping (ShownNotification?) -> Void) {
        guard let bus, let capabilities else { return isShown(nil) }
        let hasMarkup = capabilities.contains("body-markup")
        let replaced = order.replaces.flatMap { $0.server == owner ? $0.id : nil } ?? 0
        let milliseconds = order.time.map { Int32(clamping: $0.nanoseconds / 1_000_000) } ?? -1
        bus.call(name, path: Self.path, interface: name, member: "Notify", "susssasa{sv}i") { message in
            message.append("Cameras")
            message.append(replaced)
            message.append("camera-video")
            message.append(order.text.summary)
            message.append(hasMarkup ? order.text.markup : order.text.body)
            message.append(order.buttons.flatMap { [$0.key, $0.label] })
            message.container("a", "{sv}") { hints in
                hints.container("e", "sv") { hint in
                    hint.append("urgency")
                    hint.container("v", "y") { $0.append(UInt8(order.isUrgent ? 2 : 1)) }
                }
            }
            message.append(milliseconds)
        } _: { result in
            guard let answer = try? result.get(), answer.isSignature("u"), let id = try? answer.readUInt32() else {
                return isShown(nil)
            }
            isShown(ShownNotification(server: answer.sender, id: id))
        }
    }

    func close(_ shown: ShownNotification) {
        guard shown.server == owner else { return }
        bus?.call(name, path: Self.path, interface: name, member: "CloseNotification", [.uint32(shown.id)]) { _ in }
    }
}
