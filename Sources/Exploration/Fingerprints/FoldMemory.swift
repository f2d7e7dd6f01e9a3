import Arbiter
import ArbiterProtocol

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
