import Arbiter
import ArbiterProtocol
import Explain
import Scenario

/// Sees from outside which features a story meets: in events, in what clients are told, and in what each session has at rest.
struct FeatureSpotter: Sendable {
    private(set) var features = Set<FuzzFeature>()
    private(set) var kinds = Set<EventKind>()

    mutating func note(_ step: Stage.Step) {
        kinds.insert(step.event.kind)
        if let feature = Self.feature(step.event) { features.insert(feature) }
        for effect in step.effects {
            switch effect {
            case .notify(_, _, _, let notice): note(notice)
            case .refused(let refusal): note(refusal, of: step.event)
            case .killRecorder: features.insert(.killed)
            case .openStream: features.insert(.stream)
            case .resume: features.insert(.reclaimed)
            case .announce(.questionEnded(_, _, .late)): features.insert(.unanswered)
            case .answered, .cut, .open, .configure, .closeStreams, .capturePhoto, .capturePhotoBracket,
                .attachMicrophone, .detachMicrophone, .startRecording, .stopRecording, .pauseRecording,
                .resumeRecording, .appendMetadata, .setSlate, .announce:
                break
            }
        }
    }

    private static func feature(_ event: Event) -> FuzzFeature? {
        switch event {
        case .policyLoaded(let policy): policy == .firstCome ? .builtIn : .reload
        case .reserved: .reservation
        case .ready: .ready
        case .commitConfiguration: .batch
        case .attribute: .attribute
        case .modeSet, .calendar: .mode
        case .loweredPriority, .loweredAttribute: .lowered
        case .sourceGone: .sourceGone
        case .operatorChose: .operatorChose
        case .heldOutside: .heldOutside
        default: nil
        }
    }

    private mutating func note(_ refusal: Refusal, of event: Event) {
        switch (refusal.error.kind, event) {
        case (.refusedByPolicy, .startRunning): features.insert(.refused)
        case (.accessDenied, .startRunning): features.insert(.noRight)
        case (.unsupportedConfiguration, _): features.insert(.configurationRefused)
        default: break
        }
    }

    private mutating func note(_ notice: SessionEvent) {
        switch notice {
        case .willBeInterrupted: features.insert(.grace)
        case .interruptionWithdrawn: features.insert(.withdrawn)
        case .wasInterrupted(let told):
            note(told.causes)
            if told.interrupter == .anotherUsersApp { features.insert(.otherUser) }
            if told.recording != nil { features.insert(.recordingCut) }
        case .interruptionChanged(let told): note(told.causes)
        case .accessChanged(let told):
            if told.access != .all { features.insert(.limited) }
            note(told.causes)
        case .sessionStopped(SessionStop(.deniedByPolicy, rule: Law.noRight.text)): features.insert(.rightTaken)
        case .sessionStopped(let told): note(told.reason)
        case .recordingStarted: features.insert(.recording)
        case .recordingFinished(let end): if end.why == .diskFull { features.insert(.diskFull) }
        case .photoCaptured: features.insert(.photo)
        case .configurationApplied(let told): features.insert(told.asked[.camera] == nil ? .configuration : .switched)
        case .rampFinished: features.insert(.ramp)
        case .connectionsFormed: features.insert(.switched)
        case .interruptionEnded, .didStartRunning, .didStopRunning, .recordingPaused, .recordingResumed,
            .cameraStateChanged, .runtimeError, .sharersChanged, .ended:
            break
        }
    }

    private mutating func note(_ reason: StopReason) {
        switch reason {
        case .evicted: features.insert(.evicted)
        case .leaseExpired: features.insert(.lease)
        case .deniedByPolicy: features.insert(.denied)
        case .configurationLost: features.insert(.configurationLost)
        case .stoppedByUser: features.insert(.stoppedByUser)
        case .deniedByUser: features.insert(.saidNo)
        case .recorderFailed: features.insert(.gaveUp)
        }
    }

    private mutating func note(_ causes: CauseSet) {
        for cause in causes.ordered {
            switch cause {
            case .videoDeviceNotAvailableInBackground: features.insert(.background)
            case .audioDeviceInUseByAnotherClient: features.insert(.audio)
            case .videoDeviceNotAvailableWithMultipleForegroundApps: features.insert(.severalApps)
            case .videoDeviceNotAvailableDueToSystemPressure: features.insert(.pressure)
            case .sensitiveContentMitigationActivated: features.insert(.sensitive)
            case .videoDeviceDisconnected: features.insert(.unplugged)
            case .videoDeviceBlockedByPrivacy: features.insert(.privacy)
            case .loginSessionInactive: features.insert(.loginSession)
            case .systemSleep: features.insert(.sleep)
            case .deviceError: features.insert(.deviceError)
            case .recorderReset: features.insert(.reset)
            case .brokerRestarted: features.insert(.brokerRestarted)
            case .waitingForPermission: features.insert(.asked)
            case .videoDeviceInUseByAnotherClient: break
            }
        }
    }

    mutating func rest(_ arbiter: Arbiter) {
        let asking = arbiter.status().sessions.filter { $0.state != .stopped }
        if asking.contains(where: { $0.state == .running && !$0.isHolder }) { features.insert(.sharing) }
        let policy = arbiter.policy
        for (index, one) in asking.enumerated() {
            for other in asking[(index + 1)...] {
                if one.camera == other.camera {
                    if one.app == other.app { features.insert(.sameApp) }
                } else if Self.conflict(one.camera, other.camera, policy) {
                    features.insert(one.app == other.app ? .ownConflict : .conflict)
                }
            }
        }
        guard let budget = policy.contention.budget else { return }
        let wanted = Set(asking.map(\.camera))
        let sum = policy.cameras.reduce(0) { wanted.contains($1.camera) ? $0 + $1.cost.dearest : $0 }
        if sum > budget { features.insert(.budget) }
    }

    private static func conflict(_ a: CameraID, _ b: CameraID, _ policy: Policy) -> Bool {
        policy.cameras.contains {
            ($0.camera == a && $0.conflicts.contains(b)) || ($0.camera == b && $0.conflicts.contains(a))
        }
    }
}

/// What a story can meet, and a run counts: a promise that was never tried is not kept.
package enum FuzzFeature: String, Sendable, CaseIterable {
    case sharing, conflict, ownConflict, sameApp, budget, refused
    case grace, withdrawn, ready, lease, evicted, denied, reload, builtIn, reservation, reclaimed
    case recording, recordingCut, diskFull, photo, stream
    case configuration, configurationRefused, switched, ramp, batch
    case limited, background, audio, severalApps, pressure, sensitive, attribute, mode, lowered
    case unplugged, configurationLost, privacy, loginSession, sleep, heldOutside, deviceError, reset, killed, gaveUp
    /// Somebody had no right to a camera, or lost it by a reload.
    case noRight, rightTaken
    /// A user was asked about an app, said no, did not answer, or stopped it.
    case asked, saidNo, unanswered, stoppedByUser
    case brokerRestarted, sourceGone, otherUser, operatorChose
    /// Compared with the reference to its end.
    case compared

    package var words: String { rawValue.reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : "\($1)" } }
}

extension Set where Element: CaseIterable {
    package var missing: [Element] { Element.allCases.filter { !contains($0) } }
}
