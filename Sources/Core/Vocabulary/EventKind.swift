/// The kind of an event: exploration counts the meetings of kinds.
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

package protocol EventVisitor {
    mutating func take<each Value: Sendable>(_ kind: EventKind, _ values: repeat each Value)
}

private struct KindVisitor: EventVisitor {
    var kind = EventKind.timePassed
    mutating func take<each Value: Sendable>(_ kind: EventKind, _ values: repeat each Value) { self.kind = kind }
}

extension Event {
    public var kind: EventKind {
        var visitor = KindVisitor()
        visit(&visitor)
        return visitor.kind
    }

    /// Hands over the kind and the values, in the order of the case.
    package func visit(_ visitor: inout some EventVisitor) {
        switch self {
        case .connected(let client, let app, let identity): visitor.take(.connected, client, app, identity)
        case .declared(let client, let attributes): visitor.take(.declared, client, attributes)
        case .declaredPresence(let client, let place, let focused):
            visitor.take(.declaredPresence, client, place, focused)
        case .loweredPriority(let client, let rank): visitor.take(.loweredPriority, client, rank)
        case .loweredAttribute(let client, let name, let value): visitor.take(.loweredAttribute, client, name, value)
        case .disconnected(let client): visitor.take(.disconnected, client)
        case .created(let session, let client, let camera, let configuration, let reestablished):
            visitor.take(.created, session, client, camera, configuration, reestablished)
        case .startRunning(let session): visitor.take(.startRunning, session)
        case .reclaimed(let session, let grant): visitor.take(.reclaimed, session, grant)
        case .stopRunning(let session): visitor.take(.stopRunning, session)
        case .beginConfiguration(let session): visitor.take(.beginConfiguration, session)
        case .commitConfiguration(let session): visitor.take(.commitConfiguration, session)
        case .configure(let session, let configuration): visitor.take(.configure, session, configuration)
        case .openStream(let session): visitor.take(.openStream, session)
        case .capturePhoto(let session): visitor.take(.capturePhoto, session)
        case .capturePhotoBracket(let session, let bracket): visitor.take(.capturePhotoBracket, session, bracket)
        case .attachMicrophone(let session, let format): visitor.take(.attachMicrophone, session, format)
        case .startRecording(let session, let options): visitor.take(.startRecording, session, options)
        case .stopRecording(let session): visitor.take(.stopRecording, session)
        case .pauseRecording(let session): visitor.take(.pauseRecording, session)
        case .resumeRecording(let session): visitor.take(.resumeRecording, session)
        case .appendMetadata(let session): visitor.take(.appendMetadata, session)
        case .ready(let session, let interruption): visitor.take(.ready, session, interruption)
        case .continueAfterSensitiveContent(let session): visitor.take(.continueAfterSensitiveContent, session)
        case .closed(let session): visitor.take(.closed, session)
        case .sourceAttached(let source, let user): visitor.take(.sourceAttached, source, user)
        case .sourceGone(let source, let user): visitor.take(.sourceGone, source, user)
        case .placed(let app, let presence, let focused, let source):
            visitor.take(.placed, app, presence, focused, source)
        case .unplaced(let app, let source): visitor.take(.unplaced, app, source)
        case .microphone(let app, let taken): visitor.take(.microphone, app, taken)
        case .sensitiveContent(let app): visitor.take(.sensitiveContent, app)
        case .operatorChose(let app): visitor.take(.operatorChose, app)
        case .attribute(let app, let name, let value): visitor.take(.attribute, app, name, value)
        case .modeSet(let mode, let setter): visitor.take(.modeSet, mode, setter)
        case .loginSession(let login, let facts): visitor.take(.loginSession, login, facts)
        case .loginSessionEnded(let login): visitor.take(.loginSessionEnded, login)
        case .answered(let app, let isClaimed, let answer, let origin):
            visitor.take(.answered, app, isClaimed, answer, origin)
        case .questionAnswered(let question, let answer): visitor.take(.questionAnswered, question, answer)
        case .questionsWatched(let user, let on): visitor.take(.questionsWatched, user, on)
        case .stoppedByUser(let app): visitor.take(.stoppedByUser, app)
        case .ownPrivacy(let user, let on): visitor.take(.ownPrivacy, user, on)
        case .answersForgotten(let user): visitor.take(.answersForgotten, user)
        case .cameraAppeared, .cameraDisappeared, .privacy, .heldOutside, .pressure, .sleep, .calendar,
            .recorderStreaming, .recorderCut, .recorderClosedStreams, .recorderConfigured,
            .recorderRefusedConfiguration, .recorderGone, .deviceFailed, .recordingFinished, .photoCaptured,
            .rampFinished, .cameraStateChanged, .recorderTrouble:
            visitMachine(&visitor)
        case .policyLoaded(let policy): visitor.take(.policyLoaded, policy)
        case .reserved(let camera, let app, let survivor): visitor.take(.reserved, camera, app, survivor)
        case .timePassed: visitor.take(.timePassed)
        }
    }

    private func visitMachine(_ visitor: inout some EventVisitor) {
        switch self {
        case .cameraAppeared(let camera, let abilities, let seat):
            visitor.take(.cameraAppeared, camera, abilities, seat)
        case .cameraDisappeared(let camera): visitor.take(.cameraDisappeared, camera)
        case .privacy(let camera, let on): visitor.take(.privacy, camera, on)
        case .heldOutside(let camera, let held): visitor.take(.heldOutside, camera, held)
        case .pressure(let level): visitor.take(.pressure, level)
        case .sleep(let asleep): visitor.take(.sleep, asleep)
        case .calendar(let mode): visitor.take(.calendar, mode)
        case .recorderStreaming(let camera, let grant, let state):
            visitor.take(.recorderStreaming, camera, grant, state)
        case .recorderCut(let camera, let grant): visitor.take(.recorderCut, camera, grant)
        case .recorderClosedStreams(let camera, let grant, let id):
            visitor.take(.recorderClosedStreams, camera, grant, id)
        case .recorderConfigured(let camera, let grant, let asked, let inForce):
            visitor.take(.recorderConfigured, camera, grant, asked, inForce)
        case .recorderRefusedConfiguration(let camera, let grant, let asked, let message):
            visitor.take(.recorderRefusedConfiguration, camera, grant, asked, message)
        case .recorderGone(let camera): visitor.take(.recorderGone, camera)
        case .deviceFailed(let camera, let fault, let message): visitor.take(.deviceFailed, camera, fault, message)
        case .recordingFinished(
            let recording, let why, let frames, let duration, let bytes, let lastCapture, let leftOut):
            visitor.take(.recordingFinished, recording, why, frames, duration, bytes, lastCapture, leftOut)
        case .photoCaptured(let photo): visitor.take(.photoCaptured, photo)
        case .rampFinished(let camera, let grant, let factor): visitor.take(.rampFinished, camera, grant, factor)
        case .cameraStateChanged(let camera, let grant, let state):
            visitor.take(.cameraStateChanged, camera, grant, state)
        case .recorderTrouble(let camera, let code, let message, let recording, let session):
            visitor.take(.recorderTrouble, camera, code, message, recording, session)
        default: preconditionFailure("\(self) is not an event of a camera or the machine")
        }
    }
}
