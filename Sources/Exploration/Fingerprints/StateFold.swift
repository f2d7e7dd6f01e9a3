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
    public var readsClaims: Bool
    /// States that differ in nothing but what is left of leases are told apart.
    public var countsLeases = true

    public init(_ apps: [(app: AppID, kind: Int)], readsClaims: Bool = true) {
        self.apps = apps
        self.readsClaims = readsClaims
    }

    /// Nobody stands for anybody else.
    public var unfolded: FoldedCast {
        var cast = self
        cast.apps = apps.enumerated().map { ($0.element.app, $0.offset) }
        return cast
    }
}

/// A state as a walk remembers it that folds mirror images: what concerns nobody in particular, and for each app of
/// the cast what concerns it. States that go on alike are equal; a fingerprint of the whole state tells more apart.
///
/// It has neither ids nor names, nor what only changes what somebody is told: names of rules, whose claim stands in the
/// way, who watches, what a client heard to be in force.
public struct StateFold: Sendable {
    fileprivate var shared = Fingerprint(first: 0, second: 0)
    /// In the order of the cast.
    fileprivate var apps: [Fingerprint] = []
    fileprivate var memory = FoldMemory()

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

/// What was found out about the state folded before, and hardly ever is otherwise now.
private struct FoldMemory: Sendable {
    /// Where each app of the cast was.
    private var rows: [Int] = []
    private(set) var settings = WordMemory<SessionSettings>()
    private(set) var texts = WordMemory<ClientTexts>()
    private(set) var cameras = WordMemory<CameraSettings>()

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
    }
}

/// The fingerprints of words, one for each row of a table. They are taken again only where the words are others.
private struct WordMemory<Words: Equatable & Sendable>: Sendable {
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

extension Arbiter {
    /// Writes the state down as a fold. Every app that it speaks of is in the cast.
    /// - Parameters:
    ///   - session: what the caller remembers about a session besides.
    ///   - camera: what the caller remembers about a camera, and of whom nobody in particular.
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
        writer.combine(word(of: slot))
        if app.isAttributed { writer.combine(attributes[Int(slot.index)]) }
        writeTimers(cast, into: &writer) { $0.app?.slot == slot }
        var sum = UnorderedSum()
        for first in [app.vouched.firstClient, app.claimed.firstClient] {
            var place = first
            while let client = place {
                sum.add(fingerprint(of: client, cast, memory, note))
                place = clients.rows[Int(client.index)].nextOfApp
            }
        }
        sum.write(into: &writer)
    }

    private func fingerprint(
        of slot: Slot<Client>, _ cast: FoldedCast, _ memory: borrowing FoldMemory, _ note: (SessionID) -> UInt64
    ) -> Fingerprint {
        var writer = FingerprintWriter()
        let client = clients.rows[Int(slot.index)]
        writer.combine(client.word)
        writer.combine(memory.texts[slot.index])
        if let login = client.login { writer.combine(id(login).name) }
        var sum = UnorderedSum()
        var place = client.firstSession
        while let session = place {
            var one = FingerprintWriter()
            one.combine(note(SessionID(sessions.rows[Int(session.index)].id)))
            write(session, client.app, cast, memory, into: &one)
            sum.add(one)
            place = sessions.rows[Int(session.index)].nextOfClient
        }
        sum.write(into: &writer)
        return writer.finished()
    }

    private func write(
        _ slot: Slot<Session>, _ app: AppRef, _ cast: FoldedCast, _ memory: borrowing FoldMemory,
        into writer: inout FingerprintWriter
    ) {
        let session = sessions.rows[Int(slot.index)]
        writer.combine(session.word(readsClaims: cast.readsClaims))
        // Whether another app keeps the camera from it, a statement may ask.
        let isKeptOut = session.waits?.interrupter.map { $0 != app } ?? false
        writer.combine(UInt64(session.camera.index) << 1 | (isKeptOut ? 1 : 0))
        writer.combine(memory.settings[slot.index])
        let asked = cameraSettings[Int(session.camera.index)].asked
        for place in asked.indices where asked[place].session == session.id { writer.combine(place) }
        if let request = session.request { writer.combine(place(of: request)) }
        writeRoles(of: slot, into: &writer)
        writeTimers(cast, into: &writer) { $0.session == slot }
    }

    /// Those that concern somebody. Where there are none that count, nothing is written.
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
    @inline(__always) private func place(of request: Session.StartRequest) -> UInt64 {
        var place: UInt64 = 0
        for other in sessions.rows { if let other = other.request, other.started < request.started { place += 1 } }
        guard let claimed = request.claimed else { return place << 32 | 1 }
        var newerThan: UInt64 = 0
        for (index, camera) in cameras.rows.enumerated() {
            if let held = camera.tenancy.held, claimed > held.granted { newerThan |= 2 << UInt64(index) }
        }
        return place << 32 | newerThan
    }

    /// What it is to each camera: holder, winner of a contest, winner of a cut; a byte each.
    @inline(__always) private func writeRoles(
        of slot: Slot<Session>, into writer: inout FingerprintWriter
    ) {
        var word: UInt64 = 0
        for (index, camera) in cameras.rows.enumerated() {
            if index & 7 == 0, index > 0 {
                writer.combine(word)
                word = 0
            }
            var roles: UInt64 = 0
            if let promise = camera.promise, promise.session == slot { roles = promise.isDormant ? 0x81 : 1 }
            if let held = camera.tenancy.held {
                if held.contest?.beneficiary == slot { roles |= 2 }
                if held.session == slot {
                    roles |= 4
                    for other in cameras.rows {
                        if let other = other.tenancy.held, other.granted < held.granted { roles += 8 }
                    }
                }
            }
            word = word << 8 | roles & 0xff
        }
        writer.combine(word)
    }
}
