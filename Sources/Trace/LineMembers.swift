import Arbiter
import ArbiterProtocol
import JSONText

/// Members of a line, in the order in which they are added.
struct LineMembers {
    private(set) var members: [JSON.Member]

    init(_ pairs: [(String, JSON)] = []) { members = pairs.map { JSON.Member(key: $0.0, value: $0.1) } }

    mutating func add(_ key: String, _ value: JSON) { members.append(JSON.Member(key: key, value: value)) }
    mutating func add(_ client: ClientID) { add("client", .exact(client.rawValue)) }
    mutating func add(_ session: SessionID) { add("session", .exact(session.rawValue)) }
    mutating func add(_ grant: GrantID) { add("grant", .exact(grant.rawValue)) }
    mutating func add(_ camera: CameraID?) { add("camera", .optional(camera?.name)) }
    mutating func add(_ login: LoginSessionID?) { add("loginSession", .optional(login?.name)) }
    mutating func add(_ seat: SeatID?) { add("seat", .optional(seat?.name)) }
    mutating func add(_ identity: ClientIdentity) {
        add("verified", .bool(identity.isVerified))
        if case .session(let login) = identity.login { add(login) } else { add(nil as LoginSessionID?) }
        add("atSeat", .bool(identity.login == .seat))
        add("weak", .bool(identity.isWeak))
        add("own", .bool(identity.isOwn))
        add("groups", .array(identity.groups.map { .integer(Int64($0)) }))
    }
    mutating func add(_ app: AppID?) {
        add("app", .optional(app?.name))
        add("user", app.map { .integer(Int64($0.user)) } ?? .null)
    }
    mutating func add(_ presence: Presence, _ focused: Bool) {
        add("presence", .string(presence.wireName))
        add("focused", .bool(focused))
    }
    mutating func add(_ source: PresenceSource) { add("source", .string(source.rawValue)) }
    mutating func add(_ key: String, _ configuration: Configuration) { add(key, configuration.wire.json) }
    mutating func add(user: UInt32?) { add("user", user.map { .integer(Int64($0)) } ?? .null) }

    mutating func add(_ event: Event) {
        switch event {
        case .connected(let client, let app, let identity):
            add(client)
            add(app)
            add(identity)
        case .declared(let client, let attributes):
            add(client)
            add("claimedApp", .optional(attributes.claimedApp))
            add("kind", .string(attributes.kind.rawValue))
            add("multitasking", .bool(attributes.multitasking))
            add("requiresFullScreen", .bool(attributes.requiresFullScreen))
        case .declaredPresence(let client, let presence, let focused):
            add(client)
            add(presence, focused)
        case .loweredPriority(let client, let rank):
            add(client)
            add("rank", .string(rank))
        case .loweredAttribute(let client, let attribute, let value):
            add(client)
            add("attribute", .string(attribute))
            add("to", .string(value))
        case .disconnected(let client): add(client)
        case .created(let session, let client, let camera, let configuration, let reestablished):
            add(session)
            add(client)
            add(camera)
            add("configuration", configuration)
            add("reestablished", .bool(reestablished))
        case .startRunning(let session), .stopRunning(let session), .beginConfiguration(let session),
            .commitConfiguration(let session), .openStream(let session), .capturePhoto(let session),
            .startRecording(let session), .stopRecording(let session), .continueAfterSensitiveContent(let session),
            .closed(let session):
            add(session)
        case .reclaimed(let session, let grant):
            add(session)
            add(grant)
        case .configure(let session, let configuration):
            add(session)
            add("configuration", configuration)
        case .ready(let session, let interruption):
            add(session)
            add("interruption", .exact(interruption))
        case .sourceAttached(let source, let user), .sourceGone(let source, let user):
            add(source)
            add(user: user)
        case .placed(let app, let presence, let focused, let source):
            add(app)
            add(presence, focused)
            add(source)
        case .unplaced(let app, let source):
            add(app)
            add(source)
        case .microphone(let app, let taken):
            add(app)
            add("taken", .bool(taken))
        case .sensitiveContent(let app): add(app)
        case .operatorChose(let app): add(app)
        case .attribute(let app, let name, let value):
            add(app)
            add("attribute", .string(name))
            add("value", .optional(value))
        case .loginSession(let login, let facts):
            add(login)
            add("active", .bool(facts.isActive))
            add("locked", .bool(facts.isLocked))
            add(facts.seat)
            add(user: facts.user)
        case .loginSessionEnded(let login): add(login)
        case .answered(let app, let isClaimed, let answer, let origin):
            add(app)
            add("claimed", .bool(isClaimed))
            add("answer", .optional(answer?.rawValue))
            add("from", .string(origin.rawValue))
        case .questionAnswered(let question, let answer):
            add("question", .integer(Int64(question)))
            add("answer", .string(answer.rawValue))
        case .questionsWatched(let user, let on), .ownPrivacy(let user, let on):
            add(user: user)
            add("on", .bool(on))
        case .stoppedByUser(let app): add(app)
        case .cameraAppeared(let camera, let capabilities, let seat):
            add(camera)
            add("capabilities", capabilities.wire.json)
            add(seat)
        case .cameraDisappeared(let camera), .recorderGone(let camera): add(camera)
        case .privacy(let camera, let on):
            add(camera)
            add("on", .bool(on))
        case .heldOutside(let camera, let held):
            add(camera)
            add("held", .bool(held))
        case .pressure(let level): add("level", .string(level.wireName))
        case .sleep(let asleep): add("asleep", .bool(asleep))
        case .recorderStreaming(let camera, let grant, let inForce):
            add(camera)
            add(grant)
            add("inForce", inForce)
        case .recorderCut(let camera, let grant):
            add(camera)
            add(grant)
        case .recorderClosedStreams(let camera, let grant, let session):
            add(camera)
            add(grant)
            add(session)
        case .recorderConfigured(let camera, let grant, let asked, let inForce):
            add(camera)
            add(grant)
            add("asked", asked)
            add("inForce", inForce)
        case .recorderRefusedConfiguration(let camera, let grant, let asked, let message):
            add(camera)
            add(grant)
            add("asked", asked)
            add("message", .string(message))
        case .deviceFailed(let camera, let fault, let message):
            add(camera)
            add("fault", .string(fault.rawValue))
            add("message", .string(message))
        case .recordingFinished(let recording, let why, let frames, let duration, let bytes):
            add("recording", .exact(recording))
            add("why", .string(why.rawValue))
            add("frames", .exact(frames))
            add("duration", .integer(duration.wholeNanoseconds))
            add("bytes", .exact(bytes))
        case .photoCaptured(let photo):
            add("photo", .exact(photo.photo))
            add("width", .integer(Int64(photo.width)))
            add("height", .integer(Int64(photo.height)))
            add("bytes", .exact(photo.bytes))
            add("error", .optional(photo.error))
        case .rampFinished(let camera, let grant, let factor):
            add(camera)
            add(grant)
            add("videoZoomFactor", .number(factor))
        case .recorderTrouble(let camera, let code, let message):
            add(camera)
            add("code", .string(code))
            add("message", .string(message))
        case .policyLoaded(let policy): add("policy", .string(policy.traceText))
        case .reserved(let camera, let app, let survivor):
            add(camera)
            add(app)
            add("grant", survivor.map { .exact($0.grant.rawValue) } ?? .null)
            add("recording", survivor?.recording.map { .exact($0) } ?? .null)
        case .timePassed: break
        }
    }
}
