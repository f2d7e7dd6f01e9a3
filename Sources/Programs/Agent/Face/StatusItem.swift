import ArbiterProtocol
import Bus
import Glibc
import System

/// The indicator in the desktop's panel: an org.kde.StatusNotifierItem with a com.canonical.dbusmenu.
///
///     away ──something to show──▶ on the bus, under its own name ──a watcher is there──▶ registered
///      ▲                              │                                ▲          │
///      └──nothing to show for a while─┘                                └─again────┘ where another watcher comes
///
/// It has a connection to the bus of its own, and leaves with it: a panel has nothing else to know by that an item is gone,
/// and forgets one whose connection is, however it was registered.
final class StatusItem: MessageBusDelegate {
    static let itemPath = "/StatusNotifierItem"
    static let menuPath = "/MenuBar"
    private static let watcher = "org.kde.StatusNotifierWatcher"
    /// Nanoseconds without anything to show before it leaves: an app that stops and starts again shows one item.
    private static let lingerTime: Int64 = 2_000_000_000

    private(set) var indicator: Indicator?
    private(set) var menu = IndicatorMenu()
    let onLine: (Indicator.Line) -> Bool
    private let loop: EventLoop
    private let journal: Journal
    private var bus: MessageBus?
    private var leaving: Timer?
    private var trouble: String?
    /// Counts the connections, each of which has a name of its own: an earlier one's is not free at once.
    private var number = 0
    private var name: String { "org.kde.StatusNotifierItem-\(getpid())-\(number)" }
    /// Asks a panel again that did not take the item: some have their name before they answer.
    private var again: Timer?
    private var backOff = BackOff.desktop

    /// - Parameter onLine: a line was clicked; false: nothing can be done now.
    init(on loop: EventLoop, journal: Journal, onLine: @escaping (Indicator.Line) -> Bool) throws(SystemFault) {
        (self.loop, self.journal, self.onLine) = (loop, journal, onLine)
        leaving = try loop.addTimer { [unowned self] in leave() }
        again = try loop.addTimer { [unowned self] in findWatcher() }
    }

    /// - Parameter new: nil where there is nothing to show.
    func show(_ new: Indicator?) {
        guard let new else {
            if bus != nil, leaving?.deadline == nil { leaving?.arm(at: EventLoop.now + Self.lingerTime) }
            // What it shows while it lingers would no longer be true.
            if indicator != nil { change(Indicator.nobody) }
            return
        }
        leaving?.arm(at: nil)
        change(new)
        if bus == nil { come() }
    }

    func leave() {
        leaving?.arm(at: nil)
        again?.arm(at: nil)
        bus?.close()
        bus = nil
        indicator = nil
    }

    private func come() {
        do throws(SystemFault) {
            bus = try MessageBus(.session, on: loop, delegate: self)
        } catch { note("\(error)") }
    }

    private func change(_ new: Indicator) {
        let old = indicator
        indicator = new
        let hasOtherLines = menu.show(new.lines)
        guard old != nil, old != new else { return }
        if old?.icon != new.icon { emit("NewIcon") }
        if old?.title != new.title { emit("NewTitle") }
        emit("NewToolTip")
        if hasOtherLines {
            bus?.emit(path: Self.menuPath, interface: Self.menuInterface, member: "LayoutUpdated") { signal in
                signal.append(menu.revision)
                signal.append(IndicatorMenu.root)
            }
        }
    }

    private func emit(_ member: String) {
        bus?.emit(path: Self.itemPath, interface: Self.itemInterface, member: member)
    }

    func busReady(_ bus: MessageBus) {
        number += 1
        bus.match(MessageBus.ownerRule(Self.watcher))
        // As the specification has it. A watcher believes the connection's own name as well.
        bus.askBus("RequestName", [.string(name), .uint32(0)]) { [weak self] _ in self?.findWatcher() }
    }

    private func findWatcher() {
        bus?.askBus("NameHasOwner", [.string(Self.watcher)]) { [weak self] result in
            guard let self, bus != nil else { return }
            if (try? result.get().readBool()) == true {
                register()
            } else {
                note("no panel shows status icons (\(Self.watcher) has no owner)")
            }
        }
    }

    private func register() {
        again?.arm(at: nil)
        bus?.call(
            Self.watcher, path: "/StatusNotifierWatcher", interface: Self.watcher, member: "RegisterStatusNotifierItem",
            [.string(name)]
        ) { [weak self] result in
            guard let self, bus != nil else { return }
            switch result {
            case .success:
                trouble = nil
                backOff.reset()
            case .failure(let error) where error.kind == .disconnected: break
            case .failure(let error):
                note("the panel does not take the indicator: \(error.message)")
                again?.arm(at: EventLoop.now + backOff.wait().nanoseconds)
            }
        }
    }

    private func note(_ new: String) {
        if new != trouble { journal.send(.notice, new) }
        trouble = new
    }

    func bus(_ bus: MessageBus, received signal: BusMessage) {
        if let (name, owner) = MessageBus.ownerChange(signal), name == Self.watcher, !owner.isEmpty { register() }
    }

    func bus(_ bus: MessageBus, called call: BusMessage) {
        do throws(BrokerError) { try answer(call) } catch { call.answer(error) }
    }

    /// Said where the whole bus is followed.
    func busLost(_ bus: MessageBus, _ why: String) {}
}

extension Indicator {
    /// While it lingers.
    fileprivate static let nobody = Indicator(
        icon: "camera-video-symbolic", title: "No camera is in use", tooltip: "", lines: [.setPrivacy(true)])
}
