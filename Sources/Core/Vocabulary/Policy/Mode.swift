/// A value of the whole machine, declared in the file: night, cleaning, visiting hours.
///
/// The machine has exactly one value at a time: the mode that was set by hand, until it is taken back; else the first
/// declared mode whose calendar holds; else none. The core has no clock: the caller sends it the calendar's mode
/// (`Event.calendar`), so that traces replay.
public struct Mode: Hashable, Sendable {
    public var name: String
    /// The times at which it holds by itself; empty: it is only set by hand.
    public var at: [CalendarSpan]
    /// The setters by hand, in the order of `Setter`; empty: it only follows its calendar.
    public var setBy: [Setter]

    /// A setter of a mode by hand.
    public enum Setter: String, Hashable, Sendable, Codable, CaseIterable {
        case root
        /// A client that is trusted with everybody's facts: it may also choose an app by hand.
        case `operator`
    }

    public init(name: String, at: [CalendarSpan] = [], setBy: [Setter] = Setter.allCases) {
        self.name = name
        self.at = at
        self.setBy = Setter.allCases.filter(setBy.contains)
    }

    /// Root may do whatever the operator may.
    public func maySet(_ setter: Setter) -> Bool { setBy.contains(setter) || setter == .root && !setBy.isEmpty }

    /// The word of rules and scenarios for no mode.
    public static let none = "none"
}
