import ArbiterProtocol

/// What clients that read properties were last told, so that `PropertiesChanged` says what differs from it and nothing
/// else. Clients that never read a property, and never asked for signals that such a change is among, have nothing that
/// could be out of date: they are told nothing, and cost nothing.
struct PropertyNews {
    /// Sessions that are looked at in one turn of the loop without anything having been told to them; a look takes some
    /// microseconds, and a camera's holder waits for no more looks than these.
    static let looksMax = 16

    private(set) var readers = 0
    private var sessions: [UInt64: SessionProperties] = [:]
    /// Sessions that run: causes that leave them as much as before come and go without any notice.
    private var running: Set<UInt64> = []
    /// Sessions that may have changed without a notice, the greatest id first.
    private var due: [UInt64] = []
    private var isLookOnItsWay = false
    private var cameras: [CameraID: CameraFacts] = [:]
    private var broker: BrokerProperties?
    /// Something may be amiss with the broker, or well again.
    var isBrokerDue = false

    mutating func readerCame() { readers += 1 }

    mutating func readerLeft() {
        readers -= 1
        guard readers == 0 else { return }
        self = PropertyNews()
    }

    /// What the session's client has of it from now on.
    mutating func begin(_ session: SessionID, _ facts: SessionProperties) {
        sessions[session.rawValue] = facts
        if facts.isRunning { running.insert(session.rawValue) } else { running.remove(session.rawValue) }
    }

    mutating func forget(_ session: SessionID) {
        sessions[session.rawValue] = nil
        running.remove(session.rawValue)
    }

    /// - Returns: the properties with another value than the client has; nil: none, or no reader has the session.
    mutating func changes(of session: SessionID, _ facts: SessionProperties) -> WireDictionary? {
        guard let before = sessions[session.rawValue], before != facts else { return nil }
        begin(session, facts)
        return facts.told(since: before).values
    }

    mutating func noteRunning() { note(running) }

    mutating func noteSessions(on camera: CameraID) {
        note(sessions.lazy.filter { $0.value.camera == camera }.map(\.key))
    }

    private mutating func note(_ found: some Sequence<UInt64>) {
        var all = Set(due)
        all.formUnion(found)
        if all.count != due.count { due = all.sorted(by: >) }
    }

    /// Whether somebody has to look at what is due: true once, until it was.
    mutating func shouldBeginLook() -> Bool {
        guard !due.isEmpty, !isLookOnItsWay else { return false }
        isLookOnItsWay = true
        return true
    }

    mutating func takeDue() -> [SessionID] {
        isLookOnItsWay = false
        let taken = due.suffix(Self.looksMax).reversed().map { SessionID($0) }
        due.removeLast(taken.count)
        return taken
    }

    /// - Returns: those that differ; none at the first look: whoever reads anything reads it after that.
    mutating func changes(ofBroker all: BrokerProperties) -> WireDictionary {
        let before = broker ?? all
        broker = all
        return all.told(since: before).values
    }

    var wasPresenceKnown: Bool { broker?.isPresenceKnown ?? false }

    func holder(of camera: CameraID) -> AppID? { cameras[camera]?.holder }

    mutating func change(of camera: CameraID, _ facts: CameraFacts) -> CameraFacts? {
        let before = cameras[camera]
        guard before != facts else { return nil }
        cameras[camera] = facts
        return before
    }
}

struct CameraFacts: Equatable {
    /// But for its holder, which not every client may know.
    var description: CameraDescription
    var holder: AppID?
}

extension Described {
    /// The properties that have another value than they had, and the names of those that are told without it.
    func told(since before: Self) -> (values: WireDictionary, names: [String]) {
        var (values, names) = (WireDictionary(), [String]())
        for field in changes(since: before) {
            if field.changes == .named { names.append(field.name) } else { values[field.name] = field.value(self) }
        }
        return (values, names)
    }
}
