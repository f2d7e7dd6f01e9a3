/// What sort of fact an event is: exploration counts which of them met.
public enum EventKind: String, Hashable, Sendable, CaseIterable, Comparable {
    case connected, declared, declaredPresence, loweredPriority, loweredAttribute, disconnected
    case created, startRunning, reclaimed, stopRunning, beginConfiguration, commitConfiguration, configure, openStream
    case capturePhoto, capturePhotoBracket, attachMicrophone, startRecording, stopRecording, pauseRecording
    case resumeRecording, appendMetadata, ready, continueAfterSensitiveContent, closed
    case sourceAttached, sourceGone, placed, unplaced, microphone, sensitiveContent, operatorChose, attribute,
        modeSet, loginSession
    case loginSessionEnded
    case answered, questionAnswered, questionsWatched, stoppedByUser, ownPrivacy, answersForgotten
    case cameraAppeared, cameraDisappeared, privacy, heldOutside, pressure, sleep, calendar
    case recorderClosedStreams
    case recorderStreaming, recorderCut, recorderConfigured, recorderRefusedConfiguration, recorderGone, deviceFailed
    case recordingFinished, photoCaptured, rampFinished, cameraStateChanged, recorderTrouble
    case policyLoaded, reserved, timePassed

    public static func < (a: EventKind, b: EventKind) -> Bool { a.rawValue < b.rawValue }
}

extension Event {
    public var kind: EventKind {
        switch self {
        case .connected: .connected
        case .declared: .declared
        case .declaredPresence: .declaredPresence
        case .loweredPriority: .loweredPriority
        case .loweredAttribute: .loweredAttribute
        case .disconnected: .disconnected
        case .created: .created
        case .startRunning: .startRunning
        case .reclaimed: .reclaimed
        case .stopRunning: .stopRunning
        case .beginConfiguration: .beginConfiguration
        case .commitConfiguration: .commitConfiguration
        case .configure: .configure
        case .openStream: .openStream
        case .capturePhoto: .capturePhoto
        case .capturePhotoBracket: .capturePhotoBracket
        case .attachMicrophone: .attachMicrophone
        case .startRecording: .startRecording
        case .stopRecording: .stopRecording
        case .pauseRecording: .pauseRecording
        case .resumeRecording: .resumeRecording
        case .appendMetadata: .appendMetadata
        case .ready: .ready
        case .continueAfterSensitiveContent: .continueAfterSensitiveContent
        case .closed: .closed
        case .sourceAttached: .sourceAttached
        case .sourceGone: .sourceGone
        case .placed: .placed
        case .unplaced: .unplaced
        case .microphone: .microphone
        case .sensitiveContent: .sensitiveContent
        case .operatorChose: .operatorChose
        case .attribute: .attribute
        case .modeSet: .modeSet
        case .loginSession: .loginSession
        case .loginSessionEnded: .loginSessionEnded
        case .answered: .answered
        case .questionAnswered: .questionAnswered
        case .questionsWatched: .questionsWatched
        case .stoppedByUser: .stoppedByUser
        case .ownPrivacy: .ownPrivacy
        case .answersForgotten: .answersForgotten
        case .cameraAppeared: .cameraAppeared
        case .cameraDisappeared: .cameraDisappeared
        case .privacy: .privacy
        case .heldOutside: .heldOutside
        case .pressure: .pressure
        case .sleep: .sleep
        case .calendar: .calendar
        case .recorderStreaming: .recorderStreaming
        case .recorderCut: .recorderCut
        case .recorderClosedStreams: .recorderClosedStreams
        case .recorderConfigured: .recorderConfigured
        case .recorderRefusedConfiguration: .recorderRefusedConfiguration
        case .recorderGone: .recorderGone
        case .deviceFailed: .deviceFailed
        case .recordingFinished: .recordingFinished
        case .photoCaptured: .photoCaptured
        case .rampFinished: .rampFinished
        case .cameraStateChanged: .cameraStateChanged
        case .recorderTrouble: .recorderTrouble
        case .policyLoaded: .policyLoaded
        case .reserved: .reserved
        case .timePassed: .timePassed
        }
    }
}
