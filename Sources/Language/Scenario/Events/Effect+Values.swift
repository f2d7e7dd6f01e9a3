import Arbiter
package import ArbiterProtocol

/// What sort of order an effect is, by its name in traces and for subscribers.
package enum EffectKind: String, Hashable, Sendable, CaseIterable {
    case refused, answered, cut, killRecorder, open, resume, configure, openStream, closeStreams, capturePhoto
    case capturePhotoBracket
    case attachMicrophone, detachMicrophone, startRecording, stopRecording, pauseRecording, resumeRecording
    case appendMetadata, setSlate
    case notify, camerasChanged, holderChanged, prioritiesChanged, question, questionEnded
    case answerKept
}

/// Effects are written and compared, and never read back: a replay makes them anew.
extension Effect {
    package var kind: EffectKind {
        switch self {
        case .refused: .refused
        case .answered: .answered
        case .cut: .cut
        case .killRecorder: .killRecorder
        case .open: .open
        case .resume: .resume
        case .configure: .configure
        case .openStream: .openStream
        case .closeStreams: .closeStreams
        case .capturePhoto: .capturePhoto
        case .capturePhotoBracket: .capturePhotoBracket
        case .attachMicrophone: .attachMicrophone
        case .detachMicrophone: .detachMicrophone
        case .startRecording: .startRecording
        case .stopRecording: .stopRecording
        case .pauseRecording: .pauseRecording
        case .resumeRecording: .resumeRecording
        case .appendMetadata: .appendMetadata
        case .setSlate: .setSlate
        case .notify: .notify
        case .announce(.camerasChanged): .camerasChanged
        case .announce(.holderChanged): .holderChanged
        case .announce(.prioritiesChanged): .prioritiesChanged
        case .announce(.question): .question
        case .announce(.questionEnded): .questionEnded
        case .announce(.answerKept): .answerKept
        }
    }

    package var values: EventValues {
        // A notice has the most.
        var values = EventValues(capacity: 12)
        switch self {
        case .refused(let refusal):
            values.add("error", .string(refusal.error.kind.rawValue))
            values.add("message", .string(refusal.error.message))
            values.add("rule", .string(refusal.rule))
        case .answered(let id): values.add("id", .uint64(id))
        case .cut(let camera, let grant, let why, let next, let reason):
            values.add(.camera, camera)
            values.add(.grant, grant)
            values.add("why", .string(why.rawValue))
            if let next { values.add("next", .uint64(next.rawValue)) }
            values.add(reason)
        case .killRecorder(let camera): values.add(.camera, camera)
        case .open(let camera, let grant, let session, let configuration),
            .resume(let camera, let grant, let session, let configuration),
            .configure(let camera, let grant, let session, let configuration):
            values.add(camera, grant, session)
            values.add(.unsaid("configuration"), configuration)
        case .openStream(let camera, let grant, let session), .closeStreams(let camera, let grant, let session):
            values.add(camera, grant, session)
        case .capturePhoto(let camera, let grant, let session, let photo):
            values.add(camera, grant, session)
            values.add("photo", .uint64(photo))
        case .capturePhotoBracket(let camera, let grant, let session, let first, let bracket):
            values.add(camera, grant, session)
            values.add("first", .uint64(first))
            // What each is exposed with is in the event.
            values.add("photos", .uint64(UInt64(bracket.shots.count)))
        case .attachMicrophone(let camera, let grant, let session, let format):
            values.add(camera, grant, session)
            values.add(.microphoneFormat, format)
        case .detachMicrophone(let camera, let grant):
            values.add(.camera, camera)
            values.add(.grant, grant)
        case .startRecording(let camera, let grant, let session, let recording):
            values.add(camera, grant, session)
            values.add("recording", .uint64(recording))
        case .stopRecording(let camera, let recording, let why, let reason):
            values.add(.camera, camera)
            values.add("recording", .uint64(recording))
            values.add("why", .string(why.rawValue))
            values.add(reason)
        case .pauseRecording(let camera, let recording), .resumeRecording(let camera, let recording),
            .appendMetadata(let camera, let recording):
            values.add(.camera, camera)
            values.add("recording", .uint64(recording))
        case .setSlate(let camera, let grant, let session, let isBlack):
            values.add(camera, grant, session)
            values.add("slate", .boolean(isBlack))
        case .notify(let client, let session, let sequence, let event):
            values.add(.client, client)
            values.add(.session, session)
            values.add("sequence", .uint64(sequence))
            values.add(event)
        case .announce(let news): values.add(news)
        }
        return values
    }
}

extension EventValues {
    fileprivate mutating func add(_ reason: RecordingReason) {
        if let cause = reason.cause { add("cause", .string(cause)) }
        if let interrupter = reason.interrupter { add("interrupter", .string(interrupter)) }
    }

    fileprivate mutating func add<Value>(_ field: EventField<Value>, _ value: Value) { field.write(value, &self) }

    fileprivate mutating func add(_ camera: CameraID, _ grant: GrantID, _ session: SessionID) {
        add(.camera, camera)
        add(.grant, grant)
        add(.session, session)
    }

    /// What a session is told: the rest has the names that it has on the wire, behind sequence and decision.
    fileprivate mutating func add(_ event: SessionEvent) {
        add("notice", .string(event.wireName))
        event.described.forEachValue(of: event) { name, value in add(name, value) }
    }

    fileprivate mutating func add(_ news: Effect.Announcement) {
        switch news {
        case .camerasChanged: break
        case .holderChanged(let camera, let app):
            add(.camera, camera)
            add(.appOrNone, app)
        case .prioritiesChanged(let user): add("user", user.map { .uint32($0) })
        case .question(let question):
            add("question", .uint32(question.id))
            add(.app, question.app)
            add("claimed", .boolean(question.isClaimed))
            add(.session, question.session)
            add(.camera, question.camera)
            add("until", .int64(question.until.nanoseconds))
        case .questionEnded(let id, let user, let end):
            add("question", .uint32(id))
            add("user", .uint32(user))
            add("answer", .string(end.rawValue))
        case .answerKept(let app, let isClaimed, let answer, let origin):
            add(.app, app)
            add("claimed", .boolean(isClaimed))
            add("answer", answer.map { .string($0.rawValue) })
            add("from", .string(origin.rawValue))
        }
    }
}
