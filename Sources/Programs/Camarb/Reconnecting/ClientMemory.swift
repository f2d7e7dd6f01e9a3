import ArbiterProtocol

/// What a client said and was told, for as long as it lives, so that another broker can be told the same. A value
/// without time and threads: `ReconnectingTransport` has those.
struct ClientMemory {
    /// Calls that say what the client is, the last of each kind, in the order in which they were first made.
    private(set) var declarations: [(key: String, call: WireCall)] = []
    /// By the id that the client knows, in order, with the present broker's where that has it.
    private(set) var sessions: [(id: SessionID, brokers: SessionID?, memory: SessionMemory)] = []
    private var lastKnown: UInt64 = 0

    /// More are not remembered: a policy has at most a few attributes to lower, and the other kinds are one each.
    static let declarationsMax = 64

    private static let declaring: Set<String> = [
        "StandFor", "DeclareClient", "DeclarePresence", "LowerPriority", "LowerAttribute", "Watch",
    ]

    /// The call with the present broker's ids.
    /// - Throws: `.unknownSession` for a session that is closed, or that the present broker did not take.
    func translated(_ call: WireCall) throws(BrokerError) -> WireCall {
        guard let known = ObjectPath.sessionID(call.path) else { return call }
        guard let (_, brokers, memory) = sessions.first(where: { $0.id == known }), let id = brokers else {
            throw BrokerError(
                .unknownSession,
                "Session \(known.rawValue) is closed, or the broker that was restarted did not take it.")
        }
        var call = call
        call.path = ObjectPath.session(id)
        if call.member == "Ready", let number = call.arguments.first?.uint64 {
            call.arguments[0] = .uint64(memory.brokersNumber(number))
        }
        return call
    }

    /// Keeps the part of an answered call that the next broker will need.
    /// - Returns: the answer with the session's id as the client knows it.
    mutating func remember(_ call: WireCall, _ answer: [WireValue]) -> [WireValue] {
        if let known = ObjectPath.sessionID(call.path) {
            if call.member == "Close" {
                sessions.removeAll { $0.id == known }
            } else if let place = sessions.firstIndex(where: { $0.id == known }) {
                sessions[place].memory.remember(call, answer)
            }
            return answer
        }
        guard call.interface == InterfaceName.broker else { return answer }
        if call.member == "CreateSession" { return created(call, answer) }
        if Self.declaring.contains(call.member) {
            var key = call.member
            if key == "LowerAttribute" { key += " " + (call.arguments.first?.string ?? "") }
            if let place = declarations.firstIndex(where: { $0.key == key }) {
                declarations[place].call = call
            } else if declarations.count < Self.declarationsMax {
                declarations.append((key, call))
            }
        }
        return answer
    }

    private mutating func created(_ call: WireCall, _ answer: [WireValue]) -> [WireValue] {
        guard let path = answer.first?.string, let id = ObjectPath.sessionID(path) else { return answer }
        let camera = call.arguments.first?.string ?? ""
        let asked = call.arguments.dropFirst().first?.dictionary.flatMap { try? Configuration(wire: $0) }
        // Brokers count from where they like: an id that was given away before stays what it was.
        let known = SessionID(max(id.rawValue, lastKnown + 1))
        lastKnown = known.rawValue
        sessions.append((known, id, SessionMemory(camera: camera, configuration: asked ?? Configuration())))
        return [.objectPath(ObjectPath.session(known))]
    }

    /// What is said to a session as the client knows it: none, one or several.
    /// - Returns: nil for a session that is not known (yet).
    mutating func arrived(
        _ id: SessionID, _ signal: Result<SessionSignal, BrokerError>, at now: ContinuousClock.Instant
    ) -> [BrokerSignal]? {
        guard let known = sessions.first(where: { $0.brokers == id })?.id else { return nil }
        // The client says what is wrong with it.
        guard case .success(let read) = signal else { return [.session(known, signal)] }
        return inSession(known) { $0.arrived(read, at: now) }
    }

    /// The connection has ended: what the client is told at once.
    mutating func lost(at now: ContinuousClock.Instant) -> [BrokerSignal] {
        for place in sessions.indices { sessions[place].brokers = nil }
        return inEach { $0.lost(at: now) }
    }

    /// When something that was held back is to be told; nil: nothing is.
    var holdEnds: ContinuousClock.Instant? { sessions.compactMap(\.memory.hold.until).min() }

    mutating func holdEnded(at now: ContinuousClock.Instant) -> [BrokerSignal] { inEach { $0.holdEnded(at: now) } }

    mutating func tellHeld(at now: ContinuousClock.Instant) -> [BrokerSignal] { inEach { $0.tellHeld(at: now) } }

    private mutating func inEach(_ change: (inout SessionMemory) -> [SessionSignal]) -> [BrokerSignal] {
        sessions.map(\.id).flatMap { inSession($0, change) }
    }

    mutating func inSession(
        _ known: SessionID, _ change: (inout SessionMemory) -> [SessionSignal]
    ) -> [BrokerSignal] {
        guard let place = sessions.firstIndex(where: { $0.id == known }) else { return [] }
        return change(&sessions[place].memory).map { .session(known, .success($0)) }
    }

    /// Calls that ask the present broker for a secret, each with the session and the grant it is for.
    mutating func takeWishes() -> [(known: SessionID, run: UInt64, call: WireCall)] {
        var wishes: [(known: SessionID, run: UInt64, call: WireCall)] = []
        for place in sessions.indices {
            guard let id = sessions[place].brokers, let run = sessions[place].memory.takeWish() else { continue }
            let call = WireCall(
                path: ObjectPath.session(id), interface: InterfaceName.session, member: "GetReclaimSecret")
            wishes.append((sessions[place].id, run, call))
        }
        return wishes
    }

    /// What is shown to the present broker in place of a start; nil: the session is started as any other.
    mutating func beginReclaiming(_ known: SessionID) -> String? {
        guard let place = sessions.firstIndex(where: { $0.id == known }) else { return nil }
        return sessions[place].memory.beginReclaiming()
    }

    static func creation(_ memory: SessionMemory) -> WireCall {
        var settings = memory.configuration.wire
        // It waits for nobody: the camera that it had is kept for it for a while.
        if memory.wasRunning { settings["reestablished"] = .boolean(true) }
        return WireCall(
            path: ObjectPath.broker, interface: InterfaceName.broker, member: "CreateSession",
            arguments: [.string(memory.camera), .dictionary(settings)])
    }

    /// The present broker has it under this id.
    mutating func reestablished(_ known: SessionID, as id: SessionID) {
        guard let place = sessions.firstIndex(where: { $0.id == known }) else { return }
        sessions[place].brokers = id
        sessions[place].memory.isBack()
    }

    mutating func refused(_ known: SessionID, _ error: BrokerError, at now: ContinuousClock.Instant) -> [BrokerSignal] {
        inSession(known) { $0.refused(error, at: now) }
    }
}
