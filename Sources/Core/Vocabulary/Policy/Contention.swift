/// "Who wins when bids meet?"
public struct Contention: Hashable, Sendable {
    /// Compared left to right between bids of one rank.
    public var order: [OrderKey]
    public var tie: Tie
    public var sameApp: SameApp
    /// Between two cameras of one app that cannot run beside each other.
    public var ownConflict: OwnConflict
    public var newcomer: Newcomer
    public var loser: Loser
    public var sharing: Sharing
    /// The sessions that share the holder's camera, where cameras are shared.
    public var shareWith: ShareWith
    /// The format of a shared camera.
    public var serve: Serve
    /// The most that a sharer may do beside the holder.
    public var sharers: Access
    public var reDecide: ReDecide
    /// The time for which an expired or evicted app ranks after all that wait.
    public var coolDown: Duration
    /// The sum of the held cameras' costs stays at or below it; `nil`: no budget.
    public var budget: Int?
    /// The holder that goes when the budget is short.
    public var givesWay: GivesWay
    /// The strongest app may exceed the budget.
    public var strongestMayExceed: Bool
    /// A weaker waiter may be served while a stronger one still lacks budget or a conflicting camera.
    public var backfill: Bool

    public enum OrderKey: Hashable, Sendable {
        case focused, foreground, recording, newest, oldest, operatorChosen
        /// The stronger value of an attribute that the policy declares.
        case attribute(String)

        /// All but the attributes, which are the policy's own.
        public static let builtIn: [OrderKey] = [.focused, .foreground, .recording, .newest, .oldest, .operatorChosen]

        /// As a policy file writes it.
        public var name: String {
            switch self {
            case .focused: "focused"
            case .foreground: "foreground"
            case .recording: "recording"
            case .newest: "newest"
            case .oldest: "oldest"
            case .operatorChosen: "operator"
            case .attribute(let name): name
            }
        }
    }
    public enum Tie: String, Hashable, Sendable, CaseIterable { case newcomer, holder }
    public enum SameApp: String, Hashable, Sendable, CaseIterable {
        /// The older session waits, and runs again when the newer one stops.
        case newest
        /// The older session is stopped for good.
        case replace
        /// The newer session's start is refused.
        case refuse
    }
    public enum OwnConflict: String, Hashable, Sendable, CaseIterable { case contend, refuse }
    public enum GivesWay: String, Hashable, Sendable, CaseIterable {
        /// As few as possible, the weakest first; the newcomer has to beat them all.
        case weakest
        /// One after another that the newcomer beats, the longest held first.
        case longestHeld = "longest-held"
    }
    public enum Newcomer: String, Hashable, Sendable, CaseIterable { case queue, refuse }
    public enum Loser: String, Hashable, Sendable, CaseIterable { case interrupt, evict }
    public enum Sharing: String, Hashable, Sendable, CaseIterable {
        case none
        /// Control goes to the session that commits a configuration last.
        case all
        /// Control is contended for, as where cameras are not shared.
        case readOnly = "read-only"
    }
    /// The wish that a shared camera's format serves: of the holder, and of the sharers beside it.
    public enum Serve: String, Hashable, Sendable, CaseIterable {
        case holder
        /// The most pixels.
        case largest
        /// The highest frame rate.
        case fastest
    }
    public enum ShareWith: String, Hashable, Sendable, CaseIterable {
        /// Sessions of the holder's user.
        case user
        case everyone
    }
    public enum ReDecide: String, Hashable, Sendable, CaseIterable { case facts, open }

    /// The contention of a policy without the table.
    public init() { self.init(order: []) }

    package init(
        order: [OrderKey] = [], tie: Tie = .holder, sameApp: SameApp = .newest, ownConflict: OwnConflict = .contend,
        newcomer: Newcomer = .queue, loser: Loser = .interrupt, sharing: Sharing = .none, shareWith: ShareWith = .user,
        serve: Serve = .holder, sharers: Access = .sharer,
        reDecide: ReDecide = .facts, coolDown: Duration = .seconds(10), budget: Int? = nil,
        givesWay: GivesWay = .weakest, strongestMayExceed: Bool = false, backfill: Bool = false
    ) {
        (self.order, self.tie, self.sameApp, self.ownConflict) = (order, tie, sameApp, ownConflict)
        (self.newcomer, self.loser, self.sharing, self.shareWith) = (newcomer, loser, sharing, shareWith)
        (self.serve, self.sharers) = (serve, sharers)
        (self.reDecide, self.coolDown, self.budget, self.givesWay) = (reDecide, coolDown, budget, givesWay)
        (self.strongestMayExceed, self.backfill) = (strongestMayExceed, backfill)
    }
}
