import Arbiter
package import ArbiterProtocol
import Explain
package import Scenario

/// The features that a run meets, seen from outside: in events, effects and notices, and in each session at rest.
struct FeatureSpotter: Sendable {
    private(set) var features = Set<FuzzFeature>()
    private(set) var kinds = Set<EventKind>()

    mutating func note(_ step: Stage.Step) {
        kinds.insert(step.event.kind)
        if case .policyLoaded(let policy) = step.event { features.insert(policy == .firstCome ? .builtIn : .reload) }
        for effect in step.effects {
            features.insert(.effect(effect.described.kind))
            switch effect {
            case .notify(_, let session, _, let notice):
                note(notice)
                if case .accessChanged(let news) = notice, news.controller != nil,
                    step.event.takesControl(from: session)
                {
                    features.insert(.controlByCommit)
                }
            case .refused(let refusal):
                switch (refusal.error.kind, step.event) {
                case (.refusedByPolicy, .startRunning): features.insert(.refused)
                case (.accessDenied, .startRunning): features.insert(.noRight)
                case (.unsupportedConfiguration, _): features.insert(.configurationRefused)
                default: break
                }
                if let met = FuzzFeature.byLaw[refusal.rule] { features.insert(met) }
            case .announce(.questionEnded(_, _, .late)): features.insert(.unanswered)
            default: break
            }
        }
    }

    private mutating func note(_ notice: SessionEvent) {
        features.insert(.notice(notice.wireName))
        switch notice {
        case .wasInterrupted(let news):
            note(news.causes)
            if news.interrupter == .anotherUsersApp { features.insert(.otherUser) }
            if news.recording != nil { features.insert(.recordingCut) }
        case .interruptionChanged(let news): note(news.causes)
        case .accessChanged(let news):
            if news.access != .all { features.insert(.limited) }
            note(news.causes)
        case .sessionStopped(let news):
            features.insert(news.rule == Law.noRight.text ? .rightTaken : .stop(news.reason))
        case .recordingFinished(let news): if news.why == .diskFull { features.insert(.diskFull) }
        case .configurationApplied(let news): if news.asked[.camera] != nil { features.insert(.switched) }
        default: break
        }
    }

    private mutating func note(_ causes: CauseSet) { features.formUnion(causes.ordered.map { .cause($0) }) }

    mutating func rest(_ arbiter: Arbiter) {
        let asking = arbiter.status().sessions.filter { $0.state != .stopped }
        let sharers = asking.filter { $0.state == .running && !$0.isHolder }
        if !sharers.isEmpty { features.insert(.sharing) }
        if sharers.contains(where: \.isRecording) { features.insert(.sharerRecords) }
        let policy = arbiter.policy
        for (index, one) in asking.enumerated() {
            for other in asking[(index + 1)...] {
                if one.camera == other.camera {
                    if one.app == other.app { features.insert(.sameApp) }
                } else if policy.conflict(one.camera, other.camera) {
                    features.insert(one.app == other.app ? .ownConflict : .conflict)
                }
            }
        }
        guard let budget = policy.contention.budget else { return }
        let wanted = Set(asking.map(\.camera))
        let sum = policy.cameras.reduce(0) { wanted.contains($1.camera) ? $0 + $1.cost.dearest : $0 }
        if sum > budget { features.insert(.budget) }
    }
}

extension Event {
    /// A batch that another session may lose control for.
    fileprivate func takesControl(from loser: SessionID) -> Bool {
        switch self {
        case .configure(let id, let batch): id != loser && batch[.sharingMode] == nil
        case .commitConfiguration(let id): id != loser
        default: false
        }
    }
}

/// A situation that runs are counted by: a promise that was never tried is not kept.
package struct FuzzFeature: Hashable, Sendable, CaseIterable {
    package let words: String

    package static func cause(_ cause: Cause) -> FuzzFeature { FuzzFeature(words: cause.shortName) }
    package static func stop(_ reason: StopReason) -> FuzzFeature { FuzzFeature(words: reason.rawValue) }
    package static func notice(_ name: String) -> FuzzFeature { FuzzFeature(words: name) }
    package static func effect(_ kind: EffectKind) -> FuzzFeature { FuzzFeature(words: kind.rawValue) }

    static let sharing = FuzzFeature(words: "sharing")
    static let controlByCommit = FuzzFeature(words: "control-by-commit")
    static let sharerRecords = FuzzFeature(words: "sharer-records")
    static let recordingOfAnother = FuzzFeature(words: "refused-for-another's-recording")
    static let exactRefused = FuzzFeature(words: "exact-format-refused")
    static let microphoneOfTheHolder = FuzzFeature(words: "sharer's-microphone-refused")
    static let sharersBounded = FuzzFeature(words: "too-many-sharers")
    static let conflict = FuzzFeature(words: "conflict")
    static let ownConflict = FuzzFeature(words: "own-conflict")
    static let sameApp = FuzzFeature(words: "same-app")
    static let budget = FuzzFeature(words: "over-the-budget")
    static let refused = FuzzFeature(words: "start-refused")
    static let noRight = FuzzFeature(words: "no-right")
    static let rightTaken = FuzzFeature(words: "right-taken")
    static let configurationRefused = FuzzFeature(words: "configuration-refused")
    static let switched = FuzzFeature(words: "camera-switched")
    static let reload = FuzzFeature(words: "reload")
    static let builtIn = FuzzFeature(words: "built-in-policy")
    package static let recordingCut = FuzzFeature(words: "recording-cut")
    static let diskFull = FuzzFeature(words: "disk-full")
    static let otherUser = FuzzFeature(words: "another-users-app")
    package static let limited = FuzzFeature(words: "limited-access")
    static let unanswered = FuzzFeature(words: "question-unanswered")
    /// Compared with the reference to its end.
    package static let compared = FuzzFeature(words: "compared")

    /// Met where a request is refused by the law.
    static let byLaw: [String: FuzzFeature] = [
        Law.recordingOfAnother.text: .recordingOfAnother, Law.exactMatch.text: .exactRefused,
        Law.microphoneOfTheHolder.text: .microphoneOfTheHolder, Law.sharersBounded.text: .sharersBounded,
    ]

    package static let allCases: [FuzzFeature] =
        [
            .sharing, .controlByCommit, .sharerRecords, .recordingOfAnother, .exactRefused, .microphoneOfTheHolder,
            .sharersBounded, .conflict, .ownConflict, .sameApp, .budget, .refused, .noRight, .rightTaken,
            .configurationRefused, .switched, .reload, .builtIn, .recordingCut, .diskFull, .otherUser, .limited,
            .unanswered, .compared,
        ] + Cause.allCases.map { .cause($0) } + StopReason.allCases.map { .stop($0) }
        + NoticeDescription.all.map { .notice($0.name) } + EffectKind.allCases.map { .effect($0) }
}

extension Set where Element: CaseIterable {
    package var missing: [Element] { Element.allCases.filter { !contains($0) } }
}
