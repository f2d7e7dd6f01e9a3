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
    var looks: [Look] = []
    var cameras: [Stage] = []
    private(set) var occasion = Occasion()

    var rulings: [Ruling] = []
    /// Of each camera that stays held: the bid that will take it.
    var contests: [Contest?] = []
    var seats: [Seat] = []
    /// Some session followed in its app's own place: nothing else was decided in this round.
    private(set) var isSuccession = false
    /// A newcomer took its own app's place: it is weighed against waiting bids in the next round.
    var takesOwnPlace = false
    /// The strongest app took a seat beyond the budget: the bids that were looked at before are weighed against it in the next
    /// round.
    var takesBeyondBudget: Bool { seats.contains { $0.kind == .won && $0.exceeds } }
    /// The looks in the order of their sessions' ids, whatever their cameras.
    private(set) var order: [Int] = []
    private var challengers: [Int] = []
    private var returning: [Int] = []
    private var sorting: [SortKey] = []
    /// Of the challenger that is looked at: the seats in its way, and how it stands against each.
    var rivals: [Int] = []
    var comparisons: [Comparison] = []
    /// The budget does not bind it, and it would not fit.
    var exceeds = false
    /// Which looks a ruling had to beat, or lost to, by look; gathered only where `explain` will ask.
    private(set) var opponents: [Int: [Int]] = [:]

    /// What makes some of the bids special in this step.
    struct Occasion {
        /// The session whose `startRunning` this is, or that asks for control: decided as newcomers are.
        var starter: Slot<Session>?
        var asker: Slot<Session>?
        /// Another policy was just loaded: cameras that it excludes may be held side by side.
        var isReload = false
        /// `explain` will ask: opponents are gathered.
        var isObserved = false
    }

    /// One of the cameras, as far as its next holder depends on it, and the looks of the sessions that ask for it. Its
    /// row is not kept whole: a round reads its stages all the time, and would copy it each time.
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
        /// Kept for the app that held it before the broker restarted.
        var reservation: AppRef?
        /// A grant of before the restart is still captured for.
        let hasSurvivor: Bool
        /// Whose survivor keeps everybody from the camera: one on it, or on a camera that it excludes.
        var survivorsApp: AppRef?
        /// Its device or recorder failed a moment ago.
        var backsOff = false

        init(_ slot: Slot<Camera>, _ camera: Camera, looks: Range<Int>, isPassing: Bool) {
            self.slot = slot
            self.looks = looks
            self.isPassing = isPassing
            place = camera.place
            held = isPassing ? nil : camera.tenancy.held
            holder = held?.session
            promise = camera.promise
            isCapturing = camera.tenancy.isCapturing
            isStreaming = camera.tenancy.isStreaming
            isLost = camera.tenancy.isLost
            isBeingCut = camera.tenancy.cut != nil
            isStuck = camera.isStuck
            hasSurvivor = camera.tenancy.survivor != nil
        }

        /// The bid that its holder, or the session that it is promised to, has to make way for.
        var contest: Contest? { held?.contest ?? promise?.contest }
    }

    /// A camera that is spoken for.
    struct Seat {
        enum Kind {
            /// Its holder's, streaming or not.
            case held
            /// Its holder's or its winner's, on a camera whose device or recorder was lost: until that is tried again it counts
            /// for nothing on other cameras.
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

        var hasLost: Bool { kind == .waits && !isWinning || kind == .evicted || kind == .replaced }
        var keepsItsCamera: Bool { kind == .holds || kind == .gets || kind == .undecided }
    }

    init(_ policy: CompiledPolicy) { self.policy = policy }

    /// Forgets the round before, and keeps its memory.
    mutating func begin(_ policy: CompiledPolicy, now: Moment, _ occasion: Occasion) {
        self.policy = policy
        self.now = now
        self.occasion = occasion
        looks.clear()
        cameras.clear()
        rulings.clear()
        contests.clear()
        seats.clear()
        order.clear()
        isSuccession = false
        takesOwnPlace = false
        if !opponents.isEmpty { opponents = [:] }
    }

    @inline(__always) mutating func add(_ look: Look) {
        looks.append(look)
        rulings.append(Ruling())
    }

    /// A camera, after the looks of the sessions that ask for it.
    mutating func add(_ stage: Stage) {
        cameras.append(stage)
        contests.append(nil)
    }

    mutating func decide() {
        order.append(contentsOf: looks.indices)
        if cameras.count > 1 { order = order.sorted { looks[$0].id < looks[$1].id } }
        if policy.hasConflicts { keepSurvivorsNeighboursFree() }
        for camera in cameras.indices { noteContenders(on: camera) }
        for camera in cameras.indices { succeed(on: camera) }
        if !seats.isEmpty {
            isSuccession = true
            open()
            letPredecessorsWatch()
            return
        }
        // Taken out, so that they may be filled and gone through while the rest is changed.
        var (challengers, returning): ([Int], [Int]) = ([], [])
        swap(&challengers, &self.challengers)
        swap(&returning, &self.returning)
        for camera in cameras.indices { bid(on: camera, &challengers, &returning) }
        if isOverspent() || occasion.isReload && policy.linksCameras { expel() }
        giveWayToStrongest()
        sort(&returning)
        for look in returning { seat(look, returns: true) }
        sort(&challengers)
        for look in challengers { seat(look, returns: false) }
        warnBeyondBudget()
        challengers.removeAll(keepingCapacity: true)
        returning.removeAll(keepingCapacity: true)
        swap(&challengers, &self.challengers)
        swap(&returning, &self.returning)
        for camera in cameras.indices { ruleWatchers(on: camera) }
        open()
        seatSharers()
    }

    // MARK: Rulings

    mutating func rule(_ look: Int, _ kind: Ruling.Kind, _ rule: Rule) {
        rulings[look] = Ruling(kind: kind, rule: rule)
    }

    mutating func lose(_ look: Int, _ kind: Ruling.Kind = .waits, to opponent: Int?, _ rule: Rule) {
        var ruling = Ruling(kind: kind, rule: rule)
        if let opponent {
            ruling.opponent = opponent
            ruling.interrupter = looks[opponent].app
        }
        rulings[look] = ruling
    }

    /// For `explain`: which looks a bid had to beat.
    mutating func noteOpponents(_ rivals: [Int], of look: Int) {
        if occasion.isObserved { opponents[look] = rivals.map { seats[$0].look } }
    }

    /// Strongest first. By keys: a comparison that reads looks would copy the whole seating each time.
    private mutating func sort(_ bids: inout [Int]) {
        guard bids.count > 1 else { return }
        for look in bids { sorting.append(SortKey(looks[look], at: look)) }
        sorting.sort()
        for place in bids.indices { bids[place] = sorting[place].look }
        sorting.removeAll(keepingCapacity: true)
    }

    private struct SortKey: Comparable, BitwiseCopyable {
        let coolsDown: Bool
        let standing: Look.Standing
        let look: Int

        init(_ look: Look, at place: Int) {
            (coolsDown, standing) = (look.coolsDown, look.standing)
            self.look = place
        }

        /// A bid that was just cut does not come before those that waited.
        static func < (a: SortKey, b: SortKey) -> Bool {
            a.coolsDown != b.coolsDown ? b.coolsDown : a.standing < b.standing
        }
    }

    /// The first of the looks that contend on a camera, in that order, and fulfil a condition.
    func strongest(on camera: Int, where isMeant: (Int) -> Bool = { _ in true }) -> Int? {
        var best: SortKey?
        for look in cameras[camera].looks where looks[look].contends && isMeant(look) {
            let key = SortKey(looks[look], at: look)
            if best.map({ key < $0 }) ?? true { best = key }
        }
        return best?.look
    }

    /// The look of the session that holds a camera, or is promised it.
    func look(of session: Slot<Session>, on camera: Int) -> Int? {
        cameras[camera].looks.first { looks[$0].session == session }
    }
}

extension Array {
    /// Of a few plain values, quicker than replacing them by none.
    mutating func clear() {
        if count > 8 { return removeAll(keepingCapacity: true) }
        while !isEmpty { removeLast() }
    }
}
