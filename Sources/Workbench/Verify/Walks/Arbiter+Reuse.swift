package import Arbiter
import ArbiterProtocol
import Scenario

/// Copies into existing memory, for callers that step many copies of one state. Arrays that hardly any step changes are shared; those
/// that nearly every step changes are copied byte by byte, so that changing them allocates nothing.
extension Arbiter {
    package mutating func become(_ other: borrowing Arbiter) {
        state.become(other.state)
        current = other.current
        deadline = other.deadline
    }
}

extension State {
    fileprivate mutating func become(_ other: borrowing State) {
        now = other.now
        if policy !== other.policy { policy = other.policy }
        if modeWords != other.modeWords { modeWords = other.modeWords }
        share(&carriedTexts, other.carriedTexts)
        share(&clients.rows, other.clients.rows)
        copy(&sessions.rows, other.sessions.rows)
        copy(&cameras.rows, other.cameras.rows)
        copy(&apps.rows, other.apps.rows)
        share(&logins.rows, other.logins.rows)
        clients.shareFree(other.clients)
        sessions.shareFree(other.sessions)
        apps.shareFree(other.apps)
        logins.shareFree(other.logins)
        copy(&users, other.users)
        share(&sources, other.sources)
        copy(&timers, other.timers)
        copy(&microphones, other.microphones)
        share(&words, other.words)
        share(&privateUsers, other.privateUsers)
        share(&questionWatchers, other.questionWatchers)
        clientSlots.become(other.clientSlots)
        sessionSlots.become(other.sessionSlots)
        appNames.become(other.appNames)
        cameraNames.become(other.cameraNames)
        loginNames.become(other.loginNames)
        share(&cameraOrder, other.cameraOrder)
        share(&seats, other.seats)
        share(&clientTexts, other.clientTexts)
        share(&sessionSettings, other.sessionSettings)
        share(&cameraSettings, other.cameraSettings)
        share(&attributes, other.attributes)
        world = other.world
        lastOrdinal = other.lastOrdinal
        generation = other.generation
        ledger.become(other.ledger)
    }
}

extension Ledger {
    fileprivate mutating func become(_ other: borrowing Ledger) {
        (decision, grant) = (other.decision, other.grant)
        (lastRecording, photo) = (other.lastRecording, other.photo)
        lastQuestion = other.lastQuestion
        share(&recordings, other.recordings)
        share(&photos, other.photos)
        share(&questions, other.questions)
    }
}

extension Table {
    fileprivate mutating func shareFree(_ other: borrowing Table) { share(&free, other.free) }
}

extension Directory {
    fileprivate mutating func become(_ other: borrowing Directory) {
        if !isSame(ids, other.ids) || !isSame(places, other.places) { self = copy other }
    }
}

extension NameTable {
    fileprivate mutating func become(_ other: borrowing NameTable) {
        if !isSame(names, other.names) { self = copy other }
    }
}

@inline(__always) private func share<Element>(_ target: inout [Element], _ source: borrowing [Element]) {
    if !isSame(target, source) { target = copy source }
}

@inline(__always) private func copy<Element: BitwiseCopyable>(
    _ target: inout [Element], _ source: borrowing [Element]
) {
    if isSame(target, source) { return }
    guard target.count == source.count else {
        target.removeAll(keepingCapacity: true)
        target.append(contentsOf: copy source)
        return
    }
    target.withUnsafeMutableBufferPointer { target in
        source.withUnsafeBufferPointer { source in _ = target.update(fromContentsOf: source) }
    }
}

extension State {
    /// Whether the names are those of another state, by their memory.
    func hasApps(_ names: borrowing NameTable<AppID, App>) -> Bool { isSame(appNames.names, names.names) }
}
