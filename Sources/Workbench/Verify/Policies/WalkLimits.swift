import Arbiter
package import ArbiterProtocol
package import PolicyFile
import Scenario

/// The keys of the policy language that walks read, by its tables. A verdict names each key of its policy that no walk reads.
package enum WalkedKeys {
    private static func walk(of key: PolicyKey, _ policies: [Policy]) -> WalkedAs {
        if let walk = key.walk { return walk }
        let isAttribute = policies.contains { $0.attributes.contains { $0.name == key.name } }
        return key.table == "rank" && isAttribute ? .walked : .unwalked
    }

    package static func notWalked(_ said: some Sequence<PolicyKey>, _ policies: [Policy]) -> [PolicyKey] {
        Set(said).filter { walk(of: $0, policies) == .unwalked }.sorted()
    }

    package static func notCompared(_ different: some Sequence<PolicyKey>, _ policies: [Policy]) -> [PolicyKey] {
        Set(different).filter { walk(of: $0, policies) != .walked }.sorted()
    }
}

private enum WalkedEvents {
    typealias Remark = (words: String, matters: @Sendable (PolicyReads) -> Bool)

    static let answers: Set<EventKind> = [
        .recorderStreaming, .recorderCut, .recorderClosedStreams, .recorderConfigured, .recordingFinished, .timePassed,
    ]

    static let declaredLater = "what clients say of multitasking later"

    /// The words for events that happen in no world, and the policies under which each matters. An event without a
    /// remark has its own name, and matters under every policy.
    static let remarks: [EventKind: Remark] = {
        var found: [EventKind: Remark] = [:]
        func add(
            _ words: String, _ kinds: [EventKind], _ matters: @escaping @Sendable (PolicyReads) -> Bool = { _ in true }
        ) { for kind in kinds { found[kind] = (words, matters) } }
        add("clients that come later", [.connected, .created])
        add("vanishing clients", [.disconnected])
        add("sessions that are closed", [.closed])
        add("configurations", [.configure])
        add("batches", [.beginConfiguration, .commitConfiguration])
        add("streams and photos", [.openStream, .capturePhoto, .capturePhotoBracket, .photoCaptured])
        add("microphones of recordings", [.attachMicrophone]) { $0.recording }
        add("recordings", [.startRecording, .stopRecording]) { $0.recording }
        add("recordings that pause, and their metadata", [.pauseRecording, .resumeRecording, .appendMetadata]) {
            $0.recording
        }
        add("sessions that are ready", [.ready]) { $0.graces }
        add("lowering a rank", [.loweredPriority]) { $0.policies.contains { $0.ranks.count > 1 } }
        add("attributes", [.attribute]) { !$0.attributes(among: 1).isEmpty }
        add(declaredLater, [.declared]) { $0.multitasking }
        add("lowering an attribute", [.loweredAttribute]) { $0.policies.contains { !$0.attributes.isEmpty } }
        add("presence", [.placed]) { $0.presence && ($0.sources.contains(.shell) || $0.sources.contains(.agent)) }
        add("apps that leave the screen", [.unplaced]) {
            $0.presence && ($0.sources.contains(.shell) || $0.sources.contains(.agent))
        }
        add("declared presence", [.declaredPresence]) { $0.presence && $0.declares }
        add("presence sources that leave", [.sourceAttached, .sourceGone]) { !$0.sources.isEmpty }
        add("the operator's choice", [.operatorChose]) { $0.operatorChoice }
        add("microphones", [.microphone]) { $0.microphone }
        add("login sessions", [.loginSession])
        add("login sessions that end", [.loginSessionEnded])
        add("pressure", [.pressure]) { !$0.pressures.isEmpty }
        add("modes", [.calendar]) { !$0.modes.isEmpty }
        add("modes set by hand (the calendar says each)", [.modeSet]) { !$0.modes.isEmpty }
        add("users' answers", [.answered, .questionAnswered]) { $0.asks }
        add("questions that come late", [.questionsWatched]) { $0.asks }
        add("apps that their user stops, and users' own switches", [.stoppedByUser, .ownPrivacy, .answersForgotten])
        add("sensitive content", [.sensitiveContent, .continueAfterSensitiveContent])
        add("unplugged cameras", [.cameraAppeared, .cameraDisappeared])
        add("the privacy switch", [.privacy])
        add("sleep", [.sleep])
        add("programs outside the broker", [.heldOutside])
        add(
            "faults of devices and recorders",
            [.deviceFailed, .recorderGone, .recorderTrouble, .recorderRefusedConfiguration])
        add("ramps, and changes of a camera's state", [.rampFinished, .cameraStateChanged])
        add("reloads", [.policyLoaded])
        add("restarts of the broker", [.reserved, .reclaimed])
        return found
    }()
}

extension SmallWorld.Move {
    fileprivate var happenings: [EventKind] {
        actions.compactMap { action in
            switch action {
            case .event(let event), .answer(let event, _): return event.kind
            case .ready: return .ready
            case .behave: return nil
            }
        }
    }
}

struct WalkLimits {
    private let reads: PolicyReads
    private let scope: WalkScope
    private let worlds: [SmallWorld]
    private var policies: [Policy] { reads.policies }

    init(_ policies: [Policy], _ worlds: [SmallWorld], _ scope: WalkScope) {
        reads = PolicyReads(policies)
        self.scope = scope
        self.worlds = worlds
    }

    var keysNotWalked: [PolicyKey] { WalkedKeys.notWalked(policies.flatMap(\.decidingKeys), policies) }

    var keysNotCompared: [PolicyKey] {
        let different = policies[0].keysThatDiffer(from: policies[1])
        let sources = PolicyKey("", "sources")
        let isUnheard = different.contains(sources) && !reads.sourcesUnheard.isEmpty
        return (WalkedKeys.notCompared(different, policies) + (isUnheard ? [sources] : [])).sorted()
    }

    var neverVaried: [String] {
        let happens = happens
        let events = EventKind.allCases.filter { !happens.contains($0) }.compactMap { kind -> String? in
            guard let known = WalkedEvents.remarks[kind] else { return kind.rawValue }
            return known.matters(reads) ? known.words : nil
        }
        return unique(keysNotWalked.map(\.description) + events + combinations)
    }

    private var happens: Set<EventKind> {
        worlds.reduce(into: WalkedEvents.answers) { $0.formUnion($1.moves.flatMap(\.happenings)) }
    }

    private var combinations: [String] {
        var found: [String] = []
        if !scope.lateRecorders { found.append("late recorders") }
        if scope.machineEvents {
            found += [
                "two of the machine's and the configuration's changes at once",
                "configurations but zoom, sharing and formats", "reloads of other policies",
            ]
            if policies.contains(where: { $0.contention.sharing != .none }) {
                found.append("more than three orders without a recorder's answer")
            }
        } else if happens.contains(.configure) {
            found.append("configurations but formats")
        }
        // A client that comes back declares the same.
        if reads.multitasking { found.append(WalkedEvents.declaredLater) }
        if reads.microphone { found.append("microphones that apps with sessions take") }
        if reads.foregroundApps { found.append("apps that require the full screen") }
        if !reads.sourcesUnheard.isEmpty { found.append("what sources behind the first say") }
        found += ["more than two sessions of a client", "two clients with two sessions each"]
        if reads.users.count == 1 { found.append("other users") }
        if policies.contains(where: { $0.ranks.count > 2 }) { found.append("lowering to a rank between") }
        return found
    }
}
