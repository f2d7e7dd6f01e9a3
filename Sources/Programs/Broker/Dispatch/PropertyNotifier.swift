import Arbiter
import ArbiterProtocol
import Bus
import Explain
import Scenario
import System

/// `PropertiesChanged`, for clients that read properties: one signal a step and object, after the step's notices and
/// before the answer to the call that caused it. Each carries what differs from the values that were sent before. A client
/// that never read a property, and never asked for such signals, receives none and costs nothing.
final class PropertyNotifier: BrokerPart {
    /// Sessions without a notice that are compared in one turn of the loop: a comparison takes some microseconds, and a camera's
    /// holder waits for no more of them.
    private static let looksMax = 16
    private static let propertiesChanged = "PropertiesChanged"

    private var readers = 0
    /// Empty while nobody reads.
    private var known = KnownProperties()

    // MARK: Readers

    func isRead(by client: BrokerClient) {
        guard !client.readsProperties, !client.isGone else { return }
        client.readsProperties = true
        readers += 1
        if readers == 1 {
            known.broker = brokerProperties
            for link in cameras.order where link.capabilities != nil { known.cameras[link.camera] = facts(of: link) }
        }
        for session in client.sessions { begin(session, client) }
    }

    /// A rule of `AddMatch`. A rule that names another interface or member cannot match.
    func addMatch(_ rule: String, _ client: BrokerClient) {
        let isOther =
            (rule.holds("interface=") && !rule.holds(StandardInterface.properties))
            || (rule.holds("member=") && !rule.holds(Self.propertiesChanged))
        if !isOther { isRead(by: client) }
    }

    func forget(_ client: BrokerClient) {
        guard client.readsProperties else { return }
        client.readsProperties = false
        readers -= 1
        if readers == 0 { known = KnownProperties() }
    }

    func begin(_ session: SessionID, _ client: BrokerClient) {
        guard client.readsProperties, let facts = properties(of: session) else { return }
        known.begin(session, facts)
    }

    func forget(_ session: SessionID) {
        known.sessions[session.rawValue] = nil
        known.running.remove(session.rawValue)
    }

    // MARK: Changes

    /// Once for each step, after its effects. Without readers it costs a comparison.
    func publish(_ event: Event, _ effects: [Effect]) {
        guard readers > 0 else { return }
        var seen: Set<UInt64> = []
        for effect in effects {
            if case .notify(_, let session, _, let notice) = effect, notice.mayChangeProperties,
                seen.insert(session.rawValue).inserted
            {
                sendChanges(of: session)
            }
        }
        for case .session(let session) in event.subjects where seen.insert(session.rawValue).inserted {
            sendChanges(of: session)
        }
        switch event {
        // The configuration in force, or kept for later, may change without a notice to its session.
        case .recorderStreaming(let camera, _, _), .recorderRefusedConfiguration(let camera, _, _, _),
            .cameraAppeared(let camera, _, _):
            known.note(known.sessions.lazy.filter { $0.value.camera == camera }.map(\.key))
        default: break
        }
        // A camera becomes free when its cut is done, for which there is no effect.
        if !effects.isEmpty || !event.described.traits.contains(.routine) || event.endsCutOf != nil {
            known.note(known.running)
            for link in cameras.order { sendChanges(of: link) }
            let wasPresenceKnown = known.broker?.isPresenceKnown ?? false
            if known.isBrokerDue || broker.arbiter.isPresenceKnown != wasPresenceKnown { sendBrokerChanges() }
        }
        lookLater()
    }

    /// Something is amiss, or well again, or another policy is about to be in force.
    func degradedMayHaveChanged() {
        guard readers > 0, !known.isBrokerDue else { return }
        known.isBrokerDue = true
        broker.loop.defer { [self] in if known.isBrokerDue { sendBrokerChanges() } }
    }

    private func lookLater() {
        guard !known.due.isEmpty, !known.isLookOnItsWay else { return }
        known.isLookOnItsWay = true
        broker.loop.defer { [self] in
            known.isLookOnItsWay = false
            let taken = known.due.suffix(Self.looksMax).reversed().map { SessionID($0) }
            known.due.removeLast(taken.count)
            for session in taken { sendChanges(of: session) }
            lookLater()
        }
    }

    private func sendChanges(of session: SessionID) {
        guard let client = clients.owner(of: session), client.readsProperties, let facts = properties(of: session),
            let before = known.sessions[session.rawValue], before != facts
        else { return }
        known.begin(session, facts)
        send(client, ObjectPath.session(session), InterfaceName.session, facts.changed(since: before))
    }

    private func sendChanges(of link: CameraLink) {
        guard link.capabilities != nil else { return }
        var facts = facts(of: link)
        let before = known.cameras[link.camera]
        // While its last holder is being cut, nobody learns that it is free: the next one is often known.
        if link.isFreeUnsent { facts.holder = before?.holder }
        guard before != facts else { return }
        known.cameras[link.camera] = facts
        guard let before else { return }
        forEachReader { client in
            // Two apps of another user look the same to the client.
            let changed = shown(facts, to: client).changed(since: shown(before, to: client))
            send(client, ObjectPath.camera(link.camera), InterfaceName.camera, changed)
        }
    }

    private func sendBrokerChanges() {
        known.isBrokerDue = false
        let all = brokerProperties
        let changed = all.changed(since: known.broker ?? all)
        known.broker = all
        if changed.values.isEmpty { return }
        forEachReader { send($0, ObjectPath.broker, InterfaceName.broker, (changed.values, [])) }
    }

    private func forEachReader(_ body: (BrokerClient) -> Void) {
        for client in clients.values where client.readsProperties { body(client) }
        if let visitor = broker.audience.visitor, visitor.readsProperties { body(visitor) }
    }

    private func send(
        _ client: BrokerClient, _ path: String, _ interface: String,
        _ changed: (values: WireDictionary, names: [String])
    ) {
        guard client.connection.isReady, !changed.values.isEmpty || !changed.names.isEmpty else { return }
        client.connection.signal(
            path: path, interface: StandardInterface.properties, member: Self.propertiesChanged,
            [.string(interface), .dictionary(changed.values), .strings(changed.names)])
    }

    // MARK: Properties

    func properties(of session: SessionID) -> SessionProperties? {
        broker.arbiter.status(of: session).map { status in
            SessionProperties {
                ($0.camera, $0.isRunning, $0.isInterrupted) = (
                    status.camera, status.state == .running, status.state == .interrupted
                )
                ($0.access, $0.causes, $0.configuration) = (status.access, status.causes, status.configuration)
            }
        }
    }

    private func facts(of link: CameraLink) -> CameraFacts {
        let description = CameraDescription {
            ($0.camera, $0.generation, $0.isPresent) = (link.camera, link.generation, link.isPresent)
            $0.holder = link.outside.map { .outside($0) }
            guard let capabilities = link.capabilities else { return }
            ($0.name, $0.position) = (capabilities.name, capabilities.position)
            ($0.sensorWidth, $0.sensorHeight) = (capabilities.sensorWidth, capabilities.sensorHeight)
            ($0.formats, $0.controls) = (capabilities.formats, capabilities.controls)
            $0.defaultFormatIndex = capabilities.defaultFormatIndex
            $0.availableMetadataObjectTypes = capabilities.availableMetadataObjectTypes
        }
        return CameraFacts(description: description, holder: link.holder)
    }

    var brokerProperties: BrokerProperties {
        BrokerProperties {
            ($0.version, $0.policyName, $0.policyHash) = (
                Release.version, broker.arbiter.policy.name, broker.policy.hash
            )
            ($0.degraded, $0.isPresenceKnown) = (broker.publisher.degraded, broker.arbiter.isPresenceKnown)
        }
    }

    func properties(of link: CameraLink, for client: BrokerClient) -> CameraDescription {
        shown(facts(of: link), to: client)
    }

    private func shown(_ facts: CameraFacts, to client: BrokerClient) -> CameraDescription {
        var description = facts.description
        if let holder = facts.holder { description.holder = trust.shown(holder, to: client) }
        return description
    }
}

private struct KnownProperties {
    var sessions: [UInt64: SessionProperties] = [:]
    /// Sessions that run: causes that leave them as much as before come and go without any notice.
    var running: Set<UInt64> = []
    /// Sessions that may have changed without a notice, the greatest id first.
    var due: [UInt64] = []
    var isLookOnItsWay = false
    var cameras: [CameraID: CameraFacts] = [:]
    var broker: BrokerProperties?
    var isBrokerDue = false

    mutating func note(_ found: some Sequence<UInt64>) {
        var all = Set(due)
        all.formUnion(found)
        if all.count != due.count { due = all.sorted(by: >) }
    }

    mutating func begin(_ session: SessionID, _ facts: SessionProperties) {
        sessions[session.rawValue] = facts
        if facts.isRunning { running.insert(session.rawValue) } else { running.remove(session.rawValue) }
    }
}

private struct CameraFacts: Equatable {
    /// But for its holder, which not every client may know.
    var description: CameraDescription
    var holder: AppID?
}

extension Described {
    /// The properties that have another value than they had, and the names of those that are sent without it.
    fileprivate func changed(since before: Self) -> (values: WireDictionary, names: [String]) {
        var (values, names) = (WireDictionary(), [String]())
        for field in changes(since: before) {
            if field.changes == .named { names.append(field.name) } else { values[field.name] = field.value(self) }
        }
        return (values, names)
    }
}

extension SessionEvent {
    /// False where the event itself contains every change.
    fileprivate var mayChangeProperties: Bool {
        switch self {
        case .willBeInterrupted, .interruptionWithdrawn, .sharersChanged, .recordingStarted, .recordingPaused,
            .recordingResumed, .recordingFinished, .photoCaptured, .rampFinished, .connectionsFormed, .ended:
            false
        case .wasInterrupted, .interruptionChanged, .interruptionEnded, .didStartRunning, .didStopRunning,
            .accessChanged, .sessionStopped, .configurationApplied, .cameraStateChanged, .runtimeError:
            true
        }
    }
}
