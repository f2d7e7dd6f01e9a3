import Vocabulary

/// How strong a claim is: everything that comparing two claims reads.
struct Standing: Hashable, Sendable {
    var rank: RankRule
    var started: Ordinal
    /// Behind everybody who waits, for a while.
    var coolsDown: Bool
    /// It leaves control to others, where the policy shares cameras.
    var watches = false
}

/// A session that may run now, and asks to. Behind a reference, because a look at a camera hands it round a great
/// deal; it never changes.
final class Claim: Sendable {
    let session: SessionID
    let app: AppID
    let camera: CameraID
    let facts: Facts
    let standing: Standing
    let claimed: Ordinal

    init(session: SessionID, app: AppID, camera: CameraID, facts: Facts, standing: Standing, claimed: Ordinal) {
        self.session = session
        self.app = app
        self.camera = camera
        self.facts = facts
        self.standing = standing
        self.claimed = claimed
    }
}

/// What comparing two claims came to, and by which rule.
struct Comparison: Hashable, Sendable {
    var winner: Winner
    var rule: String
    enum Winner: Hashable, Sendable {
        case first, second
        /// The rank and the order list do not tell them apart.
        case tie
    }
}

extension Policy {
    /// Ranks first, then the order list from left to right. Cool-down comes before both: who was just
    /// sent away does not come back before those who waited. On a camera that is shared, control comes before
    /// all of it.
    func compare(_ a: Claim, _ b: Claim) -> Comparison {
        // Who only watches loses nothing to one who controls.
        if a.standing.watches != b.standing.watches, a.facts.camera == b.facts.camera {
            return Comparison(winner: a.standing.watches ? .second : .first, rule: Arbiter.controlBeforeWatching)
        }
        if a.standing.coolsDown != b.standing.coolsDown {
            return Comparison(winner: a.standing.coolsDown ? .second : .first, rule: "cool-down")
        }
        if a.standing.rank.rank != b.standing.rank.rank {
            let first = a.standing.rank.rank < b.standing.rank.rank
            return Comparison(
                winner: first ? .first : .second, rule: first ? a.standing.rank.name : b.standing.rank.name)
        }
        for key in contention.order {
            let (x, y): (Bool, Bool)
            switch key {
            case .focused: (x, y) = (a.facts.isFocused, b.facts.isFocused)
            case .foreground: (x, y) = (a.facts.presence.isForeground, b.facts.presence.isForeground)
            case .recording: (x, y) = (a.facts.isRecording, b.facts.isRecording)
            case .operatorChosen: (x, y) = (a.facts.operatorChosen, b.facts.operatorChosen)
            case .newest: (x, y) = (a.standing.started > b.standing.started, b.standing.started > a.standing.started)
            case .oldest: (x, y) = (a.standing.started < b.standing.started, b.standing.started < a.standing.started)
            case .attribute(let name):
                // One that the policy lacks tells nobody apart; a file with such an order is refused.
                let (first, second) = (a.facts.attribute(name)?.place ?? 0, b.facts.attribute(name)?.place ?? 0)
                (x, y) = (first < second, second < first)
            }
            if x != y { return Comparison(winner: x ? .first : .second, rule: key.rule) }
        }
        return Comparison(winner: .tie, rule: contention.tie.rule)
    }
}

extension Claim {
    func compare(_ other: Claim, under policy: Policy) -> Comparison {
        policy.compare(self, other)
    }

    /// Among those who wait: the policy's order, then the earliest start request.
    func comesBefore(_ other: Claim, under policy: Policy) -> Bool {
        switch compare(other, under: policy).winner {
        case .first: true
        case .second: false
        case .tie: standing.started < other.standing.started
        }
    }
}

// Spelled out, so that comparing puts no text together.
extension Contention.OrderKey {
    fileprivate var rule: String {
        switch self {
        case .focused: "order: focused"
        case .foreground: "order: foreground"
        case .recording: "order: recording"
        case .newest: "order: newest"
        case .oldest: "order: oldest"
        case .operatorChosen: "order: operator"
        case .attribute(let name): "order: \(name)"
        }
    }
}

extension Contention.Tie {
    fileprivate var rule: String {
        switch self {
        case .newcomer: "tie: newcomer"
        case .holder: "tie: holder"
        }
    }
}
