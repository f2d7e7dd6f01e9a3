public import ArbiterProtocol

/// The lines of the indicator's menu with the numbers that panels know them by.
///
/// A number stands for one line as it reads, and is never given to another: a click on what a panel showed a moment ago
/// stops the app whose name was there, or none.
public struct IndicatorMenu: Sendable {
    public struct Item: Hashable, Sendable {
        public var id: Int32
        public var line: Indicator.Line
    }

    /// The menu itself, whose children the items are.
    public static let root: Int32 = 0

    /// Grows with each change.
    public private(set) var revision: UInt32 = 1
    public private(set) var items: [Item] = []
    private var lastID: Int32 = 0

    public init() {}

    /// - Returns: false where nothing is another.
    public mutating func show(_ lines: [Indicator.Line]) -> Bool {
        guard lines != items.map(\.line) else { return false }
        var left = items
        items = lines.map { line in
            if let place = left.firstIndex(where: { $0.line == line }) { return left.remove(at: place) }
            // Two thousand million lines later it begins anew.
            lastID = lastID == .max ? 1 : lastID + 1
            return Item(id: lastID, line: line)
        }
        revision &+= 1
        return true
    }

    /// Nil for the menu itself, and for lines that are gone.
    public func line(_ id: Int32) -> Indicator.Line? { items.first { $0.id == id }?.line }

    /// Whether a panel may know this number.
    public func has(_ id: Int32) -> Bool { id == Self.root || line(id) != nil }

    /// In the words of com.canonical.dbusmenu; nil for a number that nobody has.
    /// - Parameter names: those that are wanted; none for all.
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

    /// An underscore marks a letter for the keyboard, two of them are one to be read.
    private static func label(_ text: String) -> String {
        text.split(separator: "_", omittingEmptySubsequences: false).joined(separator: "__")
    }
}
