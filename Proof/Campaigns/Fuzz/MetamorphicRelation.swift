import Arbiter
package import ArbiterProtocol
import Explain
package import Scenario
import Workbench

/// Events that change nothing, and so have no effect anywhere in a case.
package struct MetamorphicRelation: Sendable {
    package let rule: String
    /// The events that change nothing in a state; each is tried by itself.
    let events: @Sendable (Stage) -> [Event]
    /// Whether the contract gives such an event an effect.
    let isExcused: @Sendable (Stage.Step) -> Bool

    package init(
        rule: String, events: @escaping @Sendable (Stage) -> [Event],
        isExcused: @escaping @Sendable (Stage.Step) -> Bool
    ) { (self.rule, self.events, self.isExcused) = (rule, events, isExcused) }

    package static let all: [MetamorphicRelation] = [.samePolicy, .nothingNew]

    /// A load stops sessions without a right, and those that the policy denies now (semantics.md §6).
    package static let samePolicy = MetamorphicRelation(
        rule: "loading the policy that is in force changes nothing", events: { [.policyLoaded($0.arbiter.policy)] },
        isExcused: { step in
            step.effects.contains {
                if case .notify(_, _, _, .sessionStopped(let stop)) = $0 {
                    stop.reason == .deniedByPolicy
                } else {
                    false
                }
            }
        })
}

/// Tries the events after every line of a case, each in a copy: there must be no effect, and the same state.
package struct MetamorphicJudge: FuzzJudge {
    private let relations: [MetamorphicRelation]
    package private(set) var comparisons = 0

    package init(_ relations: [MetamorphicRelation] = MetamorphicRelation.all) { self.relations = relations }

    package var judgedAll: Bool { true }
    package mutating func begin(_ policy: Policy) { comparisons = 0 }
    package mutating func judge(_ step: Stage.Step) -> String? { nil }

    package mutating func rest(_ stage: Stage) -> String? {
        // Deadlines of this moment fire with any event.
        if stage.nextMoment.map({ $0 <= stage.now }) == true { return nil }
        // The time that is left to a deadline is part of a state.
        var now = stage
        now.checksEverything = false
        now.perform(.event(.timePassed))
        let before = now.arbiter.fingerprint()
        // Where only starts are decided, a session waits by the rule of the start to which it lost, and by `re-decide: open` after
        // the next look.
        let keepsState = stage.arbiter.policy.contention.reDecide == .facts
        for relation in relations {
            for event in relation.events(stage) {
                var copy = stage
                copy.checksEverything = false
                copy.perform(.event(event))
                comparisons += 1
                guard let step = copy.takeSteps().first, !relation.isExcused(step) else { continue }
                let sentence = "\(relation.rule), and \(event.kind.rawValue)"
                if let effect = step.effects.first { return "\(sentence) leads to \(Self.name(effect))" }
                if keepsState, copy.arbiter.fingerprint() != before { return "\(sentence) leaves another state" }
            }
        }
        return nil
    }

    private static func name(_ effect: Effect) -> String {
        if case .notify(_, _, _, let notice) = effect { notice.wireName } else { effect.described.kind.rawValue }
    }
}

extension MetamorphicRelation {
    /// A refused event changes nothing.
    package static let nothingNew = MetamorphicRelation(
        rule: "what is so already changes nothing when it is said again",
        events: { stage in EventKind.allCases.flatMap { said(again: $0, stage.arbiter) } },
        isExcused: { $0.effects.contains { if case .refused = $0 { true } else { false } } })

    /// The events of a kind that repeat what is known. Some kinds, such as photos, are new each time.
    private static func said(again kind: EventKind, _ arbiter: Arbiter) -> [Event] {
        let (state, policy) = (arbiter.state, arbiter.policy)
        switch kind {
        case .created, .reclaimed, .beginConfiguration, .commitConfiguration, .configure, .openStream, .capturePhoto,
            .capturePhotoBracket, .attachMicrophone, .startRecording, .stopRecording, .pauseRecording, .resumeRecording,
            .appendMetadata, .ready, .closed, .questionAnswered, .stoppedByUser, .cameraAppeared, .recorderGone,
            .deviceFailed, .photoCaptured, .recorderTrouble, .reserved, .policyLoaded:
            return []
        case .timePassed: return [.timePassed]
        case .connected, .declared, .declaredPresence, .loweredPriority, .loweredAttribute:
            return state.clientSlots.slots.flatMap { said(again: kind, of: $0, state, policy) }
        case .disconnected: return [.disconnected(ClientID(0))]

        case .startRunning: return state.ids { $0.request != nil }.map { .startRunning($0) }
        case .stopRunning: return state.ids { $0.request == nil }.map { .stopRunning($0) }
        case .continueAfterSensitiveContent:
            return state.ids { !$0.has.contains(.sensitiveContent) }.map { .continueAfterSensitiveContent($0) }
        case .sourceAttached:
            return state.sources.filter(\.state.isAttached).map { .sourceAttached($0.kind, user: $0.user) }
        case .sourceGone:
            return state.sources.filter { !$0.state.isAttached }.map { .sourceGone($0.kind, user: $0.user) }
        case .operatorChose: return [.operatorChose(state.world.operatorChoice.map { state.id($0) })]
        case .modeSet:
            guard let byHand = state.modeWords.byHand else { return [.modeSet(nil, by: .root)] }
            return [.modeSet(byHand.mode, by: byHand.by)]
        case .calendar: return [.calendar(state.modeWords.calendar)]
        case .loginSession:
            return state.logins.rows.indices.compactMap { row in
                let login = Slot<Login>(row)
                return state.facts(of: login).map { .loginSession(state.id(login), $0) }
            }
        case .loginSessionEnded: return [.loginSessionEnded(LoginSessionID("nobody's"))]
        case .placed, .unplaced, .microphone, .sensitiveContent, .attribute:
            return state.namedApps.flatMap { said(again: kind, of: $0, state, policy) }
        case .answered, .questionsWatched, .ownPrivacy, .answersForgotten: return saidByUsers(again: kind, state)
        case .cameraDisappeared:
            return state.cameraOrder.filter { !state.cameras[$0].isPresent }.map { .cameraDisappeared(state.id($0)) }
        case .privacy:
            return [.privacy(nil, on: state.world.isPrivate)]
                + state.cameraOrder.map { .privacy(state.id($0), on: state.cameras[$0].isPrivate) }
        case .heldOutside: return state.cameraOrder.map { .heldOutside(state.id($0), state.cameras[$0].isHeldOutside) }
        case .pressure:
            // The last level: the lowest that has not lasted long enough.
            let falling = state.timers.filter { $0.kind == .falling }.map { UInt8($0.amount) }.min()
            return SystemPressure(rawValue: falling ?? state.world.pressureLevel).map { [.pressure($0)] } ?? []
        case .sleep: return [.sleep(state.world.isAsleep)]
        case .recorderStreaming, .recorderCut, .recorderClosedStreams, .recorderConfigured,
            .recorderRefusedConfiguration, .rampFinished, .cameraStateChanged, .recordingFinished:
            return saidByRecorders(again: kind, state)
        }
    }

    private static func saidByUsers(again kind: EventKind, _ state: State) -> [Event] {
        switch kind {
        case .questionsWatched:
            return state.someUsers.map { .questionsWatched(user: $0, state.questionWatchers.contains($0)) }
        case .ownPrivacy: return state.someUsers.map { .ownPrivacy(user: $0, on: state.privateUsers.contains($0)) }
        case .answersForgotten:
            return state.someUsers.filter { user in
                !state.privateUsers.contains(user) && !state.words.contains { $0.app.user == user }
            }.map { .answersForgotten(user: $0) }
        default:
            let unasked = state.namedApps.map { state.id($0) }.filter { app in
                !state.words.contains { $0.app == app } && app.user != 0
            }
            return state.words.flatMap { word in
                let said = word.answer.map { Event.answered(word.app, isClaimed: word.isClaimed, $0, by: word.origin) }
                let denied = Event.answered(word.app, isClaimed: false, .deny, by: .permissionStore)
                return (said.map { [$0] } ?? []) + (word.isDenied ? [denied] : [])
            }
                + unasked.flatMap { app in
                    [
                        .answered(app, isClaimed: false, nil, by: .user),
                        .answered(app, isClaimed: true, nil, by: .user),
                        .answered(app, isClaimed: false, nil, by: .permissionStore),
                    ]
                }
        }
    }

    private static func saidByRecorders(again kind: EventKind, _ state: State) -> [Event] {
        if kind == .recordingFinished {
            return [.recordingFinished(0, why: .stopped, frames: 0, duration: .zero, bytes: 0)]
        }
        return state.cameraOrder.map { state.id($0) }.map { camera in
            switch kind {
            case .recorderStreaming: .recorderStreaming(camera, GrantID(0), inForce: Configuration())
            case .recorderCut: .recorderCut(camera, GrantID(0))
            case .recorderClosedStreams: .recorderClosedStreams(camera, GrantID(0), SessionID(0))
            case .recorderConfigured:
                .recorderConfigured(camera, GrantID(0), asked: Configuration(), inForce: Configuration())
            case .recorderRefusedConfiguration:
                .recorderRefusedConfiguration(camera, GrantID(0), asked: Configuration(), message: "late")
            case .rampFinished: .rampFinished(camera, GrantID(0), videoZoomFactor: 1)
            default: .cameraStateChanged(camera, GrantID(0), Configuration())
            }
        }
    }

    private static func said(again kind: EventKind, of slot: Slot<Client>, _ state: State, _ policy: Policy) -> [Event]
    {
        let (client, texts, id) = (state.clients[slot], state.clientTexts[Int(slot.index)], state.id(slot))
        switch kind {
        case .connected:
            return [.connected(id, app: state.id(client.app), ClientIdentity(verified: !client.app.isClaimed))]
        case .declared:
            return [
                .declared(
                    id,
                    ClientAttributes(
                        claimedApp: texts.claimedApp, kind: client.kind.word, multitasking: client.multitasking,
                        requiresFullScreen: client.requiresFullScreen))
            ]
        case .declaredPresence:
            let declared = state.apps[client.app.slot][client.app].declared
            guard declared.isSomewhere else { return [] }
            return [.declaredPresence(id, declared.presence, focused: declared.isFocused)]
        case .loweredPriority: return texts.loweredTo.map { [.loweredPriority(id, rank: $0)] } ?? []
        case .loweredAttribute:
            // A policy forgets the attributes of another one when one of its own is lowered.
            guard texts.loweredAttributes.areAll(of: policy) else { return [] }
            return texts.loweredAttributes.pairs.map { .loweredAttribute(id, attribute: $0.name, to: $0.value) }
        default: return []
        }
    }

    private static func said(again kind: EventKind, of slot: Slot<App>, _ state: State, _ policy: Policy) -> [Event] {
        let (app, id) = (state.apps[slot], state.id(slot))
        switch kind {
        case .placed, .unplaced:
            return [(PresenceSource.shell, app.byShell), (.agent, app.byAgent)].compactMap { source, placed in
                guard placed.isSomewhere else { return kind == .unplaced ? .unplaced(id, by: source) : nil }
                // The words of a lost source become those of an attached one.
                let isOwn = state.sources.contains { $0.kind == source && $0.user == id.user && $0.state.isAttached }
                guard kind == .placed, !placed.isStale, placed.isOwn == isOwn else { return nil }
                return .placed(id, placed.presence, focused: placed.isFocused, by: source)
            }
        case .microphone: return [.microphone(id, taken: app.hasMicrophone)]
        case .sensitiveContent:
            let sessions = [false, true].map { state.ref(slot, isClaimed: $0) }.flatMap { state.clients(of: $0) }
                .flatMap { state.sessions(of: $0) }
            guard sessions.allSatisfy({ state.sessions[$0].has.contains(.sensitiveContent) }) else { return [] }
            return [.sensitiveContent(id)]
        case .attribute:
            let values = state.attributes[Int(slot.index)]
            guard values.areAll(of: policy) else { return [] }
            let others = policy.attributes.map(\.name).filter { values[$0] == nil }
            return values.pairs.map { .attribute(id, name: $0.name, value: $0.value) }
                + others.map { .attribute(id, name: $0, value: nil) }
        default: return []
        }
    }
}

extension AttributeValues {
    fileprivate func areAll(of policy: Policy) -> Bool {
        pairs.allSatisfy { pair in policy.attributes.contains { $0.name == pair.name && $0.values.contains(pair.value) }
        }
    }
}

extension State {
    fileprivate func ids(where isMeant: (Session) -> Bool) -> [SessionID] {
        sessionSlots.slots.filter { isMeant(sessions[$0]) }.map { id($0) }
    }

    /// Users with apps or words, and one without.
    fileprivate var someUsers: [UInt32] {
        Set(namedApps.map { apps[$0].user } + privateUsers + questionWatchers + [UInt32.max - 1]).sorted()
    }
}
