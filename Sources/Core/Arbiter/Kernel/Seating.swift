import Vocabulary

/// Decides who has which camera, for cameras that depend on each other: from looks to one ruling a session.
///
/// Pure: all input is copied in, and nothing is carried out here. A seat is a camera that is controlled; the sessions
/// that may watch it are found when all seats are taken.
///
///     looks ──▶ bids: who speaks for each app, control before watching
///           ──▶ succession: a better session of the same app, or one that wants control, takes the seat; a new round
///           ──▶ seats of holders and promises ──▶ challengers, strongest first ──▶ who watches, what can be opened
struct Seating {
    private(set) var policy: CompiledPolicy
    private(set) var now = Moment.zero
    private(set) var occasion = Occasion()
    var looks: [Look] = []
    var cameras: [Stage] = []
    var rulings: [Ruling] = []
    var seats: [Seat] = []
    /// The bids without a seat, the strongest first.
    var challengers: [Bid] = []
    /// The looks in the order of their sessions' ids, whatever their cameras.
    private(set) var order: [Int] = []
    /// A session followed in its app's own place: nothing else was decided in this round.
    private(set) var isSuccession = false
    /// A newcomer took its own app's place, a bid lost its place while its device was lost, or a seat does not fit
    /// beside a stronger app: the next round weighs the bids again.
    var weighsAgain = false
    /// The seats in the way of the present challenger, and its comparison with each.
    var rivals: [Int] = []
    var comparisons: [Comparison] = []
    /// The present challenger is free of the budget, and would not fit it.
    var exceeds = false
    /// Looks that a ruling had to beat, or lost to, by look; gathered only for `explain`.
    var opponents: [Int: [Int]] = [:]

    /// The circumstances that make some bids special in a step.
    struct Occasion {
        /// The step is observed, for `explain`: opponents are gathered.
        var isObserved = false
        /// Another policy was just loaded: cameras that it excludes may be held side by side.
        var isReload = false
        /// The session whose `startRunning` this is: the only session that can be refused.
        var starter: Slot<Session>?
        /// The session that asks for control of a camera it watches: decided like a start.
        var asker: Slot<Session>?
        /// The sharer whose batch takes control of its camera.
        var committer: Slot<Session>?
    }

    /// The parts of a camera's row that its next holder depends on: a whole row would be copied in every round.
    struct Stage {
        let slot: Slot<Camera>
        let place: Int8
        let looks: Range<Int>
        /// The holder left in this step, and the camera goes on for the next one.
        let isPassing: Bool
        /// The tenancy's holder, unless it left in this step.
        let held: Held?
        let holder: Slot<Session>?
        let promise: Camera.Promise?
        let isCapturing, isStreaming, isLost, isBeingCut, isStuck: Bool
        /// A grant from before the broker's restart still captures.
        let hasSurvivor: Bool
        /// The app that held the camera before the restart, which has to wait, too, where the camera is closed: for a
        /// survivor.
        var keptFor: AppRef?
        var isClosed: Bool
        /// The device or recorder failed a moment ago.
        var backsOff = false
        /// The bid that will take the camera from its holder.
        var next: Contest?

        init(_ slot: Slot<Camera>, _ camera: Camera, looks: Range<Int>, isPassing: Bool) {
            self.slot = slot
            self.looks = looks
            self.isPassing = isPassing
            place = camera.place
            let tenancy = camera.tenancy
            held = isPassing ? nil : tenancy.held
            holder = held?.session
            promise = camera.promise
            (isCapturing, isStreaming, isLost) = (tenancy.isCapturing, tenancy.isStreaming, tenancy.isLost)
            (isBeingCut, hasSurvivor, isStuck) = (tenancy.cut != nil, tenancy.survivor != nil, camera.isStuck)
            isClosed = hasSurvivor
        }

        /// The bid that the holder, or the promised session, has to make way for.
        var contest: Contest? { held?.contest ?? promise?.contest }
    }

    /// A camera with a session on it or a bid for it.
    struct Seat {
        enum Kind {
            /// The holder's, streaming or not.
            case held
            /// Of a holder or winner whose device was lost: until the device is tried again the seat counts on no other
            /// camera.
            case dormant
            /// Won before; it waits for a cut or for the device.
            case promised
            /// Won in this look.
            case won
            /// Free, but kept: a stronger bid waits for it and is not passed over.
            case kept
        }

        var kind: Kind
        /// Indexes of the seat's look, and of the camera.
        let look: Int
        let camera: Int
        /// The rule that gave the seat to its session.
        var rule: Rule
        /// Its session was let in beyond the budget, as the strongest app's.
        var exceeds = false

        var isTaken: Bool { kind != .kept }
        /// The seat counts on other cameras, too.
        var counts: Bool { kind != .kept && kind != .dormant }
    }

    /// The outcome of one session in this round.
    struct Ruling {
        enum Kind {
            /// Not decided: an earlier camera's succession comes first.
            case undecided
            /// The session's causes leave it no access.
            case barred
            case holds
            /// The session has its camera from now on: opened, or passed on in place.
            case gets
            /// The session has won, and waits for a cut or a device.
            case comesNext
            case waits
            /// Stopped for good: another app, or another session of its own app, took the place.
            case evicted, replaced
        }

        var kind = Kind.undecided
        var rule = Rule.law(.noOtherBid)
        /// Index of the look that it lost to; negative: none.
        var opponent = -1
        var interrupter: AppRef?
        /// The session has won, and only waits for the holder's time.
        var isWinning = false
        /// The session watches beside the holder meanwhile.
        var watches = false

        var isStopped: Bool { kind == .evicted || kind == .replaced }
        var keepsItsCamera: Bool { kind == .holds || kind == .gets || kind == .undecided }
    }

    init(_ policy: CompiledPolicy) { self.policy = policy }

    /// Forgets the round before, and keeps the memory.
    mutating func begin(_ policy: CompiledPolicy, now: Moment, _ occasion: Occasion) {
        (self.policy, self.now, self.occasion) = (policy, now, occasion)
        looks.clear()
        cameras.clear()
        rulings.clear()
        seats.clear()
        challengers.clear()
        order.clear()
        weighsAgain = false
        if !opponents.isEmpty { opponents = [:] }
    }

    mutating func decide() {
        order.append(contentsOf: looks.indices)
        if cameras.count > 1 { order = order.sorted { looks[$0].id < looks[$1].id } }
        if policy.hasConflicts { keepSurvivorsNeighboursFree() }
        for camera in cameras.indices { noteContenders(on: camera) }
        for camera in cameras.indices { succeed(on: camera) }
        isSuccession = !seats.isEmpty
        if !isSuccession { seatAll() }
        open()
        seatSharers()
    }

    private mutating func seatAll() {
        for camera in cameras.indices { bid(on: camera) }
        if isOverspent() || occasion.isReload && policy.linksCameras { expel() }
        giveWayToStrongest()
        challengers.sort()
        for bid in challengers {
            seat(bid.look)
            // A place that is lost when its device is tried again puts nobody first any more.
            if bid.returns, rulings[bid.look].kind == .waits { weighsAgain = true }
        }
        giveWayToStrongest()
        if policy.shares { for camera in cameras.indices { ruleWatchers(on: camera) } }
    }

    /// A bid has to be weighed against this round's changes, or the obstacle that its notice names is gone.
    var needsAnotherRound: Bool {
        isSuccession || weighsAgain || seats.contains { $0.kind == .won && $0.exceeds } || isBeyondBudget
            || namesLosers
    }

    // MARK: Rulings

    mutating func rule(_ look: Int, _ kind: Ruling.Kind, _ rule: Rule) {
        rulings[look] = Ruling(kind: kind, rule: rule)
    }

    mutating func lose(_ look: Int, _ kind: Ruling.Kind = .waits, to opponent: Int?, _ rule: Rule) {
        rulings[look] = Ruling(
            kind: kind, rule: rule, opponent: opponent ?? -1, interrupter: opponent.map { looks[$0].app })
    }

    mutating func sit(_ look: Int, on camera: Int, _ kind: Seat.Kind, _ rule: Rule, exceeds: Bool) {
        self.rule(look, isHolder(look, on: camera) ? .holds : .comesNext, rule)
        seats.append(Seat(kind: kind, look: look, camera: camera, rule: rule, exceeds: exceeds))
    }

    /// A bid with its sort keys: a comparison that reads looks would copy the whole seating each time.
    struct Bid: Comparable, BitwiseCopyable {
        /// The session has its camera or won it before, and its device is to be tried again.
        let returns: Bool
        let coolsDown: Bool
        let standing: Look.Standing
        let look: Int

        init(_ look: Look, at place: Int, returns: Bool = false) {
            (self.returns, coolsDown, standing) = (returns, look.coolsDown, look.standing)
            self.look = place
        }

        /// A bid that was just cut does not come before waiting bids.
        static func < (a: Bid, b: Bid) -> Bool {
            if a.returns != b.returns { return a.returns }
            return a.coolsDown != b.coolsDown ? b.coolsDown : a.standing < b.standing
        }
    }

    /// The first contending look of a camera, in that order, that fulfils a condition.
    func strongest(on camera: Int, where isMeant: (Int) -> Bool = { _ in true }) -> Int? {
        var best: Bid?
        for look in cameras[camera].looks where looks[look].contends && isMeant(look) {
            let bid = Bid(looks[look], at: look)
            if best.map({ bid < $0 }) ?? true { best = bid }
        }
        return best?.look
    }

    /// The look of a camera's holder, or of the session that it is promised to.
    func look(of session: Slot<Session>?, on camera: Int) -> Int? {
        session == nil ? nil : cameras[camera].looks.first { looks[$0].session == session }
    }

    func holder(on camera: Int) -> Int? { look(of: cameras[camera].holder, on: camera) }
    func isHolder(_ look: Int, on camera: Int) -> Bool { cameras[camera].holder == looks[look].session }
    func isHolder(_ seat: Seat) -> Bool { isHolder(seat.look, on: seat.camera) }
}
