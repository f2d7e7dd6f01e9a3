import Vocabulary

/// Decides who has which of some cameras that depend on each other: from looks to one ruling a session.
///
/// Pure: what it reads was put in, and nothing is carried out here. A camera is a seat that controls; who else may watch it
/// is found when all seats are taken.
///
///     looks ──▶ bids: who speaks for each app, control before watching
///           ──▶ succession: an app's better session, or who wants control, takes its own seat over; then a new round
///           ──▶ seats of holders and promises ──▶ challengers, strongest first ──▶ who watches, what can be opened
struct Seating {
    let policy: CompiledPolicy
    let now: Moment
    let looks: [Look]
    let cameras: [Stage]
    let occasion: Occasion

    var rulings: [Ruling]
    /// Of each camera: those whose claims count on it, in the order of their ids.
    var contending: [[Int]]
    /// Of each camera that stays held: the claim that will take it.
    var contests: [Contest?]
    var seats: [Seat] = []
    /// Some session followed in its app's own place: nothing else was decided in this round.
    private(set) var isSuccession = false
    /// Who a ruling had to beat, or lost to, by look; gathered only where `explain` will ask.
    private(set) var opponents: [Int: [Int]] = [:]

    /// What makes some of the claims special in this step.
    struct Occasion {
        /// The session whose `startRunning` this is, or that asks for control: decided as newcomers are.
        var starter: Slot<Session>?
        var asker: Slot<Session>?
        /// A policy was just loaded: cameras that it excludes may be held side by side.
        var isReload = false
        /// `explain` will ask: opponents are gathered.
        var isObserved = false
    }

    /// One of the cameras, as it stands, and the looks of those who ask for it.
    struct Stage {
        let slot: Slot<Camera>
        let camera: Camera
        let looks: Range<Int>
        /// Kept for the app that held it before the broker restarted.
        var reservation: AppRef?
        /// Its device or recorder failed a moment ago.
        var backsOff = false
        /// Its holder left in this step, and it goes on for who follows.
        var isPassing = false

        var held: Held? { isPassing ? nil : camera.tenancy.held }
    }

    /// A camera that is spoken for.
    struct Seat {
        enum Kind {
            /// Its holder's, streaming or not.
            case held
            /// Its holder's, whose device or recorder was lost: on other cameras it counts for nothing.
            case dormant
            /// Won before, and waiting for a cut or for the device.
            case promised
            /// Won in this look.
            case won
            /// Nobody's: a stronger claim waits for it that is not passed over.
            case kept
        }

        var kind: Kind
        /// Indexes of the look that sits there, and of the camera.
        let look: Int
        let camera: Int
        /// What gave it to who sits there.
        var rule: Rule
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
        var rule = Rule.law(.noOtherClaim)
        /// Whom it lost to, as an index of a look; negative: nobody.
        var opponent = -1
        var interrupter: AppRef?
        /// It has won, and only waits for the holder's time.
        var isWinning = false
        /// It watches beside the holder meanwhile.
        var watches = false

        var keepsItsCamera: Bool { kind == .holds || kind == .gets || kind == .undecided }
    }

    init(_ policy: CompiledPolicy, now: Moment, _ looks: [Look], _ cameras: [Stage], _ occasion: Occasion) {
        self.policy = policy
        self.now = now
        self.looks = looks
        self.cameras = cameras
        self.occasion = occasion
        rulings = Array(repeating: Ruling(), count: looks.count)
        contests = Array(repeating: nil, count: cameras.count)
        contending = Array(repeating: [], count: cameras.count)
    }

    mutating func decide() {
        for camera in cameras.indices { contending[camera] = contenders(on: camera) }
        for camera in cameras.indices { succeed(on: camera) }
        if !seats.isEmpty {
            isSuccession = true
            open()
            letPredecessorsWatch()
            return
        }
        var challengers: [Int] = []
        var returning: [Int] = []
        for camera in cameras.indices { bid(on: camera, &challengers, &returning) }
        if occasion.isReload, policy.linksCameras { expel() }
        for look in sorted(returning) { seat(look, returns: true) }
        for look in sorted(challengers) { seat(look, returns: false) }
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

    mutating func note(_ others: [Int], against look: Int) {
        if occasion.isObserved { opponents[look] = others }
    }

    /// Strongest first: cool-down, then strength, then the earliest start request.
    func sorted(_ claims: [Int]) -> [Int] {
        guard claims.count > 1 else { return claims }
        return claims.sorted { a, b in
            let (x, y) = (looks[a], looks[b])
            // Who was just sent away does not come back before those who waited.
            if x.coolsDown != y.coolsDown { return y.coolsDown }
            return isStronger(x, y)
        }
    }

    func isStronger(_ a: Look, _ b: Look) -> Bool {
        if a.strength != b.strength { return a.strength < b.strength }
        return a.started != b.started ? a.started < b.started : a.id < b.id
    }

    /// The look of who holds a camera, or is promised it.
    func look(of session: Slot<Session>, on camera: Int) -> Int? {
        cameras[camera].looks.first { looks[$0].session == session }
    }
}
