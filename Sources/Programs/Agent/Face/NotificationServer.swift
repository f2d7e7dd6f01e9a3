import ArbiterProtocol
import Bus
import System

struct ShownNotification: Hashable {
    /// The unique name of the server that shows it: the number is another's with another server.
    var server: String
    var id: UInt32
}

struct NotificationOrder {
    var text: NotificationText
    /// Shown in the place of this one, where it is still there.
    var replaces: ShownNotification?
    var buttons: [(key: String, label: String)] = []
    var isUrgent = false
    /// Nil: as long as the server shows such things.
    var time: Duration?
}

/// The desktop's org.freedesktop.Notifications.
///
///     unknown ──what can it do?──▶ there ──its name has no owner──▶ unknown, asked again a while later
///                     │
///                     └── no such service ──▶ absent, until its name has an owner
///
/// Asking what it can do starts a server that the bus can start, as any program's notification would. It is believed by its
/// unique name: anybody on the bus may send a signal that looks like one of its own.
final class NotificationServer: DesktopService {
    enum News {
        /// It is there, or not any more.
        case changed
        case button(ShownNotification, key: String)
        case closed(ShownNotification)
    }

    let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"
    /// What the longest list of a server's has several times over.
    private static let capabilitiesMax = 256
    /// How long it must have been there for its end to be the first failure, in nanoseconds: one that dies of being asked
    /// is not asked on and on.
    private static let steadyTime: Int64 = 30_000_000_000
    /// So often it is asked while it fails; then its name's owner is what is waited for.
    private static let failuresMax = 5

    /// Nil while there is none.
    private(set) var capabilities: Set<String>?
    private var owner = ""
    private let onNews: (News) -> Void
    private weak var bus: MessageBus?
    private var again: Timer?
    private var backOff = BackOff.desktop
    private var failures = 0
    /// Grows with each asking: answers to an earlier one mean nothing.
    private var round = 0
    private var thereSince: Int64 = 0

    init(on loop: EventLoop, onNews: @escaping (News) -> Void) throws(SystemFault) {
        self.onNews = onNews
        again = try loop.addTimer { [unowned self] in ask() }
    }

    func begin(_ bus: MessageBus) {
        self.bus = bus
        failures = 0
        bus.match("type='signal',sender='\(name)',interface='\(name)'")
        ask()
    }

    func owned(by owner: String) {
        if owner.isEmpty {
            let wasSteady = capabilities != nil && EventLoop.now - thereSince > Self.steadyTime
            gone()
            if wasSteady {
                backOff.reset()
                failures = 0
            }
            // One that the bus can start is started again.
            failed()
        } else if owner != self.owner {
            gone()
            ask()
        }
    }

    func lost() {
        bus = nil
        gone()
    }

    private func gone() {
        round += 1
        again?.arm(at: nil)
        owner = ""
        guard capabilities != nil else { return }
        capabilities = nil
        onNews(.changed)
    }

    private func ask() {
        round += 1
        let asked = round
        again?.arm(at: nil)
        bus?.call(name, path: Self.path, interface: name, member: "GetCapabilities") { [weak self] result in
            guard let self, round == asked else { return }
            do throws(BrokerError) {
                let answer = try result.get()
                capabilities = Set(try answer.readStrings(most: Self.capabilitiesMax))
                owner = answer.sender
                thereSince = EventLoop.now
                onNews(.changed)
            } catch {
                // Where nobody could start one, its name's owner is the news to wait for.
                if error.message.holds("ServiceUnknown") || error.kind == .disconnected { return }
                failed()
            }
        }
    }

    private func failed() {
        failures += 1
        if failures <= Self.failuresMax { again?.arm(at: EventLoop.now + backOff.wait().nanoseconds) }
    }

    func heard(_ signal: BusMessage) throws(BrokerError) {
        guard !owner.isEmpty, signal.sender == owner, signal.interface == name else { return }
        if signal.isMember("ActionInvoked"), signal.isSignature("us") {
            let id = try signal.readUInt32()
            onNews(.button(ShownNotification(server: owner, id: id), key: try signal.readString()))
        } else if signal.isMember("NotificationClosed"), signal.isSignature("uu") {
            onNews(.closed(ShownNotification(server: owner, id: try signal.readUInt32())))
        }
    }

    /// - Parameter isShown: what is shown now; nil where it is not.
    func show(_ order: NotificationOrder, isShown: @escaping (ShownNotification?) -> Void) {
        guard let bus, let capabilities else { return isShown(nil) }
        let hasMarkup = capabilities.contains("body-markup")
        let replaced = order.replaces.flatMap { $0.server == owner ? $0.id : nil } ?? 0
        let milliseconds = order.time.map { Int32(clamping: $0.nanoseconds / 1_000_000) } ?? -1
        bus.call(name, path: Self.path, interface: name, member: "Notify") { message in
            message.append("Cameras")
            message.append(replaced)
            message.append("camera-video")
            message.append(order.text.summary)
            message.append(hasMarkup ? order.text.markup : order.text.body)
            message.append(order.buttons.flatMap { [$0.key, $0.label] })
            message.container("a", "{sv}") {
                message.container("e", "sv") {
                    message.append("urgency")
                    message.container("v", "y") { message.append(UInt8(order.isUrgent ? 2 : 1)) }
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
