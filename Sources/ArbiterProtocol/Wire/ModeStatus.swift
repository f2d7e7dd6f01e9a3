/// The machine's mode, whose word it is, and what the calendar says beside it. Empty texts stand for none.
public struct ModeStatus: Hashable, Sendable {
    public var inForce: String
    /// `root` or `operator`, where it was set by hand.
    public var setBy: String
    /// What the policy's calendar says.
    public var calendar: String
    /// When it says something else, in the local time of the broker's machine, such as `2026-11-24 06:00`.
    public var calendarUntil: String

    public init(inForce: String = "", setBy: String = "", calendar: String = "", calendarUntil: String = "") {
        self.inForce = inForce
        self.setBy = setBy
        self.calendar = calendar
        self.calendarUntil = calendarUntil
    }
}

extension ModeStatus {
    package func addEntries(to entries: inout some WireEntries) {
        entries.add("mode", inForce)
        entries.add("modeSetBy", setBy)
        entries.add("calendarMode", calendar)
        entries.add("calendarUntil", calendarUntil)
    }

    /// An older broker has no modes.
    init(_ fields: WireFields) throws(BrokerError) {
        self.init()
        guard fields.has("mode") else { return }
        inForce = try fields.string("mode")
        setBy = try fields.string("modeSetBy")
        calendar = try fields.string("calendarMode")
        calendarUntil = try fields.string("calendarUntil")
    }
}
