import Arbiter
import ArbiterProtocol
import JSONText

/// Effects as objects: `{"effect":"cut","camera":"back","grant":3,"why":"interrupted"}`. They are written and compared,
/// and never read back: a replay makes them anew.
extension Effect {
    var traceJSON: JSON {
        var line = LineMembers()
        line.add(self)
        return .object(line.members)
    }
}

extension LineMembers {
    fileprivate mutating func add(effect: String, _ camera: CameraID, _ grant: GrantID? = nil) {
        add("effect", .string(effect))
        add(camera)
        if let grant { add(grant) }
    }

    fileprivate mutating func add(_ effect: Effect) {
        switch effect {
        case .refused(let refusal):
            add("effect", .string("refused"))
            add("error", .string(refusal.error.kind.rawValue))
            add("message", .string(refusal.error.message))
            add("rule", .string(refusal.rule))
        case .answered(let id):
            add("effect", .string("answered"))
            add("id", .exact(id))
        case .cut(let camera, let grant, let why):
            add(effect: "cut", camera, grant)
            add("why", .string(why.rawValue))
        case .killRecorder(let camera): add(effect: "killRecorder", camera)
        case .open(let camera, let grant, let session, let configuration):
            add(effect: "open", camera, grant)
            add(session)
            add("configuration", configuration)
        case .resume(let camera, let grant, let session, let configuration):
            add(effect: "resume", camera, grant)
            add(session)
            add("configuration", configuration)
        case .configure(let camera, let grant, let session, let configuration):
            add(effect: "configure", camera, grant)
            add(session)
            add("configuration", configuration)
        case .openStream(let camera, let grant, let session):
            add(effect: "openStream", camera, grant)
            add(session)
        case .closeStreams(let camera, let grant, let session):
            add(effect: "closeStreams", camera, grant)
            add(session)
        case .capturePhoto(let camera, let grant, let session, let photo):
            add(effect: "capturePhoto", camera, grant)
            add(session)
            add("photo", .exact(photo))
        case .startRecording(let camera, let grant, let session, let recording):
            add(effect: "startRecording", camera, grant)
            add(session)
            add("recording", .exact(recording))
        case .stopRecording(let camera, let recording, let why):
            add(effect: "stopRecording", camera)
            add("recording", .exact(recording))
            add("why", .string(why.rawValue))
        case .notify(let client, let session, let sequence, let event):
            add("effect", .string("notify"))
            add(client)
            add(session)
            add("sequence", .exact(sequence))
            add("notice", .string(event.wireName))
            // The rest has the names that it has on the wire, behind sequence and decision.
            let names = Interface.session.signal(event.wireName)?.carries.map(\.name) ?? []
            let values = event.wireArguments(sequence: sequence, decision: 0)
            for (name, value) in zip(names, values).dropFirst(2) { add(name, value.json) }
        case .announce(.camerasChanged): add("effect", .string("camerasChanged"))
        case .announce(.holderChanged(let camera, let app)):
            add(effect: "holderChanged", camera)
            add(app)
        case .announce(.question(let question)):
            add("effect", .string("question"))
            add("question", .integer(Int64(question.id)))
            add(question.app)
            add("claimed", .bool(question.isClaimed))
            add(question.session)
            add(question.camera)
            add("until", .integer(question.until.nanoseconds))
        case .announce(.questionEnded(let id, let user, let end)):
            add("effect", .string("questionEnded"))
            add("question", .integer(Int64(id)))
            add(user: user)
            add("answer", .string(end.rawValue))
        case .announce(.answerKept(let app, let isClaimed, let answer, let origin)):
            add("effect", .string("answerKept"))
            add(app)
            add("claimed", .bool(isClaimed))
            add("answer", .optional(answer?.rawValue))
            add("from", .string(origin.rawValue))
        case .announce(.prioritiesChanged(let user)):
            add("effect", .string("prioritiesChanged"))
            add(user: user)
        }
    }
}
