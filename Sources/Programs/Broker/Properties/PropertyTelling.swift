import Arbiter
import ArbiterProtocol
import Bus
import Explain
import Scenario
import System

/// `PropertiesChanged`, for clients that read properties: one signal a step and object, after the step's notices and
/// before the answer to the call that caused it.
final class PropertyTelling: BrokerPart {
    var news = PropertyNews()

    /// The client has read a property, or wants such signals: from now on it is told what changes.
    func isRead(by client: BrokerClient) {
        guard !client.readsProperties, !client.isGone else { return }
        client.readsProperties = true
        news.readerCame()
        if news.readers == 1 {
            _ = news.changes(ofBroker: brokerProperties)
            for link in cameras.order where link.capabilities != nil {
                _ = news.change(of: link.camera, facts(of: link))
            }
        }
        for session in client.sessions { beginNews(of: session, client) }
    }

    /// A rule of `AddMatch`. What names another interface or member cannot match.
    func addMatch(_ rule: String, _ client: BrokerClient) {
        let isOther =
            (rule.holds("interface=") && !rule.holds(StandardInterface.properties))
            || (rule.holds("member=") && !rule.holds(Self.propertiesChanged))
        if !isOther { isRead(by: client) }
    }

    func forget(_ client: BrokerClient) {
        guard client.readsProperties else { return }
        client.readsProperties = false
        news.readerLeft()
    }

    func beginNews(of session: SessionID, _ client: BrokerClient) {
        guard client.readsProperties, let facts = facts(of: session) else { return }
        news.begin(session, facts)
    }

    /// Once for each step, after its effects. Without readers it costs a comparison.
    func tell(_ event: Event, _ effects: [Effect]) {
        guard news.readers > 0 else { return }
        var seen: Set<UInt64> = []
        for effect in effects {
            if case .notify(_, let session, _, let notice) = effect, notice.mayChangeProperties,
                seen.insert(session.rawValue).inserted
            {
                tellChanges(of: session)
            }
        }
        for case .session(let session) in event.subjects where seen.insert(session.rawValue).inserted {
            tellChanges(of: session)
        }
        switch event {
        // What is in force, or kept for later, may change without a word to the session it concerns.
        case .recorderStreaming(let camera, _, _), .recorderRefusedConfiguration(let camera, _, _, _),
            .cameraAppeared(let camera, _, _):
            news.noteSessions(on: camera)
        default: break
        }
        // That a camera is free is told when its cut is done, which no effect says.
        if !effects.isEmpty || !event.described.traits.contains(.routine) || event.recorderNewsOf != nil {
            news.noteRunning()
            for link in cameras.order { tellChanges(of: link) }
            if news.isBrokerDue || broker.arbiter.isPresenceKnown != news.wasPresenceKnown { tellBrokerChanges() }
        }
        lookLater()
    }

    /// Something is amiss, or well again, or another policy is about to be in force.
    func degradedMayHaveChanged() {
        guard news.readers > 0, !news.isBrokerDue else { return }
        news.isBrokerDue = true
        broker.loop.defer { [self] in if news.isBrokerDue { tellBrokerChanges() } }
    }

    private func lookLater() {
        guard news.shouldBeginLook() else { return }
        broker.loop.defer { [self] in
            for session in news.takeDue() { tellChanges(of: session) }
            lookLater()
        }
    }

    func facts(of session: SessionID) -> SessionProperties? {
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

    private static let propertiesChanged = "PropertiesChanged"

    private func tellChanges(of session: SessionID) {
        guard let client = clients.owner(of: session), client.readsProperties,
            let facts = facts(of: session),
            let changed = news.changes(of: session, facts)
        else { return }
        tell(client, ObjectPath.session(session), InterfaceName.session, changed)
    }

    private func tellChanges(of link: CameraLink) {
        guard link.capabilities != nil else { return }
        var facts = facts(of: link)
        // While its last holder is being cut, nobody hears that it is free: the next one is often known.
        if link.freeIsUntold { facts.holder = news.holder(of: link.camera) }
        guard let before = news.change(of: link.camera, facts) else { return }
        for client in clients.values where client.readsProperties {
            // Two apps of another user look the same to the client.
            let (values, names) = shown(facts, to: client).told(since: shown(before, to: client))
            tell(client, ObjectPath.camera(link.camera), InterfaceName.camera, values, names)
        }
    }

    private func tellBrokerChanges() {
        news.isBrokerDue = false
        let changed = news.changes(ofBroker: brokerProperties)
        if changed.isEmpty { return }
        for client in clients.values where client.readsProperties {
            tell(client, ObjectPath.broker, InterfaceName.broker, changed)
        }
    }

    private func tell(
        _ client: BrokerClient, _ path: String, _ interface: String, _ changed: WireDictionary, _ named: [String] = []
    ) {
        guard client.connection.isReady, !changed.entries.isEmpty || !named.isEmpty else { return }
        let signal = BusMessage.signal(
            on: client.connection, path: path, interface: StandardInterface.properties, member: Self.propertiesChanged)
        signal?.append(interface)
        signal?.append(changed)
        signal?.append(named)
        signal?.send()
    }
}

extension SessionEvent {
    /// False where the event itself says all there is to know.
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
