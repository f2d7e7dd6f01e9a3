package import Vocabulary

/// A place in the order of events: requests, bids and grants are compared by it.
package typealias Ordinal = UInt64

/// The vouched name of a user is one app; all clients that claim the name are another (semantics.md §1).
package struct AppRef: Hashable, Sendable, Codable, BitwiseCopyable {
    package var slot: Slot<App>
    /// Tells a freed row from the app that has it later.
    var generation: UInt16
    package var isClaimed: Bool

    /// The same name and user, vouched for or claimed.
    func isOfSameName(as other: AppRef?) -> Bool { slot == other?.slot && generation == other?.generation }
}

/// One connection, as far as decisions need it.
package struct Client: Sendable, Codable, BitwiseCopyable {
    package let id: UInt64
    package var app: AppRef
    package var login: Slot<Login>?
    package var kind = Kind.app
    package var multitasking = false
    package var requiresFullScreen = false
    /// The weaker rank that the client took for itself, as far as the policy in force has one of that name.
    package var loweredRank: UInt8?
    /// The client took a weaker rank or attribute, by whatever name.
    package var hasLoweredItself = false
    /// In the order of their creation.
    package var firstSession: Slot<Session>?
    /// Of the same app, in the order of their ids.
    package var nextOfApp: Slot<Client>?
    /// Its names and user, as numbers of the policy's rules.
    var who: UInt64 = 0
    package let marks: Marks
    /// Where the client may use cameras: updated when a fact behind it changes.
    package var right = Right()

    /// The kernel's facts about the client, beside its app and its login session.
    package struct Marks: OptionSet, Hashable, Sendable, Codable, BitwiseCopyable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let weak = Marks(rawValue: 1)
        /// The broker is its user's own.
        static let own = Marks(rawValue: 2)
        /// No source reports its login session: its user counts as sitting at every seat.
        static let sits = Marks(rawValue: 4)
    }

    package enum Kind: UInt8, Sendable, Codable, BitwiseCopyable {
        case app, picker, voip

        init(_ kind: ClientKind) { self = Kind(rawValue: UInt8(kind.code)) ?? .app }
        package var word: ClientKind { ClientKind.allCases[Int(rawValue)] }
    }
}

/// A client's attributes in words. No decision reads them: they become bits at once, and when a policy is loaded.
package struct ClientTexts: Hashable, Sendable, Codable {
    package var claimedApp: String?
    /// By name: a reloaded policy may lack it, then it counts for nothing.
    package var loweredTo: String?
    package var loweredAttributes = AttributeValues()
    /// The groups of its process, sorted, for its right.
    package var groups: [UInt32] = []
}
