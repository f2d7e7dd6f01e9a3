public import ArbiterProtocol

/// The panel's view of the cameras: an icon, a tooltip, and the lines of a menu.
///
/// It is there while a camera is in use, while one of the user's apps waits for one, and while the user's own privacy
/// switch is on.
public struct Indicator: Hashable, Sendable {
    public enum Line: Hashable, Sendable {
        case text(String)
        case separator
        case stop(app: String)
        case setPrivacy(Bool)
    }

    /// More cameras, waiting apps for each, and apps to stop than fit on a screen are counted, not listed.
    public static let camerasMax = 8
    public static let waitingMax = 6
    public static let stopsMax = 12

    /// Of the icon naming specification, symbolic: a panel has its own colours.
    public private(set) var icon: String
    public private(set) var title: String
    /// With markup escaped.
    public private(set) var tooltip: String
    public private(set) var lines: [Line]

    public init(icon: String, title: String, tooltip: String, lines: [Line]) {
        (self.icon, self.title, self.tooltip, self.lines) = (icon, title, tooltip, lines)
    }

    /// - Parameters:
    /// - cameras: as the broker lists them.
    /// - isPrivate: the user's own privacy switch is on.
    /// - time: a time of day for people, of microseconds of CLOCK_REALTIME.
    /// Returns `nil` where there is nothing to show.
    public init?(_ cameras: [CameraUse], isPrivate: Bool, time: (Int64) -> String) {
        let used = cameras.filter { $0.holder != nil || !$0.waiting.isEmpty }
        guard !used.isEmpty || isPrivate else { return nil }
        if used.contains(where: \.isRecording) {
            (icon, title) = ("media-record-symbolic", "A camera records")
        } else if used.contains(where: { $0.holder != nil }) {
            (icon, title) = ("camera-video-symbolic", "A camera is in use")
        } else if isPrivate {
            (icon, title) = ("camera-disabled-symbolic", "Your apps have no camera")
        } else {
            (icon, title) = ("camera-video-symbolic", "An app waits for a camera")
        }
        var texts = used.prefix(Self.camerasMax).flatMap { Self.sentences($0, time) }
        if used.count > Self.camerasMax { texts.append("\(used.count - Self.camerasMax) more cameras are in use") }
        if isPrivate { texts.append("Privacy is on: your apps have no camera") }
        tooltip = texts.map { $0.markupEscaped() }.joined(separator: "\n")
        let stops = Self.stoppable(used).map { Line.stop(app: $0) }
        lines = texts.map { .text($0) } + [.separator] + stops + [.setPrivacy(!isPrivate)]
    }

    private static func sentences(_ use: CameraUse, _ time: (Int64) -> String) -> [String] {
        let camera = ShownText.name(use.name)
        var sentences: [String] = []
        if let holder = use.holder {
            let since = use.since.map { " since \(time($0))" } ?? ""
            sentences.append("\(holder.shownName) has \(camera)\(since)\(use.isRecording ? " and records" : "")")
        }
        sentences += use.waiting.prefix(waitingMax).map {
            "\(ShownText.name($0.app)) waits for \(camera) since \(time($0.since))"
        }
        if use.waiting.count > waitingMax {
            sentences.append("\(use.waiting.count - waitingMax) more wait for \(camera)")
        }
        return sentences
    }

    private static func stoppable(_ used: [CameraUse]) -> [String] {
        var apps: [String] = []
        func add(_ app: String) { if apps.count < stopsMax, !apps.contains(app) { apps.append(app) } }
        for use in used where use.isOwn { if case .app(let name)? = use.holder { add(name) } }
        for use in used { for waiting in use.waiting { add(waiting.app) } }
        return apps
    }
}

extension Interrupter {
    var shownName: String {
        switch self {
        case .app(let name): ShownText.name(name)
        case .anotherUsersApp: "Another user's app"
        case .outside(let program): "\(ShownText.name(program)), which did not ask,"
        }
    }
}

/// The lines of the indicator's menu with their numbers in panels.
///
/// A number stands for one line as it reads, and is never reused: a click on an earlier menu stops the app whose name
/// was there, or none.
public struct IndicatorMenu: Sendable {
    public struct Item: Hashable, Sendable {
        public var id: Int32
        public var line: Indicator.Line
    }

    /// The menu itself, whose children the items are.
    public static let root: Int32 = 0

    /// Grows with each change of the menu.
    public private(set) var revision: UInt32 = 1
    public private(set) var items: [Item] = []
    private var lastID: Int32 = 0

    public init() {}

    /// - Returns: false where nothing changed.
    public mutating func show(_ lines: [Indicator.Line]) -> Bool {
        guard lines != items.map(\.line) else { return false }
        var left = items
        items = lines.map { line in
            if let place = left.firstIndex(where: { $0.line == line }) { return left.remove(at: place) }
            // After two thousand million lines it begins anew.
            lastID = lastID == .max ? 1 : lastID + 1
            return Item(id: lastID, line: line)
        }
        revision &+= 1
        return true
    }

    /// `nil` for the menu itself, and for lines that are gone.
    public func line(_ id: Int32) -> Indicator.Line? { items.first { $0.id == id }?.line }

    public func has(_ id: Int32) -> Bool { id == Self.root || line(id) != nil }

    /// The properties by com.canonical.dbusmenu's names; `nil` for an unknown number.
    /// - Parameter names: the wanted ones; none for all.
    public func properties(_ id: Int32, _ names: [String] = []) -> WireDictionary? {
        guard has(id) else { return nil }
        let all: WireDictionary = line(id)?.menuProperties ?? ["children-display": .string("submenu")]
        guard !names.isEmpty else { return all }
        var wanted = WireDictionary()
        for name in names { if let value = all[name] { wanted[name] = value } }
        return wanted
    }
}

extension Indicator.Line {
    fileprivate var menuProperties: WireDictionary {
        switch self {
        case .text(let text): ["label": .string(Self.label(text)), "enabled": .boolean(false)]
        case .separator: ["type": .string("separator")]
        case .stop(let app): ["label": .string(Self.label("Stop \(ShownText.name(app))"))]
        case .setPrivacy(true): ["label": .string("Turn privacy on: no camera for your apps")]
        case .setPrivacy(false): ["label": .string("Turn privacy off")]
        }
    }

    /// An underscore marks a letter for the keyboard, two of them are a visible one.
    private static func label(_ text: String) -> String {
        text.split(separator: "_", omittingEmptySubsequences: false).joined(separator: "__")
    }
}
