import ArbiterProtocol

/// What clients that read properties were last told, so that `PropertiesChanged` says what differs from it and nothing
/// else. Clients that never read a property, and never asked for signals that such a change is among, have nothing that
/// could be out of date: they are told nothing, and cost nothing.
struct PropertyNews {
    /// Sessions that are looked at in one turn of the loop without anything having been told to them; a look takes some
    /// microseconds, and a camera's holder waits for no more looks than these.
    static let looksMax = 16

    private(set) var readers = 0
    private var sessions: [UInt64: SessionFacts] = [:]
    /// Sessions that run: causes that leave them as much as before come and go without any notice.
    private var running: Set<UInt64> = []
    /// Sessions that may have changed without a notice, the greatest id first.
    private var due: [UInt64] = []
    /// A look at those is on its way.
    private var isLookOnItsWay = false
    private var cameras: [CameraID: CameraFacts] = [:]
    private var broker: WireDictionary?
    /// Something may be amiss with the broker, or well again.
    var isBrokerDue = false

    mutating func readerCame() { readers += 1 }

    mutating func readerLeft() {
        readers -= 1
        guard readers == 0 else { return }
        self = PropertyNews()
    }

    /// What the session's client has of it from now on.
    mutating func begin(_ session: SessionID, _ facts: SessionFacts) { keep(session, facts) }

    mutating func forget(_ session: SessionID) {
        sessions[session.rawValue] = nil
        running.remove(session.rawValue)
    }

    /// - Returns: the properties with another value than the client has; nil: none, or no reader has the session.
    mutating func changes(of session: SessionID, _ facts: SessionFacts) -> WireDictionary? {
        guard let before = sessions[session.rawValue], before != facts else { return nil }
        keep(session, facts)
        return facts.properties(since: before)
    }

    private mutating func keep(_ session: SessionID, _ facts: SessionFacts) {
        sessions[session.rawValue] = facts
        if facts.isRunning { running.insert(session.rawValue) } else { running.remove(session.rawValue) }
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

    /// The next ones that are due, `looksMax` at the most.
    mutating func takeDue() -> [SessionID] {
        isLookOnItsWay = false
        let taken = due.suffix(Self.looksMax).reversed().map { SessionID($0) }
        due.removeLast(taken.count)
        return taken
    }

    /// - Parameter all: the broker's properties.
    /// - Returns: those that differ; none at the first look: whoever reads anything reads it after that.
    mutating func changes(ofBroker all: WireDictionary) -> WireDictionary {
        let before = broker ?? all
        broker = all
        var changed = WireDictionary()
        for entry in all.entries where before[entry.key] != entry.value { changed.append(entry.key, entry.value) }
        return changed
    }

    var wasPresenceKnown: Bool { broker?["PresenceKnown"]?.boolean ?? false }

    /// As it was last told.
    func holder(of camera: CameraID) -> AppID? { cameras[camera]?.holder }

    /// - Returns: likewise; a camera that nobody knew is told of by the object manager.
    mutating func change(of camera: CameraID, _ facts: CameraFacts) -> CameraFacts? {
        let before = cameras[camera]
        guard before != facts else { return nil }
        cameras[camera] = facts
        return before
    }
}

struct SessionFacts: Equatable {
    var camera: CameraID
    var isRunning: Bool
    var isInterrupted: Bool
    var access: Access
    var causes: CauseSet
    var configuration: Configuration

    /// One of them, by its name in the interface's table.
    func value(of property: String) -> WireValue? {
        switch property {
        case "Camera": .string(camera.name)
        case "Running": .boolean(isRunning)
        case "Interrupted": .boolean(isInterrupted)
        case "Access": .strings(access.names)
        case "Causes": causes.wire
        case "Configuration": .dictionary(configuration.wire)
        default: nil
        }
    }

    func properties(since before: SessionFacts) -> WireDictionary {
        WireDictionary(Interface.session) { property in
            let value = value(of: property)
            return value == before.value(of: property) ? nil : value
        }
    }
}

extension WireDictionary {
    /// Properties of an interface, in its table's order.
    /// - Parameter value: nil: it is left out.
    init(_ interface: Interface, _ value: (_ property: String) -> WireValue?) {
        self.init()
        for property in interface.properties { if let value = value(property.name) { append(property.name, value) } }
    }
}

struct CameraFacts: Equatable {
    var capabilities: CameraCapabilities?
    var generation: UInt64
    var isPresent: Bool
    var holder: AppID?
    /// The program that has it without asking the broker; nil: none.
    var outside: String?

    /// Properties that are told without their value: they are long, and change with the device at most.
    func named(since before: CameraFacts) -> [String] {
        var names: [String] = []
        if capabilities?.name != before.capabilities?.name { names.append("Name") }
        if capabilities?.position != before.capabilities?.position { names.append("Position") }
        if capabilities?.sensorWidth != before.capabilities?.sensorWidth { names.append("SensorWidth") }
        if capabilities?.sensorHeight != before.capabilities?.sensorHeight { names.append("SensorHeight") }
        if capabilities?.formats != before.capabilities?.formats { names.append("Formats") }
        if capabilities?.defaultFormatIndex != before.capabilities?.defaultFormatIndex {
            names.append("DefaultFormatIndex")
        }
        if capabilities?.availableMetadataObjectTypes != before.capabilities?.availableMetadataObjectTypes {
            names.append("AvailableMetadataObjectTypes")
        }
        if capabilities?.controls != before.capabilities?.controls { names.append("Controls") }
        return names
    }
}
