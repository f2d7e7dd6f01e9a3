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

    public init(_ apps: [(app: AppID, kind: Int)], readsBids: Bool = true) {
        self.apps = apps
        self.readsBids = readsBids
    }

    /// Nobody stands for anybody else.
    public var unfolded: FoldedCast {
        var cast = self
        cast.apps = apps.enumerated().map { ($0.element.app, $0.offset) }
        return cast
    }
}

/// A state as a walk remembers it that folds mirror images: what concerns no app of the cast, and for each app what
/// concerns it. States that go on alike are equal; a fingerprint of the whole state tells more apart.
///
/// It has neither ids nor names, nor what only changes what clients are told: names of rules, whose bid stands in the
/// way, which sessions watch, what a client heard to be in force.
public struct StateFold: Sendable {
    fileprivate var shared = Fingerprint(first: 0, second: 0)
    /// In the order of the cast.
    fileprivate var apps: [Fingerprint] = []
    var memory = FoldMemory()

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
}

extension Arbiter {
    /// Writes the state down as a fold. Every app that it speaks of is in the cast.
    /// - Parameters:
    ///   - session: what the caller remembers about a session besides.
    ///   - camera: what the caller remembers about a camera, which names no app.
    public func fold(
        _ cast: FoldedCast, into fold: inout StateFold, session: (SessionID) -> UInt64, camera: (CameraID) -> UInt64
    ) {
        fold.memory.note(state)
        var writer = FingerprintWriter()
        state.writeShared(cast, fold.memory, into: &writer, camera)
        fold.shared = writer.finished()
        while fold.apps.count < cast.apps.count { fold.apps.append(fold.shared) }
        for place in cast.apps.indices {
            writer = FingerprintWriter()
            if let row = fold.memory.row(of: cast.apps[place].app, at: place, state) {
                state.write(Slot(row), cast, fold.memory, into: &writer, session)
            }
            fold.apps[place] = writer.finished()
        }
    }
}

extension State {
    /// A camera is its row here: rows of cameras stay where they are, and a walk's worlds plug them in in one order.
    fileprivate func writeShared(
        _ cast: FoldedCast, _ memory: borrowing FoldMemory, into writer: inout FingerprintWriter,
        _ note: (CameraID) -> UInt64
    ) {
        for slot in cameraOrder {
            write(slot, countsLeases: cast.countsLeases, into: &writer)
            writer.combine(note(id(slot)))
            writer.combine(memory.cameras[slot.index])
        }
        writeMachine(into: &writer)
        writeTimers(cast, into: &writer) { $0.app == nil && $0.session == nil }
    }

    fileprivate func write(
        _ slot: Slot<App>, _ cast: FoldedCast, _ memory: borrowing FoldMemory, into writer: inout FingerprintWriter,
        _ note: (SessionID) -> UInt64
    ) {
        let app = apps.rows[Int(slot.index)]
        let (first, other) = (app.vouched.firstClient, app.claimed.firstClient)
        // Nearly always there is one client, which needs no sum: the word says which of the two follows.
        let only = first == nil ? other : other == nil ? first : nil
        let isOne = only.map { clients.rows[Int($0.index)].nextOfApp == nil } ?? false
        writer.combine(word(of: slot) | (isOne ? 1 << 40 : 0))
        if app.isAttributed { writer.combine(attributes[Int(slot.index)]) }
        writeTimers(cast, into: &writer) { $0.app?.slot == slot }
        if isOne, let only { return write(only, cast, memory, into: &writer, note) }
        if first == nil, other == nil { return }
        var sum = UnorderedSum()
        for first in [first, other] {
            var place = first
            while let client = place {
                var one = FingerprintWriter()
                write(client, cast, memory, into: &one, note)
                sum.add(one)
                place = clients.rows[Int(client.index)].nextOfApp
            }
        }
        sum.write(into: &writer)
    }

    private func write(
        _ slot: Slot<Client>, _ cast: FoldedCast, _ memory: borrowing FoldMemory, into writer: inout FingerprintWriter,
        _ note: (SessionID) -> UInt64
    ) {
        let client = clients.rows[Int(slot.index)]
        let isOne = client.firstSession.map { sessions.rows[Int($0.index)].nextOfClient == nil } ?? false
        writer.combine(client.word | (isOne ? 1 << 40 : 0))
        writer.combine(memory.texts[slot.index])
        if let login = client.login { writer.combine(id(login).name) }
        if isOne, let session = client.firstSession {
            return write(session, client.app, cast, memory, into: &writer, note)
        }
        var sum = UnorderedSum()
        var place = client.firstSession
        while let session = place {
            var one = FingerprintWriter()
            write(session, client.app, cast, memory, into: &one, note)
            sum.add(one)
            place = sessions.rows[Int(session.index)].nextOfClient
        }
        sum.write(into: &writer)
    }

    private func write(
        _ slot: Slot<Session>, _ app: AppRef, _ cast: FoldedCast, _ memory: borrowing FoldMemory,
        into writer: inout FingerprintWriter, _ note: (SessionID) -> UInt64
    ) {
        let session = sessions.rows[Int(slot.index)]
        writer.combine(note(SessionID(session.id)))
        writer.combine(session.word(readsBids: cast.readsBids))
        // A statement may ask whether another app keeps the camera from it.
        let isKeptOut = session.waits?.interrupter.map { $0 != app } ?? false
        writer.combine(UInt64(session.camera.index) << 1 | (isKeptOut ? 1 : 0))
        writer.combine(memory.settings[slot.index])
        let settings = Int(session.camera.index)
        for place in cameraSettings[settings].asked.indices
        where cameraSettings[settings].asked[place].session == session.id { writer.combine(place) }
        if let request = session.request { writer.combine(place(of: request, memory)) }
        writeRoles(of: slot, memory, into: &writer)
        writeTimers(cast, into: &writer) { $0.session == slot }
    }

    /// Timers that concern a session, app or camera. Where none counts, nothing is written.
    @inline(__always) private func writeTimers(
        _ cast: FoldedCast, into writer: inout FingerprintWriter, _ concern: (TimedFact) -> Bool
    ) {
        if timers.isEmpty { return }
        var sum = UnorderedSum()
        var isAny = false
        for timer in timers where concern(timer) && isWritten(timer, countsLeases: cast.countsLeases) {
            var one = FingerprintWriter()
            write(timer, into: &one)
            sum.add(one)
            isAny = true
        }
        if isAny { sum.write(into: &writer) }
    }

    /// Ordinals as far as they are compared: start requests with each other, and so grants; when a session began to
    /// contend, with grants.
    @inline(__always) private func place(of request: Session.StartRequest, _ memory: borrowing FoldMemory) -> UInt64 {
        var place: UInt64 = 0
        for index in memory.requests.indices where memory.requests[index] < request.started { place += 1 }
        guard let bidSince = request.bidSince else { return place << 32 | 1 }
        var newerThan: UInt64 = 0
        for index in memory.roles.indices {
            if let granted = memory.roles[index].granted, bidSince > granted { newerThan |= 2 << UInt64(index) }
        }
        return place << 32 | newerThan
    }

    /// What it is to each camera: holder, winner of a contest, winner of a cut; a byte each.
    @inline(__always) private func writeRoles(
        of slot: Slot<Session>, _ memory: borrowing FoldMemory, into writer: inout FingerprintWriter
    ) {
        var word: UInt64 = 0
        for index in memory.roles.indices {
            if index & 7 == 0, index > 0 {
                writer.combine(word)
                word = 0
            }
            let camera = memory.roles[index]
            var roles: UInt64 = 0
            if let promise = camera.promise, promise.session == slot { roles = promise.isDormant ? 0x81 : 1 }
            if camera.beneficiary == slot { roles |= 2 }
            if camera.holder == slot, let granted = camera.granted {
                roles |= 4
                for other in memory.roles.indices {
                    if let before = memory.roles[other].granted, before < granted { roles += 8 }
                }
            }
            word = word << 8 | roles & 0xff
        }
        writer.combine(word)
    }
}

/// What was found out about the state folded before, and hardly ever is otherwise now.
struct FoldMemory: Sendable {
    /// Where each app of the cast was.
    private var rows: [Int] = []
    private(set) var settings = WordMemory<SessionSettings>()
    private(set) var texts = WordMemory<ClientTexts>()
    private(set) var cameras = WordMemory<CameraSettings>()
    private(set) var roles: [CameraRoles] = []
    /// When each session's start request came, by its row; `.max`: it has none.
    private(set) var requests: [Ordinal] = []

    mutating func row(of app: AppID, at place: Int, _ state: borrowing State) -> Int? {
        while rows.count <= place { rows.append(0) }
        if rows[place] < state.apps.rows.count, state.isApp(at: rows[place], app) { return rows[place] }
        guard let row = state.app(app) else { return nil }
        rows[place] = Int(row.index)
        return rows[place]
    }

    mutating func note(_ state: borrowing State) {
        settings.note(state.sessionSettings) { writer, settings in
            // What it heard to be in force changes nothing but what it is told next, and so says nothing here either.
            let open = settings.open
            if settings.wanted.isEmpty, settings.confirmed.isEmpty, open.depth == 0, open.batch.isEmpty { return false }
            writer.combine(settings.wanted)
            writer.combine(settings.confirmed)
            writer.combine(settings.open.depth)
            writer.combine(settings.open.batch)
            return true
        }
        texts.note(state.clientTexts) { writer, texts in
            writer.combine(texts)
            return !texts.isEmpty
        }
        cameras.note(state.cameraSettings) { writer, settings in
            writer.combine(settings.capabilities)
            writer.combine(settings.inForce)
            writer.ordered(settings.asked) { writer, asked in
                writer.combine(asked.batch)
                writer.combine(asked.ordered)
                writer.combine(asked.by.rawValue)
            }
            return true
        }
        // Taken together once: rows are large, and each session is held against all of them.
        roles.removeAll(keepingCapacity: true)
        for index in state.cameras.rows.indices { roles.append(CameraRoles(state.cameras.rows[index])) }
        requests.removeAll(keepingCapacity: true)
        for index in state.sessions.rows.indices {
            requests.append(state.sessions.rows[index].request?.started ?? .max)
        }
    }
}

/// The sessions that have to do with a camera.
struct CameraRoles: BitwiseCopyable {
    let promise: Camera.Promise?
    let holder: Slot<Session>?
    let beneficiary: Slot<Session>?
    /// Nil: nobody has it.
    let granted: Ordinal?

    init(_ camera: Camera) {
        promise = camera.promise
        let held = camera.tenancy.held
        holder = held?.session
        beneficiary = camera.contest?.beneficiary
        granted = held?.granted
    }
}

/// The fingerprints of words, one for each row of a table. They are taken again only where the words are others.
struct WordMemory<Words: Equatable & Sendable>: Sendable {
    private var words: [Words] = []
    /// 0: nothing was said.
    private var fingerprints: [UInt64] = []

    @inline(__always) subscript(row: Int32) -> UInt64 { fingerprints[Int(row)] }

    @inline(__always) mutating func note(_ current: [Words], _ write: (inout FingerprintWriter, Words) -> Bool) {
        let known = words.withUnsafeBufferPointer { $0.baseAddress }
        // Nearly always it is one array, which nobody has written to since.
        if known == current.withUnsafeBufferPointer({ $0.baseAddress }), words.count == current.count { return }
        for row in current.indices {
            if row < words.count, words[row] == current[row] { continue }
            var writer = FingerprintWriter()
            let isAny = write(&writer, current[row])
            if row == fingerprints.count { fingerprints.append(0) }
            fingerprints[row] = isAny ? writer.finished().first | 1 : 0
        }
        words = current
    }
}
