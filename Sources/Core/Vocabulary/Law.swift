/// The rules that no policy file writes, each with its text for clients and `explain`.
package enum Law: UInt8, Hashable, Sendable, CaseIterable {
    // Who wins.
    case tieNewcomer, tieHolder, sameAppNewest, sameAppReplace, sameAppRefuse, ownConflictRefuse, coolDown, reDecideOpen
    case budget, excluded, notPassedOver, controlFirst, lastCommit, sharersBounded, askedToWatch, anotherUser,
        noOtherBid, nothingLeft
    case weakestRank, lowered, unlimited, notGiven
    // Before bids are weighed.
    case noRight, saidNo, deniedInStore, asks, notAnswered, nobodyToAsk
    // The machine's causes.
    case unplugged, privacy, ownPrivacy, sleep, loginSession, stuck, reset, deviceFailed, brokerRestarted, sensitive,
        heldOutside
    case reserved, recorderFailed, formatLost
    // The duties of a request.
    case batchIsWhole, batchDepth, commitClosesBegin, noStartInsideBatch, knownCamera, knownSwitch,
        noSwitchWhileRecording, recordingOfAnother, wishWhileRecording, exactMatch, batchesBounded
    case declareFirst, demotionOnly, ranksOfThePolicy, attributesOfThePolicy, attributesBounded, knownSession
    case runningToPreview, runningToPhoto, runningToRecord, oneRecording, recordingsBounded, stoppedOnce, readyAnswers,
        reclaimedOnce
    // A user's answers about its apps.
    case stoppedByUser, answersBounded, questionsEnd
    // The contents of a recording.
    case runningToAttach, microphoneOfTheHolder, microphoneForAudio, audioNeedsMicrophone, objectsOfTheCamera
    case recordingToPause, pausedOnce, resumedOnce, recordingToAppend
    // The machine's modes.
    case modesOfThePolicy, modeSetters

    package var text: String { Self.texts[self] ?? "" }

    private static let texts: [Law: String] = [
        .tieNewcomer: "tie: newcomer",
        .tieHolder: "tie: holder",
        .sameAppNewest: "same-app: newest",
        .sameAppReplace: "same-app: replace",
        .sameAppRefuse: "same-app: refuse",
        .ownConflictRefuse: "own-conflict: refuse",
        .coolDown: "cool-down",
        .reDecideOpen: "re-decide: open",
        .budget: "budget",
        .excluded: "cameras exclude each other",
        .notPassedOver: "nobody is passed over",
        .controlFirst: "sharing: control before watching",
        .lastCommit: "sharing: whoever commits last controls",
        .sharersBounded: "a camera has at most \(Bound.sharersMax) sharers",
        .askedToWatch: "sharing: the session asked to watch only",
        .anotherUser: "another user has the camera",
        .noOtherBid: "no other bid",
        .nothingLeft: "its causes leave it nothing",
        .weakestRank: "no rank rule matches: the weakest rank",
        .lowered: "priority lowered by its client",
        .unlimited: "no cause limits it",
        .notGiven: "access",
        .noRight: "access: no right to the camera",
        .saidNo: "access: the user said no",
        .deniedInStore: "denied in the portal's permission store",
        .asks: "access: the user is asked",
        .notAnswered: "access: the user did not answer in time",
        .nobodyToAsk: "access: nobody was there to ask the user (camagent, or camclient ask)",
        .unplugged: "built in: the camera is unplugged",
        .privacy: "built in: the privacy switch is on",
        .ownPrivacy: "built in: the user's own privacy switch is on",
        .sleep: "built in: the machine sleeps",
        .loginSession: "built in: the login session is not active",
        .stuck: "built in: the recorder does not let go of the device",
        .reset: "built in: the recorder was lost",
        .deviceFailed: "built in: the device failed",
        .brokerRestarted: "built in: the broker was restarted",
        .sensitive: "built in: sensitive content, until the client continues",
        .heldOutside: "built in: a program outside the broker holds the device",
        .reserved: "built in: kept for the app that held it before the broker restarted",
        .recorderFailed: "built in: \(Bound.deathsMax) recorders in a row died under the session",
        .formatLost: "built in: the camera lost the format the session needs",
        .batchIsWhole: "a batch is valid as a whole",
        .batchesBounded: "a camera has at most \(Bound.batchesMax) batches under way",
        .batchDepth: "batches nest at most \(Bound.batchDepthMax) deep",
        .commitClosesBegin: "a commit closes a begin",
        .noStartInsideBatch: "no start inside a batch",
        .knownCamera: "a session is on a camera the broker knows",
        .knownSwitch: "a switch belongs to a camera the broker knows",
        .noSwitchWhileRecording: "no camera switch while recording",
        .recordingOfAnother: "sharing: nothing is taken from another session's recording",
        .wishWhileRecording: "sharing: a recording keeps its picture",
        .exactMatch: "sharing: the session takes no other format",
        .declareFirst: "declare before the first session",
        .demotionOnly: "demotion only",
        .ranksOfThePolicy: "ranks are the policy's",
        .attributesOfThePolicy: "attributes are the policy's",
        .attributesBounded: "attributes of a bounded number of apps",
        .knownSession: "a session answers until it is closed",
        .runningToPreview: "only a running session can preview",
        .runningToPhoto: "only a running session can photo",
        .runningToRecord: "only a running session can record",
        .oneRecording: "one recording at a time",
        .recordingsBounded: "a camera has at most \(Bound.recordingsMax) recordings at a time",
        .stoppedOnce: "a recording is stopped once",
        .readyAnswers: "ready answers an announcement",
        .reclaimedOnce: "a grant that outlived the broker is reclaimed once, in time, by the session that had it",
        .stoppedByUser: "the user stopped it",
        .answersBounded: "answers about a bounded number of a user's own apps",
        .questionsEnd: "a question is answered once, and in time",
        .runningToAttach: "only a running session can attach a microphone",
        .microphoneOfTheHolder: "sharing: the microphone is the holder's",
        .microphoneForAudio: "a microphone is for a session that uses audio",
        .audioNeedsMicrophone: "a recording with audio needs a microphone",
        .objectsOfTheCamera: "metadata of objects needs a camera that finds some",
        .recordingToPause: "only a recording can be paused and resumed",
        .pausedOnce: "a recording is paused once",
        .resumedOnce: "only a paused recording is resumed",
        .recordingToAppend: "metadata is appended to a recording",
        .modesOfThePolicy: "modes are the policy's",
        .modeSetters: "a mode is set by those whom the policy names",
    ]
}

extension Law {
    /// The law of a machine's cause; `nil`: a policy's rule raises it.
    package init?(_ cause: Cause) {
        switch cause {
        case .videoDeviceDisconnected: self = .unplugged
        case .videoDeviceBlockedByPrivacy: self = .privacy
        case .waitingForPermission: self = .asks
        case .systemSleep: self = .sleep
        case .loginSessionInactive: self = .loginSession
        case .deviceError: self = .deviceFailed
        case .recorderReset: self = .reset
        case .brokerRestarted: self = .brokerRestarted
        case .sensitiveContentMitigationActivated: self = .sensitive
        case .videoDeviceInUseByAnotherClient: self = .heldOutside
        case .videoDeviceNotAvailableInBackground, .audioDeviceInUseByAnotherClient,
            .videoDeviceNotAvailableWithMultipleForegroundApps, .videoDeviceNotAvailableDueToSystemPressure:
            return nil
        }
    }
}
