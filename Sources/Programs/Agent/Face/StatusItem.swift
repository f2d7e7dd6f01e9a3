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
/// It has a connection to the bus of its own, and leaves with it: a panel has no other sign that an item is gone, and
/// forgets an item with its connection, however it was registered.
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
    /// Registers again with a panel that did not take the item: some have their name before they answer.
    private var again: Timer?
    private var backOff = BackOff.desktop

    init(on loop: EventLoop, journal: Journal, onLine: @escaping (Indicator.Line) -> Bool) throws(SystemFault) {
        (self.loop, self.journal, self.onLine) = (loop, journal, onLine)
        leaving = try loop.addTimer { [unowned self] in leave() }
        again = try loop.addTimer { [unowned self] in findWatcher() }
    }

    func show(_ new: Indicator?) {
        guard let new else {
            if bus != nil, leaving?.deadline == nil { leaving?.arm(at: EventLoop.now + Self.lingerTime) }
            // Its contents would no longer be true while it lingers.
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
            bus?.emit(
                path: Self.menuPath, interface: Self.menuInterface, member: "LayoutUpdated",
                [.uint32(menu.revision), .int32(IndicatorMenu.root)])
        }
    }

    private func emit(_ member: String) {
        bus?.emit(path: Self.itemPath, interface: Self.itemInterface, member: member)
    }

    func busReady(_ bus: MessageBus) {
        number += 1
        bus.match(MessageBus.ownerRule(Self.watcher))
        // By the specification. A watcher accepts the connection's own name as well.
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

    /// The follower of the whole bus reports it.
    func busLost(_ bus: MessageBus, _ why: String) {}
}

extension Indicator {
    /// While it lingers.
    fileprivate static let nobody = Indicator(
        icon: "camera-video-symbolic", title: "No camera is in use", tooltip: "", lines: [.setPrivacy(true)])
}

extension StatusItem {
    /// Several times the size of our menu; a caller with more has made the numbers up.
    private static let idsMax = 1024
    private static let namesMax = 64

    func answerMenu(_ call: BusMessage) throws(BrokerError) {
        switch (call.member, call.signature) {
        case ("GetLayout", "iias"): try answerLayout(call)
        case ("GetGroupProperties", "aias"): try answerGroup(call)
        case ("GetProperty", "is"): try answerProperty(call)
        case ("Event", "isvu"):
            let id = try call.readInt32()
            try clicked(id, try call.readString())
            call.answer()
        case ("EventGroup", "a(isvu)"): try answerEvents(call)
        case ("AboutToShow", "i"):
            try require(try call.readInt32())
            // Every change was signalled.
            call.answer([.boolean(false)])
        case ("AboutToShowGroup", "ai"):
            let ids = try call.readInt32s(most: Self.idsMax)
            let unknown = try unknown(among: ids)
            call.answer([.array(type: "i", []), .array(type: "i", unknown.map { .int32($0) })])
        case ("GetLayout", _), ("GetGroupProperties", _), ("GetProperty", _), ("Event", _), ("EventGroup", _),
            ("AboutToShow", _), ("AboutToShowGroup", _):
            throw BrokerError(
                .invalidArguments, "\(call.member) takes other arguments than \(call.signature.quotedShort).")
        default: throw Self.unknown(call)
        }
    }

    private func answerLayout(_ call: BusMessage) throws(BrokerError) {
        let parent = try call.readInt32()
        let depth = try call.readInt32()
        let names = try call.readStrings(most: Self.namesMax)
        try require(parent)
        let children = parent == IndicatorMenu.root && depth != 0 ? menu.items.map(\.id) : []
        call.answer("u(ia{sv}av)") { writer in
            writer.append(menu.revision)
            append(parent, names, children: children, to: &writer)
        }
    }

    private func append(_ id: Int32, _ names: [String], children: [Int32], to writer: inout MessageWriter) {
        writer.container("r", "ia{sv}av") { writer in
            writer.append(id)
            writer.append(menu.properties(id, names) ?? WireDictionary())
            writer.container("a", "v") { writer in
                for child in children {
                    writer.container("v", "(ia{sv}av)") { append(child, names, children: [], to: &$0) }
                }
            }
        }
    }

    /// Without ids: all. Lines that are gone are left out; a result without any line is an error.
    private func answerGroup(_ call: BusMessage) throws(BrokerError) {
        let asked = try call.readInt32s(most: Self.idsMax)
        let names = try call.readStrings(most: Self.namesMax)
        let unknown = try unknown(among: asked)
        let all = [IndicatorMenu.root] + menu.items.map(\.id)
        let ids = asked.isEmpty ? all : all.filter { asked.contains($0) && !unknown.contains($0) }
        let lines: [WireValue] = ids.map {
            .structure([.int32($0), .dictionary(menu.properties($0, names) ?? WireDictionary())])
        }
        call.answer([.array(type: "(ia{sv})", lines)])
    }

    private func answerProperty(_ call: BusMessage) throws(BrokerError) {
        let id = try call.readInt32()
        let name = try call.readString()
        try require(id)
        guard let value = menu.properties(id)?[name] else {
            throw BrokerError(.unknownProperty, "Line \(id) of the menu has no property \(name.quotedShort).")
        }
        call.answer(variant: value)
    }

    private func answerEvents(_ call: BusMessage) throws(BrokerError) {
        var events: [(id: Int32, event: String)] = []
        try call.readEach("a", "(isvu)", most: Self.idsMax) { () throws(BrokerError) in
            try call.readEach("r", "isvu", most: 1) { () throws(BrokerError) in
                let id = try call.readInt32()
                events.append((id, try call.readString()))
                try call.skip("vu")
            }
        }
        let unknown = try unknown(among: events.map(\.id))
        for (id, event) in events where menu.has(id) { try clicked(id, event) }
        call.answer([.array(type: "i", unknown.map { .int32($0) })])
    }

    private func clicked(_ id: Int32, _ event: String) throws(BrokerError) {
        try require(id)
        guard event == "clicked", let line = menu.line(id) else { return }
        guard onLine(line) else {
            throw BrokerError(.failed, "The broker is not reached, or has too much to do already; nothing was done.")
        }
    }

    private func require(_ id: Int32) throws(BrokerError) { guard menu.has(id) else { throw Self.noLine([id]) } }

    private func unknown(among ids: [Int32]) throws(BrokerError) -> [Int32] {
        let unknown = ids.filter { !menu.has($0) }
        if unknown.count == ids.count, !ids.isEmpty { throw Self.noLine(unknown) }
        return unknown
    }

    private static func noLine(_ ids: [Int32]) -> BrokerError {
        let shown = ids.prefix(4).map(String.init).joined(separator: ", ") + (ids.count > 4 ? "…" : "")
        return BrokerError(.invalidArguments, "The menu has no line \(shown); it may have had one before.")
    }
}
