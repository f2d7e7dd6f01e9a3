/// How much of one bounded thing a user has, as `BrokerStatus` tells it.
public struct BudgetUse: Hashable, Sendable {
    /// Nil: all users together.
    public var user: UInt32?
    /// `connections`, `sessions`, `placedApps`, `microphones` or `questions`.
    public var resource: String
    public var used: UInt64
    /// What it may have at the most; less where others have much.
    public var most: UInt64

    public init(user: UInt32?, resource: String, used: UInt64, most: UInt64) {
        self.user = user
        self.resource = resource
        self.used = used
        self.most = most
    }
}

extension BudgetUse: WireRecord {
    package func addEntries(to entries: inout some WireEntries) {
        entries.add("resource", resource)
        entries.add("used", used)
        entries.add("most", most)
        if let user { entries.add("user", user) }
    }

    init(_ fields: WireFields) throws(BrokerError) {
        self.init(
            user: fields.has("user") ? UInt32(clamping: try fields.uint64("user")) : nil,
            resource: try fields.string("resource"), used: try fields.uint64("used"), most: try fields.uint64("most"))
    }
}
