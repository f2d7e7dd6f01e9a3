import ArbiterProtocol

/// How strong a claim is: everything that comparing two claims reads.
struct Standing: Hashable, Sendable {
    var rank: RankRule
    var started: Ordinal
    /// Behind everybody who waits, for a while.
    var coolsDown: Bool
    /// It leaves control to others, where the policy shares cameras.
    var watches = false
}

/// A session that may run now, and asks to.
struct Claim {
    var session: SessionID
    var app: AppID
    var camera: CameraID
    var facts: Facts
    var standing: Standing
    var claimed: Ordinal
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
    func compare(_ a: (Facts, Standing), _ b: (Facts, Standing)) -> Comparison {
        // Who only watches loses nothing to one who controls.
        if a.1.watches != b.1.watches, a.0.camera == b.0.camera {
            return Comparison(winner: a.1.watches ? .second : .first, rule: Arbiter.controlBeforeWatching)
        }
        if a.1.coolsDown != b.1.coolsDown {
            return Comparison(winner: a.1.coolsDown ? .second : .first, rule: "cool-down")
        }
        if a.1.rank.rank != b.1.rank.rank {
            let first = a.1.rank.rank < b.1.rank.rank
            return Comparison(winner: first ? .first : .second, rule: first ? a.1.rank.name : b.1.rank.name)
        }
        for key in contention.order {
            let (x, y): (Bool, Bool)
            switch key {
            case .focused: (x, y) = (a.0.isFocused, b.0.isFocused)
            case .foreground: (x, y) = (a.0.presence.isForeground, b.0.presence.isForeground)
            case .recording: (x, y) = (a.0.isRecording, b.0.isRecording)
            case .operatorChosen: (x, y) = (a.0.operatorChosen, b.0.operatorChosen)
            case .newest: (x, y) = (a.1.started > b.1.started, b.1.started > a.1.started)
            case .oldest: (x, y) = (a.1.started < b.1.started, b.1.started < a.1.started)
            case .attribute(let name):
                // One that the policy lacks tells nobody apart; a file with such an order is refused.
                let (first, second) = (a.0.attribute(name)?.place ?? 0, b.0.attribute(name)?.place ?? 0)
                (x, y) = (first < second, second < first)
            }
            if x != y { return Comparison(winner: x ? .first : .second, rule: "order: \(key.name)") }
        }
        return Comparison(winner: .tie, rule: "tie: \(contention.tie.rawValue)")
    }
}

extension Claim {
    func compare(_ other: Claim, under policy: Policy) -> Comparison {
        policy.compare((facts, standing), (other.facts, other.standing))
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
