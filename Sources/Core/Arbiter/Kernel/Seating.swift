import Vocabulary

/// Decides who has which camera, for cameras that depend on each other: from looks to one ruling a session.
///
/// Pure: what it reads was put in, and nothing is carried out here. A seat is a camera that is controlled; which
/// sessions may watch it is found when all seats are taken.
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
    /// Some session followed in its app's own place: nothing else was decided in this round.
    private(set) var isSuccession = false
    /// A newcomer took its own app's place, a bid lost the place that it had while its device was lost, or a seat does not
    /// fit beside a stronger app: the next round weighs the bids again.
    var weighsAgain = false
    /// Of the challenger that is looked at: the seats in its way, and how it stands against each.
    var rivals: [Int] = []
    var comparisons: [Comparison] = []
    /// The budget does not bind it, and it would not fit.
    var exceeds = false
    /// Which looks a ruling had to beat, or lost to, by look; gathered only where `explain` will ask.
    var opponents: [Int: [Int]] = [:]

    /// What makes some of the bids special in a step.
    struct Occasion {
        /// `explain` will ask: opponents are gathered.
        var isObserved = false
        /// Another policy was just loaded: cameras that it excludes may be held side by side.
        var isReload = false
        /// The session whose `startRunning` this is: the only one that can be refused.
        var starter: Slot<Session>?
        /// The session that asks for control of a camera it watches: decided as if it started.
        var asker: Slot<Session>?
    }

    /// What a camera's next holder depends on. Its row is not kept whole: a round would copy it all the time.
    struct Stage {
        let slot: Slot<Camera>
        let place: Int8
        let looks: Range<Int>
        /// Its holder left in this step, and the camera goes on for the next one.
        let isPassing: Bool
        /// Its tenancy's holder, unless that left in this step.
        let held: Held?
        let holder: Slot<Session>?
        let promise: Camera.Promise?
        let isCapturing, isStreaming, isLost, isBeingCut, isStuck: Bool
        /// A grant of before the broker's restart is still captured for.
        let hasSurvivor: Bool
        /// The app that held it before the restart, which has to wait, too, where the camera is closed: for a survivor.
        var keptFor: AppRef?
        var isClosed: Bool
        /// Its device or recorder failed a moment ago.
        var backsOff = false
        /// The bid that will take it from its holder.
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

        /// The bid that its holder, or the session that it is promised to, has to make way for.
        var contest: Contest? { held?.contest ?? promise?.contest }
    }

    /// A camera that is spoken for.
    struct Seat {
        enum Kind {
            /// Its holder's, streaming or not.
            case held
            /// Its holder's or its winner's whose device was lost: until that is tried again it counts on no other camera.
            case dormant
            /// Won before, and waiting for a cut or for the device.
            case promised
            /// Won in this look.
            case won
            /// Free, but kept: a stronger bid waits for it and is not passed over.
            case kept
        }

        var kind: Kind
        /// Indexes of the look that sits there, and of the camera.
        let look: Int
        let camera: Int
        /// The rule that gave it to its session.
        var rule: Rule
        /// Its session was let in beyond the budget, as the strongest app's.
        var exceeds = false

        var isTaken: Bool { kind != .kept }
        /// It counts on other cameras, too.
        var counts: Bool { kind != .kept && kind != .dormant }
    }

    /// What one session comes to in this round.
    struct Ruling {
        enum Kind {
            /// Nothing was decided: an earlier camera's succession comes first.
            case undecided
            /// Its causes leave it nothing.
            case barred
            case holds
            /// It has its camera from now on: opened, or passed to it in place.
            case gets
            /// It has won, and waits for a cut or a device.
            case comesNext
            case waits
            /// Stopped for good: its place was taken by another app, or by a session of its own.
            case evicted, replaced
        }

        var kind = Kind.undecided
        var rule = Rule.law(.noOtherBid)
        /// The look it lost to, as an index; negative: none.
        var opponent = -1
        var interrupter: AppRef?
        /// It has won, and only waits for the holder's time.
        var isWinning = false
        /// It watches beside the holder meanwhile.
        var watches = false

        /// For good.
        var isStopped: Bool { kind == .evicted || kind == .replaced }
        var keepsItsCamera: Bool { kind == .holds || kind == .gets || kind == .undecided }
    }

    init(_ policy: CompiledPolicy) { self.policy = policy }

    /// Forgets the round before, and keeps its memory.
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

    /// Some bid is to be weighed against what this round brought, or has lost the obstacle that it is told of.
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

    /// A bid by what orders it: a comparison that reads looks would copy the whole seating each time.
    struct Bid: Comparable, BitwiseCopyable {
        /// It has its camera or won it before, and its device is to be tried again.
        let returns: Bool
        let coolsDown: Bool
        let standing: Look.Standing
        let look: Int

        init(_ look: Look, at place: Int, returns: Bool = false) {
            (self.returns, coolsDown, standing) = (returns, look.coolsDown, look.standing)
            self.look = place
        }

        /// A bid that was just cut does not come before those that waited.
        static func < (a: Bid, b: Bid) -> Bool {
            if a.returns != b.returns { return a.returns }
            return a.coolsDown != b.coolsDown ? b.coolsDown : a.standing < b.standing
        }
    }

    /// The first of the looks that contend on a camera, in that order, and fulfil a condition.
    func strongest(on camera: Int, where isMeant: (Int) -> Bool = { _ in true }) -> Int? {
        var best: Bid?
        for look in cameras[camera].looks where looks[look].contends && isMeant(look) {
            let bid = Bid(looks[look], at: look)
            if best.map({ bid < $0 }) ?? true { best = bid }
        }
        return best?.look
    }

    /// The look of the session that holds a camera, or is promised it.
    func look(of session: Slot<Session>?, on camera: Int) -> Int? {
        session == nil ? nil : cameras[camera].looks.first { looks[$0].session == session }
    }

    func holder(on camera: Int) -> Int? { look(of: cameras[camera].holder, on: camera) }
    func isHolder(_ look: Int, on camera: Int) -> Bool { cameras[camera].holder == looks[look].session }
    func isHolder(_ seat: Seat) -> Bool { isHolder(seat.look, on: seat.camera) }
}
