/// One value that the whole machine may have, declared in the file: night, cleaning, visiting hours.
///
/// The machine has exactly one value at a time: the mode that was set by hand, until it is taken back; else the first one
/// declared whose calendar holds; else none. The core has no clock: the caller tells it what the calendar says
/// (`Event.calendar`), so that traces replay.
public struct Mode: Hashable, Sendable {
    public var name: String
    /// When it holds by itself. Empty: never, it is only set by hand.
    public var at: [CalendarSpan]
    /// Who may set it by hand, in the order of `Setter`. Empty: nobody, it only follows its calendar.
    public var setBy: [Setter]

    /// Who sets a mode by hand.
    public enum Setter: String, Hashable, Sendable, Codable, CaseIterable {
        case root
        /// A client that is trusted with everybody's facts: whoever may choose an app by hand.
        case `operator`
    }

    public init(name: String, at: [CalendarSpan] = [], setBy: [Setter] = Setter.allCases) {
        self.name = name
        self.at = at
        self.setBy = Setter.allCases.filter(setBy.contains)
    }

    /// Root may do whatever the operator may.
    public func maySet(_ setter: Setter) -> Bool { setBy.contains(setter) || setter == .root && !setBy.isEmpty }

    /// How rules and scenarios call it that no mode is in force.
    public static let none = "none"
}
