import Arbiter
import ArbiterProtocol
import ReferenceArbiter

/// Any policy value, said in the naive arbiter's words: rules are read from the top, and the first one that matches
/// answers. The real arbiter's own reading of rules is not asked.
struct PolicyAsHouse: HousePolicy {
    let policy: Policy
    let contention: HouseContention
    let cameras: [HouseCamera]
    let scales: [HouseScale]
    let modes: [HouseMode]
    let rights: HouseRights

    init(_ policy: Policy) {
        self.policy = policy
        contention = HouseContention(policy.contention)
        rights = HouseRights(policy.rights)
        cameras = policy.cameras.map { rule in
            HouseCamera(
                camera: rule.camera, conflicts: rule.conflicts, cost: rule.cost.other,
                costs: rule.cost.formats.map {
                    (
                        width: $0.width, height: $0.height, frameRate: $0.frameRate, pixelFormat: $0.pixelFormat,
                        cost: $0.cost
                    )
                })
        }
        scales = policy.attributes.map { (name: $0.name, values: $0.values, unknown: $0.defaultValue) }
        modes = policy.modes.map { (name: $0.name, setBy: $0.setBy.map(\.rawValue)) }
    }

    var believed: [PresenceSource] { policy.sources }
    var pressureSettle: Duration { policy.pressureSettle }
    var ranks: [String] { policy.ranks }

    func limits(_ sight: Sight) -> [Limit] {
        CauseRule.causes.compactMap { cause -> Limit? in
            let rule = policy.causeRules.first { $0.cause == cause && $0.when.allSatisfy(sight.passes) }
            // A rule that leaves everything exempts the sessions it matches.
            return rule.flatMap { $0.access == .all ? nil : (cause: cause, access: $0.access) }
        }
    }

    func manners(_ sight: Sight) -> Manners {
        guard let rule = policy.rankRules.first(where: { $0.when.allSatisfy(sight.passes) }) else {
            return Manners(rank: policy.ranks.count - 1)
        }
        return Manners(
            rank: rule.rank, denies: rule.deny, isImmediate: rule.isImmediate, grace: rule.grace,
            protection: rule.minHold, lease: rule.lease)
    }

    func order(_ sight: Sight, started: Int) -> [Int] {
        policy.contention.order.map { key in
            switch key {
            case .focused: sight.isFocused ? 0 : 1
            case .foreground: sight.presence.isForeground ? 0 : 1
            case .recording: sight.isRecording ? 0 : 1
            case .operatorChosen: sight.isOperatorsChoice ? 0 : 1
            case .newest: -started
            case .oldest: started
            // One that the policy does not declare tells nobody apart.
            case .attribute(let name): sight.values[name]?.place ?? 0
            }
        }
    }
}

extension HouseRights {
    fileprivate init(_ rights: Rights) {
        self.init()
        seat = rights.seat
        users = rights.users.compactMap(\.number)
        groups = rights.groups.compactMap(\.number)
        services = rights.services
        onlyStrong = rights.identity == .strong
        asks = rights.apps == .ask
    }
}

extension HouseContention {
    fileprivate init(_ contention: Contention) {
        self.init()
        tie = contention.tie == .newcomer ? .newcomer : .holder
        switch contention.sameApp {
        case .newest: sameApp = .newest
        case .replace: sameApp = .replace
        case .refuse: sameApp = .refuse
        }
        refusesOwnConflict = contention.ownConflict == .refuse
        refusesNewcomers = contention.newcomer == .refuse
        evictsLosers = contention.loser == .evict
        shares = contention.sharing != .none
        sharesWithEveryone = contention.shareWith == .everyone
        decidesAtOpen = contention.reDecide == .open
        prefersOldest = contention.order.first { $0 == .newest || $0 == .oldest } == .oldest
        coolDown = contention.coolDown
        budget = contention.budget
        givesWay = contention.givesWay == .weakest ? .weakest : .longestHeld
        strongestMayExceed = contention.strongestMayExceed
        backfill = contention.backfill
    }
}

extension Sight {
    fileprivate func passes(_ test: FactTest) -> Bool {
        switch test {
        case .app(let name): app == name
        case .claimedApp(let name): claimedApp == name
        case .user(let id): user == id
        case .loginSession(let state): login.rawValue == state.rawValue
        case .foreground(let inFront): presence.isForeground == inFront
        case .layout(let layout): presence == .foreground(layout)
        case .focused(let focused): isFocused == focused
        case .foregroundApps(let count): appsInFront.rawValue == count.rawValue
        case .client(let wanted): kind == wanted
        case .multitasking(let optedIn): multitasking == optedIn
        case .camera(let id): camera == id
        case .position(let wanted): position == wanted
        case .usesAudio(let uses): usesAudio == uses
        case .microphoneTaken(let taken): microphoneTaken == taken
        case .pressure(let level): pressure >= level
        case .recording(let recording): isRecording == recording
        case .bidIsNew(let wanted): isNew == wanted
        case .operatorChosen(let chosen): isOperatorsChoice == chosen
        case .attribute(let name, let value): values[name]?.name == value
        case .mode(let name): mode == name
        }
    }
}
