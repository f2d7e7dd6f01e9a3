public import Arbiter
public import ArbiterProtocol

/// The symmetry of a small world: its apps, and which of them differ in nothing but a name.
///
/// Two apps are of one kind when no rule names either, and their clients declare the same and want the same cameras. With the two
/// exchanged, the same events lead to the same decisions: of two states that are mirror images, one is walked.
public struct AppSymmetry: Sendable {
    public var apps: [(app: AppID, kind: Int)]
    /// A rule reads whether a session has held its camera since it started.
    public var readsBids: Bool
    /// States that differ only in what is left of leases are distinct.
    public var countsLeases = true
    /// A statement asks whom a session waits behind, so that no app may stand for another.
    var tellsWhoIsInTheWay = false
    /// States with the same successors are distinct by ids, by names, and by what only changes notices.
    var isWhole = false

    public init(_ apps: [(app: AppID, kind: Int)], readsBids: Bool = true) {
        self.apps = apps
        self.readsBids = readsBids
    }

    fileprivate init(wholeOf state: State) {
        self.init(state.spokenApps.map { (app: state.id($0), kind: 0) })
        isWhole = true
    }

    /// Each app is of a kind of its own.
    public var withoutReduction: AppSymmetry {
        var symmetry = self
        symmetry.apps = apps.enumerated().map { ($0.element.app, $0.offset) }
        return symmetry
    }

    func under(_ statements: [Statement], isReduced: Bool, countsLeases: Bool = true) -> AppSymmetry {
        let tellsWhoIsInTheWay = statements.contains(where: \.asksWhoIsInTheWay)
        var symmetry = isReduced && !tellsWhoIsInTheWay ? self : withoutReduction
        (symmetry.tellsWhoIsInTheWay, symmetry.countsLeases) = (tellsWhoIsInTheWay, countsLeases)
        return symmetry
    }
}

/// A state up to symmetry: the part that concerns no app, and one for each app. States with the same successors are equal.
///
/// It has neither ids nor names, nor what only changes notices: names of rules, whose bid is in the way, which sessions watch, and
/// the settings that a client last heard of.
public struct CanonicalState: Sendable {
    private var shared = Fingerprint(first: 0, second: 0)
    private var apps: [Fingerprint] = []
    private var cache = CanonicalCache()

    public init() {}

    /// - Parameter other: a second state, whose apps are exchanged with this one's.
    public func fingerprint(_ symmetry: AppSymmetry, beside other: CanonicalState? = nil) -> Fingerprint {
        var writer = FingerprintWriter()
        writer.combine(shared)
        if let other { writer.combine(other.shared) }
        var sum = UnorderedSum()
        for index in apps.indices {
            var one = FingerprintWriter()
            one.combine(symmetry.apps[index].kind)
            one.combine(apps[index])
            if let other { one.combine(other.apps[index]) }
            sum.add(one)
        }
        sum.write(into: &writer)
        return writer.finished()
    }

    /// Marks of the caller, by rows, before the state is written: a closure that has a state would copy it.
    mutating func note(session row: Int, _ mark: UInt64) { Self.set(&cache.sessionMarks, row, mark) }
    mutating func note(camera row: Int, _ mark: UInt64) { Self.set(&cache.cameraMarks, row, mark) }

    @inline(__always) private static func set(_ marks: inout [UInt64], _ row: Int, _ mark: UInt64) {
        while marks.count <= row { marks.append(0) }
        marks[row] = mark
    }

    fileprivate mutating func take(_ state: State, _ symmetry: AppSymmetry) {
        cache.note(state, symmetry)
        var writer = FingerprintWriter()
        state.writeShared(symmetry, cache, into: &writer)
        shared = writer.finished()
        while apps.count < symmetry.apps.count { apps.append(shared) }
        for place in apps.indices {
            writer = FingerprintWriter()
            if let app = cache.apps[place] { state.write(app, symmetry, cache, into: &writer) }
            apps[place] = writer.finished()
        }
    }
}

extension Arbiter {
    /// Every app of the state is in the symmetry.
    func canonicalize(_ symmetry: AppSymmetry, into canonical: inout CanonicalState) { canonical.take(state, symmetry) }

    /// - Parameters:
    ///   - session: the caller's mark of a session.
    ///   - camera: the caller's mark of a camera, which names no app.
    public func canonicalize(
        _ symmetry: AppSymmetry, into canonical: inout CanonicalState, session: (SessionID) -> UInt64,
        camera: (CameraID) -> UInt64
    ) {
        for row in state.sessions.rows.indices {
            canonical.note(session: row, session(SessionID(state.sessions.rows[row].id)))
        }
        for slot in state.cameraOrder { canonical.note(camera: Int(slot.index), camera(state.id(slot))) }
        self.canonicalize(symmetry, into: &canonical)
    }

    /// The same for two arbiters with the same future, and only for them.
    public func fingerprint() -> Fingerprint { fingerprint(policy.fingerprint) }

    func fingerprint(_ policy: Fingerprint) -> Fingerprint {
        let symmetry = AppSymmetry(wholeOf: state)
        var canonical = CanonicalState()
        self.canonicalize(symmetry, into: &canonical, session: { _ in 0 }, camera: { _ in 0 })
        var writer = FingerprintWriter()
        writer.combine(policy)
        writer.combine(canonical.fingerprint(symmetry))
        return writer.finished()
    }
}

/// Parts that hardly ever change from one state to the next.
struct CanonicalCache: Sendable {
    /// The rows of the apps; `nil` where an app is not there.
    private(set) var apps: [Slot<App>?] = []
    /// The names with which the apps were found.
    private var names = NameTable<AppID, App>()
    private(set) var settings = WordMemory<SessionSettings>()
    private(set) var texts = WordMemory<ClientTexts>()
    private(set) var cameras = WordMemory<CameraSettings>()
    fileprivate(set) var sessionMarks: [UInt64] = []
    fileprivate(set) var cameraMarks: [UInt64] = []
    private(set) var roles: [CameraRoles] = []
    /// The start request of each session, by its row; `.max` where it has none.
    private(set) var requests: [Ordinal] = []

    mutating func note(_ state: State, _ symmetry: AppSymmetry) {
        if apps.count != symmetry.apps.count || !state.hasApps(names) { find(symmetry, state) }
        settings.note(state.sessionSettings) { writer, settings in
            // The settings that it last heard of only change its next notice.
            writer.combine(words: [settings.wanted, settings.confirmed, settings.open.batch])
            writer.combine(settings.open.depth)
        }
        texts.note(state.clientTexts) { $0.combine(words: $1) }
        cameras.note(state.cameraSettings) { writer, settings in
            writer.combine(words: settings.capabilities)
            writer.combine(words: settings.inForce)
            writer.combine(words: settings.served)
            writer.ordered(settings.asked) { writer, asked in
                writer.combine(words: [asked.batch, asked.ordered])
                writer.combine(words: asked.by)
            }
        }
        // Gathered once: rows are large, and each session is compared with all of them.
        resize(&roles, to: state.cameras.rows.count, CameraRoles())
        for index in roles.indices { roles[index] = CameraRoles(state.cameras.rows[index]) }
        resize(&requests, to: state.sessions.rows.count, .max)
        for index in requests.indices { requests[index] = state.sessions.rows[index].request?.started ?? .max }
    }

    private mutating func find(_ symmetry: AppSymmetry, _ state: State) {
        resize(&apps, to: symmetry.apps.count, nil)
        for place in apps.indices {
            let app = symmetry.apps[place].app
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

/// The sessions of a camera, by their rows; negative where there is none.
struct CameraRoles: BitwiseCopyable {
    var promised: Int32 = -1
    var isDormant = false
    var holder: Int32 = -1
    var beneficiary: Int32 = -1
    /// `.max` without a holder.
    var granted = Ordinal.max

    init() {}

    init(_ camera: borrowing Camera) {
        if let promise = camera.promise { (promised, isDormant) = (promise.session.index, promise.isDormant) }
        if let held = camera.tenancy.held { (holder, granted) = (held.session.index, held.granted) }
        if let contest = camera.contest { beneficiary = contest.beneficiary.index }
    }
}

/// The fingerprints of the words of a table, taken again only for rows whose words changed.
struct WordMemory<Words: Equatable & Sendable>: Sendable {
    private var words: [Words] = []
    private var fingerprints: [UInt64] = []

    @inline(__always) subscript(row: Int32) -> UInt64 { fingerprints[Int(row)] }

    @inline(__always) mutating func note(
        _ current: borrowing [Words], _ write: (inout FingerprintWriter, Words) -> Void
    ) {
        let known = words.withUnsafeBufferPointer { $0.baseAddress }
        // Nearly always it is the same array, unchanged.
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
