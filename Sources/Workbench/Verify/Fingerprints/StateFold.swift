public import Arbiter
public import ArbiterProtocol

/// The apps of a small world, and which of them nothing but a name tells apart.
///
/// Two apps are of one kind when no rule names either, and their clients declare the same and want the same
/// cameras. Exchange them, and the same events lead to the same decisions about the other one: of two states
/// that are each other's mirror image, one walk is enough.
public struct FoldedCast: Sendable {
    public var apps: [(app: AppID, kind: Int)]
    /// A rule reads whether a session has held its camera since it started.
    public var readsBids: Bool
    /// States that differ in nothing but what is left of leases are told apart.
    public var countsLeases = true
    /// Some statement asks whom a session waits behind. Then nobody may stand for anybody else.
    public var tellsWhoIsInTheWay = false
    /// States that go on alike are told apart, too, by ids, by names, and by what only changes what clients are told.
    var isWhole = false

    public init(_ apps: [(app: AppID, kind: Int)], readsBids: Bool = true) {
        self.apps = apps
        self.readsBids = readsBids
    }

    /// Every app that a state speaks of, each by its name.
    fileprivate init(wholeOf state: State) {
        self.init(state.spokenApps.map { (app: state.id($0), kind: 0) })
        isWhole = true
    }

    /// Nobody stands for anybody else.
    public var unfolded: FoldedCast {
        var cast = self
        cast.apps = apps.enumerated().map { ($0.element.app, $0.offset) }
        return cast
    }
}

/// A state as a walk remembers it that folds mirror images: what concerns no app of the cast, and for each app what
/// concerns it. States that go on alike are equal.
///
/// It has neither ids nor names, nor what only changes what clients are told: names of rules, whose bid stands in the
/// way, which sessions watch, what a client heard to be in force.
public struct StateFold: Sendable {
    private var shared = Fingerprint(first: 0, second: 0)
    /// In the order of the cast.
    private var apps: [Fingerprint] = []
    private var memory = FoldMemory()

    public init() {}

    /// All of it in one: apps of one kind may be exchanged.
    /// - Parameter other: a second state of the same cast, whose apps are exchanged with this one's.
    public func fingerprint(_ cast: FoldedCast, beside other: StateFold? = nil) -> Fingerprint {
        var writer = FingerprintWriter()
        writer.combine(shared)
        if let other { writer.combine(other.shared) }
        var sum = UnorderedSum()
        for index in apps.indices {
            var one = FingerprintWriter()
            one.combine(cast.apps[index].kind)
            one.combine(apps[index])
            if let other { one.combine(other.apps[index]) }
            sum.add(one)
        }
        sum.write(into: &writer)
        return writer.finished()
    }

    /// What a caller remembers of a session or a camera besides, by its row. Given as numbers, before the state is written:
    /// a closure that has a state copies it.
    mutating func note(session row: Int, _ mark: UInt64) { memory.sessionMarks.set(row, mark) }
    mutating func note(camera row: Int, _ mark: UInt64) { memory.cameraMarks.set(row, mark) }

    fileprivate mutating func take(_ state: State, _ cast: FoldedCast) {
        memory.note(state, cast)
        var writer = FingerprintWriter()
        state.writeShared(cast, memory, into: &writer)
        shared = writer.finished()
        while apps.count < cast.apps.count { apps.append(shared) }
        for place in apps.indices {
            writer = FingerprintWriter()
            if let app = memory.apps[place] { state.write(app, cast, memory, into: &writer) }
            apps[place] = writer.finished()
        }
    }
}

extension Arbiter {
    /// Writes the state down as a fold, with what was noted of its sessions and cameras. Every app that it speaks of is in
    /// the cast.
    func fold(_ cast: FoldedCast, into fold: inout StateFold) { fold.take(state, cast) }

    /// - Parameters:
    ///   - session: what the caller remembers about a session besides.
    ///   - camera: what the caller remembers about a camera, which names no app.
    public func fold(
        _ cast: FoldedCast, into fold: inout StateFold, session: (SessionID) -> UInt64, camera: (CameraID) -> UInt64
    ) {
        for row in state.sessions.rows.indices {
            fold.note(session: row, session(SessionID(state.sessions.rows[row].id)))
        }
        for slot in state.cameraOrder { fold.note(camera: Int(slot.index), camera(state.id(slot))) }
        self.fold(cast, into: &fold)
    }

    /// What exploration remembers of a whole state: the same for two arbiters that will do the same for ever, and not
    /// otherwise.
    public func fingerprint() -> Fingerprint { fingerprint(policy.fingerprint) }

    /// - Parameter policy: of the one in force, which is the same for many states.
    func fingerprint(_ policy: Fingerprint) -> Fingerprint {
        let cast = FoldedCast(wholeOf: state)
        var fold = StateFold()
        self.fold(cast, into: &fold, session: { _ in 0 }, camera: { _ in 0 })
        var writer = FingerprintWriter()
        writer.combine(policy)
        writer.combine(fold.fingerprint(cast))
        return writer.finished()
    }
}

/// What was found out about the state folded before, and hardly ever is otherwise now.
struct FoldMemory: Sendable {
    /// Where each app of the cast is; nil: nowhere.
    private(set) var apps: [Slot<App>?] = []
    /// Those with which the apps were found.
    private var names = NameTable<AppID, App>()
    private(set) var settings = WordMemory<SessionSettings>()
    private(set) var texts = WordMemory<ClientTexts>()
    private(set) var cameras = WordMemory<CameraSettings>()
    fileprivate(set) var sessionMarks = Marks()
    fileprivate(set) var cameraMarks = Marks()
    private(set) var roles: [CameraRoles] = []
    /// When each session's start request came, by its row; `.max`: it has none.
    private(set) var requests: [Ordinal] = []

    mutating func note(_ state: State, _ cast: FoldedCast) {
        if apps.count != cast.apps.count || !state.hasApps(names) { find(cast, state) }
        settings.note(state.sessionSettings) { writer, settings in
            // What it heard to be in force changes nothing but what it is told next, and so says nothing here either.
            writer.combine(words: [settings.wanted, settings.confirmed, settings.open.batch])
            writer.combine(settings.open.depth)
        }
        texts.note(state.clientTexts) { $0.combine(words: $1) }
        cameras.note(state.cameraSettings) { writer, settings in
            writer.combine(words: settings.capabilities)
            writer.combine(words: settings.inForce)
            writer.ordered(settings.asked) { writer, asked in
                writer.combine(words: [asked.batch, asked.ordered])
                writer.combine(words: asked.by)
            }
        }
        // Taken together once: rows are large, and each session is held against all of them.
        resize(&roles, to: state.cameras.rows.count, CameraRoles())
        for index in roles.indices { roles[index] = CameraRoles(state.cameras.rows[index]) }
        resize(&requests, to: state.sessions.rows.count, .max)
        for index in requests.indices { requests[index] = state.sessions.rows[index].request?.started ?? .max }
    }

    private mutating func find(_ cast: FoldedCast, _ state: State) {
        resize(&apps, to: cast.apps.count, nil)
        for place in apps.indices {
            let app = cast.apps[place].app
            // Nearly always where it was.
            if let slot = apps[place], state.isApp(at: Int(slot.index), app) { continue }
            apps[place] = state.app(app)
        }
        names = state.appNames
    }

    private func resize<Element>(_ array: inout [Element], to count: Int, _ fresh: Element) {
        while array.count < count { array.append(fresh) }
        if array.count > count { array.removeSubrange(count...) }
    }
}

struct Marks: Sendable {
    private var marks: [UInt64] = []

    @inline(__always) subscript(row: Int) -> UInt64 { marks[row] }

    @inline(__always) mutating func set(_ row: Int, _ mark: UInt64) {
        while marks.count <= row { marks.append(0) }
        marks[row] = mark
    }
}

/// The sessions that have to do with a camera, by their rows; negative: there is none.
struct CameraRoles: BitwiseCopyable {
    var promised: Int32 = -1
    var isDormant = false
    var holder: Int32 = -1
    var beneficiary: Int32 = -1
    /// `.max`: nobody has it.
    var granted = Ordinal.max

    init() {}

    init(_ camera: borrowing Camera) {
        if let promise = camera.promise { (promised, isDormant) = (promise.session.index, promise.isDormant) }
        if let held = camera.tenancy.held { (holder, granted) = (held.session.index, held.granted) }
        if let contest = camera.contest { beneficiary = contest.beneficiary.index }
    }
}

/// The fingerprints of words, one for each row of a table. They are taken again only where the words are others.
struct WordMemory<Words: Equatable & Sendable>: Sendable {
    private var words: [Words] = []
    private var fingerprints: [UInt64] = []

    @inline(__always) subscript(row: Int32) -> UInt64 { fingerprints[Int(row)] }

    @inline(__always) mutating func note(
        _ current: borrowing [Words], _ write: (inout FingerprintWriter, Words) -> Void
    ) {
        let known = words.withUnsafeBufferPointer { $0.baseAddress }
        // Nearly always it is one array, which nobody has written to since.
        if known == current.withUnsafeBufferPointer({ $0.baseAddress }), words.count == current.count { return }
        for row in current.indices {
            if row < words.count, words[row] == current[row] { continue }
            var writer = FingerprintWriter()
            write(&writer, current[row])
            if row == fingerprints.count { fingerprints.append(0) }
            fingerprints[row] = writer.finished().first
        }
        words = copy current
    }
}
