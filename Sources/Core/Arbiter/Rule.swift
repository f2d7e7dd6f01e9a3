/// Which rule brought an outcome: three words small, so that a decision carries it about without a text. A rule is
/// either one that a policy file writes, by its place among the compiled policy's texts, or a law of the contract. The
/// text is looked up when somebody is told.
package struct Rule: Hashable, Sendable, Codable, BitwiseCopyable {
    package enum Kind: UInt8, Hashable, Sendable, Codable, BitwiseCopyable {
        /// A `[[cause]]` or `[[rank]]` of the policy.
        case policy
        /// A key of the policy's order list.
        case order
        case law
    }

    package var kind: Kind
    /// Of a policy's rule: its place among the texts in force. Of a law: its raw value.
    package var index: UInt16
    /// Its bid has won, and waits only for the time that the holder has.
    package var isAfterItsTime = false

    init(_ kind: Kind, _ index: Int) {
        self.kind = kind
        self.index = UInt16(truncatingIfNeeded: index)
    }

    init(_ law: Law) { self.init(.law, Int(law.rawValue)) }
    package var law: Law? { kind == .law ? Law(rawValue: UInt8(truncatingIfNeeded: index)) : nil }

    var afterItsTime: Rule {
        var rule = self
        rule.isAfterItsTime = true
        return rule
    }

    static func law(_ law: Law) -> Rule { Rule(law) }
}

/// The rules that no policy file writes, each with the text under which clients and `explain` hear of it.
package enum Law: UInt8, Hashable, Sendable, CaseIterable {
    // Who wins.
    case tieNewcomer, tieHolder, sameAppNewest, sameAppReplace, sameAppRefuse, ownConflictRefuse, coolDown, reDecideOpen
    case budget, excluded, notPassedOver, controlFirst, askedToWatch, anotherUser, noOtherBid, nothingLeft
    case weakestRank, lowered, unlimited, notGiven
    // Before anybody is weighed.
    case noRight, saidNo, deniedInStore, asks, notAnswered, nobodyToAsk
    // What the machine says.
    case unplugged, privacy, ownPrivacy, sleep, loginSession, stuck, reset, deviceFailed, brokerRestarted, sensitive,
        heldOutside
    case reserved, recorderFailed, formatLost
    // What a request has to keep to.
    case batchIsWhole, batchDepth, commitClosesBegin, noStartInsideBatch, knownCamera, knownSwitch,
        noSwitchWhileRecording
    case declareFirst, demotionOnly, ranksOfThePolicy, attributesOfThePolicy, attributesBounded, knownSession
    case runningToPreview, runningToPhoto, runningToRecord, oneRecording, stoppedOnce, readyAnswers, reclaimedOnce
    // What a user says of its apps.
    case stoppedByUser, answersBounded, questionsEnd
    // What goes into a recording.
    case runningToAttach, microphoneForAudio, audioNeedsMicrophone, objectsOfTheCamera
    case recordingToPause, pausedOnce, resumedOnce, recordingToAppend
    // What is said of the machine.
    case modesOfThePolicy, modeSetters

    package var text: String {
        switch self {
        case .tieNewcomer: "tie: newcomer"
        case .tieHolder: "tie: holder"
        case .sameAppNewest: "same-app: newest"
        case .sameAppReplace: "same-app: replace"
        case .sameAppRefuse: "same-app: refuse"
        case .ownConflictRefuse: "own-conflict: refuse"
        case .coolDown: "cool-down"
        case .reDecideOpen: "re-decide: open"
        case .budget: "budget"
        case .excluded: "cameras exclude each other"
        case .notPassedOver: "nobody is passed over"
        case .controlFirst: "sharing: control before watching"
        case .askedToWatch: "sharing: the session asked to watch only"
        case .anotherUser: "another user has the camera"
        case .noOtherBid: "no other bid"
        case .nothingLeft: "its causes leave it nothing"
        case .weakestRank: "no rank rule matches: the weakest rank"
        case .lowered: "priority lowered by its client"
        case .unlimited: "no cause limits it"
        case .notGiven: "access"
        case .noRight: "access: no right to the camera"
        case .saidNo: "access: the user said no"
        case .deniedInStore: "denied in the portal's permission store"
        case .asks: "access: the user is asked"
        case .notAnswered: "access: the user did not answer in time"
        case .nobodyToAsk: "access: nobody was there to ask the user (camagent, or camclient ask)"
        case .unplugged: "built in: the camera is unplugged"
        case .privacy: "built in: the privacy switch is on"
        case .ownPrivacy: "built in: the user's own privacy switch is on"
        case .sleep: "built in: the machine sleeps"
        case .loginSession: "built in: the login session is not active"
        case .stuck: "built in: the recorder does not let go of the device"
        case .reset: "built in: the recorder was lost"
        case .deviceFailed: "built in: the device failed"
        case .brokerRestarted: "built in: the broker was restarted"
        case .sensitive: "built in: sensitive content, until the client continues"
        case .heldOutside: "built in: a program outside the broker holds the device"
        case .reserved: "built in: kept for the app that held it before the broker restarted"
        case .recorderFailed: "built in: \(Bound.deathsMax) recorders in a row died under the session"
        case .formatLost: "built in: the camera lost the format the session needs"
        case .batchIsWhole: "a batch is valid as a whole"
        case .batchDepth: "batches nest at most \(Bound.batchDepthMax) deep"
        case .commitClosesBegin: "a commit closes a begin"
        case .noStartInsideBatch: "no start inside a batch"
        case .knownCamera: "a session is on a camera the broker knows"
        case .knownSwitch: "a switch belongs to a camera the broker knows"
        case .noSwitchWhileRecording: "no camera switch while recording"
        case .declareFirst: "declare before the first session"
        case .demotionOnly: "demotion only"
        case .ranksOfThePolicy: "ranks are the policy's"
        case .attributesOfThePolicy: "attributes are the policy's"
        case .attributesBounded: "attributes of a bounded number of apps"
        case .knownSession: "a session answers until it is closed"
        case .runningToPreview: "only a running session can preview"
        case .runningToPhoto: "only a running session can photo"
        case .runningToRecord: "only a running session can record"
        case .oneRecording: "one recording at a time"
        case .stoppedOnce: "a recording is stopped once"
        case .readyAnswers: "ready answers an announcement"
        case .reclaimedOnce: "a grant that outlived the broker is reclaimed once, in time, by the session that had it"
        case .stoppedByUser: "the user stopped it"
        case .answersBounded: "answers about a bounded number of a user's own apps"
        case .questionsEnd: "a question is answered once, and in time"
        case .runningToAttach: "only a running session can attach a microphone"
        case .microphoneForAudio: "a microphone is for a session that uses audio"
        case .audioNeedsMicrophone: "a recording with audio needs a microphone"
        case .objectsOfTheCamera: "metadata of objects needs a camera that finds some"
        case .recordingToPause: "only a recording can be paused and resumed"
        case .pausedOnce: "a recording is paused once"
        case .resumedOnce: "only a paused recording is resumed"
        case .recordingToAppend: "metadata is appended to a recording"
        case .modesOfThePolicy: "modes are the policy's"
        case .modeSetters: "a mode is set by those whom the policy names"
        }
    }
}
