import Arbiter
import ArbiterProtocol
import JSONText
import PolicyFile

/// Events as members of a line: `"event":"startRunning","session":3`. `docs/trace.md` has the table.
extension Event {
    var traceMembers: [JSON.Member] {
        var line = LineMembers([("event", .string(kind.rawValue))])
        line.add(self)
        return line.members
    }

    init(_ fields: inout TraceFields) throws(LineFault) {
        let kind: EventKind = try fields.word("event")
        switch kind {
        case .connected:
            self = .connected(try fields.client(), app: try fields.app(), try fields.identity())
        case .declared:
            self = .declared(
                try fields.client(),
                ClientAttributes(
                    claimedApp: try fields.nullable("claimedApp") { (fields) throws(LineFault) in
                        try fields.text("claimedApp")
                    },
                    kind: try fields.word("kind"), multitasking: try fields.flag("multitasking"),
                    requiresFullScreen: try fields.flag("requiresFullScreen")))
        case .declaredPresence:
            self = .declaredPresence(try fields.client(), try fields.presence(), focused: try fields.flag("focused"))
        case .loweredPriority: self = .loweredPriority(try fields.client(), rank: try fields.text("rank"))
        case .loweredAttribute:
            self = .loweredAttribute(
                try fields.client(), attribute: try fields.text("attribute"), to: try fields.text("to"))
        case .disconnected: self = .disconnected(try fields.client())
        case .created:
            self = .created(
                try fields.session(), try fields.client(),
                camera: try fields.nullable("camera") { (fields) throws(LineFault) in try fields.camera() },
                try fields.configuration("configuration"), reestablished: try fields.flag("reestablished"))
        case .startRunning: self = .startRunning(try fields.session())
        case .reclaimed: self = .reclaimed(try fields.session(), try fields.grant())
        case .stopRunning: self = .stopRunning(try fields.session())
        case .beginConfiguration: self = .beginConfiguration(try fields.session())
        case .commitConfiguration: self = .commitConfiguration(try fields.session())
        case .configure: self = .configure(try fields.session(), try fields.configuration("configuration"))
        case .openStream: self = .openStream(try fields.session())
        case .capturePhoto: self = .capturePhoto(try fields.session())
        case .startRecording: self = .startRecording(try fields.session())
        case .stopRecording: self = .stopRecording(try fields.session())
        case .ready: self = .ready(try fields.session(), try fields.count("interruption"))
        case .continueAfterSensitiveContent: self = .continueAfterSensitiveContent(try fields.session())
        case .closed: self = .closed(try fields.session())
        case .sourceAttached: self = .sourceAttached(try fields.word("source"), user: try fields.user())
        case .sourceGone: self = .sourceGone(try fields.word("source"), user: try fields.user())
        case .placed:
            self = .placed(
                try fields.app(), try fields.presence(), focused: try fields.flag("focused"),
                by: try fields.word("source"))
        case .unplaced: self = .unplaced(try fields.app(), by: try fields.word("source"))
        case .microphone: self = .microphone(try fields.app(), taken: try fields.flag("taken"))
        case .sensitiveContent: self = .sensitiveContent(try fields.app())
        case .operatorChose:
            let app = try fields.nullable("app") { (fields) throws(LineFault) in try fields.app() }
            if app == nil { _ = try fields.nullable("user") { (fields) throws(LineFault) in try fields.count("user") } }
            self = .operatorChose(app)
        case .attribute:
            self = .attribute(
                try fields.app(), name: try fields.text("attribute"),
                value: try fields.nullable("value") { (fields) throws(LineFault) in try fields.text("value") })
        case .loginSession:
            self = .loginSession(try fields.login(), try fields.loginSessionFacts())
        case .loginSessionEnded: self = .loginSessionEnded(try fields.login())
        case .answered, .questionAnswered, .questionsWatched, .stoppedByUser, .ownPrivacy:
            self = try Event(permission: kind, &fields)
        case .cameraAppeared, .cameraDisappeared, .privacy, .heldOutside, .pressure, .sleep, .recorderStreaming,
            .recorderCut, .recorderClosedStreams, .recorderConfigured, .recorderRefusedConfiguration, .recorderGone,
            .deviceFailed,
            .recordingFinished, .photoCaptured, .rampFinished, .recorderTrouble, .policyLoaded, .reserved,
            .timePassed:
            self = try Event(machine: kind, &fields)
        }
    }

    /// The second half, so that each stays readable; the two switches name every kind between them.
    private init(machine kind: EventKind, _ fields: inout TraceFields) throws(LineFault) {
        switch kind {
        case .cameraAppeared:
            self = .cameraAppeared(try fields.camera(), try fields.capabilities(), seat: try fields.seat() ?? .usual)
        case .cameraDisappeared: self = .cameraDisappeared(try fields.camera())
        case .privacy:
            self = .privacy(
                try fields.nullable("camera") { (fields) throws(LineFault) in try fields.camera() },
                on: try fields.flag("on"))
        case .heldOutside: self = .heldOutside(try fields.camera(), try fields.flag("held"))
        case .pressure:
            self = .pressure(
                try fields.word("level", SystemPressure.allCases.map(\.wireName)) { SystemPressure(wireName: $0) })
        case .sleep: self = .sleep(try fields.flag("asleep"))
        case .recorderStreaming:
            self = .recorderStreaming(
                try fields.camera(), try fields.grant(), inForce: try fields.configuration("inForce"))
        case .recorderCut: self = .recorderCut(try fields.camera(), try fields.grant())
        case .recorderClosedStreams:
            self = .recorderClosedStreams(try fields.camera(), try fields.grant(), try fields.session())
        case .recorderConfigured:
            self = .recorderConfigured(
                try fields.camera(), try fields.grant(), asked: try fields.configuration("asked"),
                inForce: try fields.configuration("inForce"))
        case .recorderRefusedConfiguration:
            self = .recorderRefusedConfiguration(
                try fields.camera(), try fields.grant(), asked: try fields.configuration("asked"),
                message: try fields.text("message"))
        case .recorderGone: self = .recorderGone(try fields.camera())
        case .deviceFailed:
            self = .deviceFailed(
                try fields.camera(), fields.has("fault") ? try fields.word("fault") : .device,
                message: try fields.text("message"))
        case .recordingFinished:
            self = .recordingFinished(
                try fields.count("recording"), why: try fields.word("why"), frames: try fields.count("frames"),
                duration: .nanoseconds(try fields.nanoseconds("duration")), bytes: try fields.count("bytes"))
        case .photoCaptured:
            self = .photoCaptured(
                PhotoCaptured(
                    photo: try fields.count("photo"), width: try fields.integer("width"),
                    height: try fields.integer("height"), bytes: try fields.count("bytes"),
                    error: try fields.nullable("error") { (fields) throws(LineFault) in try fields.text("error") }))
        case .rampFinished:
            self = .rampFinished(
                try fields.camera(), try fields.grant(), videoZoomFactor: try fields.number("videoZoomFactor"))
        case .recorderTrouble:
            self = .recorderTrouble(
                try fields.camera(), code: try fields.text("code"), message: try fields.text("message"))
        case .policyLoaded: self = .policyLoaded(try fields.policy("policy"))
        case .reserved: self = .reserved(try fields.camera(), try fields.app(), survivor: try fields.survivor())
        case .timePassed: self = .timePassed
        case .connected, .declared, .declaredPresence, .loweredPriority, .loweredAttribute, .disconnected, .created,
            .startRunning, .reclaimed, .stopRunning, .beginConfiguration, .commitConfiguration, .configure,
            .openStream, .capturePhoto, .startRecording, .stopRecording, .ready, .continueAfterSensitiveContent,
            .closed,
            .sourceAttached, .sourceGone, .placed, .unplaced, .microphone, .sensitiveContent, .operatorChose,
            .attribute, .loginSession, .loginSessionEnded:
            preconditionFailure("\(kind) is read with the clients and the user's world")
        case .answered, .questionAnswered, .questionsWatched, .stoppedByUser, .ownPrivacy:
            preconditionFailure("\(kind) is read with what users say of their apps")
        }
    }

    private init(permission kind: EventKind, _ fields: inout TraceFields) throws(LineFault) {
        switch kind {
        case .answered:
            self = .answered(
                try fields.app(), isClaimed: try fields.flag("claimed"),
                try fields.nullable("answer") { (fields) throws(LineFault) in try fields.word("answer") },
                by: try fields.word("from"))
        case .questionAnswered:
            self = .questionAnswered(try fields.integer("question"), try fields.word("answer"))
        case .questionsWatched: self = .questionsWatched(user: try fields.integer("user"), try fields.flag("on"))
        case .stoppedByUser: self = .stoppedByUser(try fields.app())
        case .ownPrivacy: self = .ownPrivacy(user: try fields.integer("user"), on: try fields.flag("on"))
        default: preconditionFailure("\(kind) is nothing that users say of their apps")
        }
    }
}

/// Who may use cameras came later than the first traces of this version: what their lines do not say is what held then.
/// Whoever was connected had a right, and every login session and camera was at the one seat.
extension TraceFields {
    fileprivate mutating func identity() throws(LineFault) -> ClientIdentity {
        let verified = try flag("verified")
        let login = try nullable("loginSession") { (fields) throws(LineFault) in try fields.login() }
        guard has("atSeat") else {
            return ClientIdentity(verified: verified, login: login.map { .session($0) } ?? .outside, own: true)
        }
        let atSeat = try flag("atSeat")
        guard login == nil || !atSeat else { throw LineFault("a client with a “loginSession” is not “atSeat” besides") }
        let (weak, own) = (try flag("weak"), try flag("own"))
        let groups: [UInt32] = try integers("groups", countMax: ClientIdentity.groupsMax)
        return ClientIdentity(
            verified: verified, weak: weak, groups: groups,
            login: login.map { .session($0) } ?? (atSeat ? .seat : .outside), own: own)
    }

    fileprivate mutating func loginSessionFacts() throws(LineFault) -> LoginSessionFacts {
        let (active, locked) = (try flag("active"), try flag("locked"))
        return LoginSessionFacts(
            active: active, locked: locked, seat: try seat(),
            user: has("user") ? try integer("user") : LoginSessionFacts.userUnknown)
    }

    /// Recorder cores outlive their broker since later than the first traces of this version.
    fileprivate mutating func survivor() throws(LineFault) -> Survivor? {
        guard has("grant") else { return nil }
        let grant = try nullable("grant") { (fields) throws(LineFault) in try fields.grant() }
        let recording = try nullable("recording") { (fields) throws(LineFault) in try fields.count("recording") }
        guard let grant else {
            if recording != nil { throw LineFault("a “recording” is under way only for a “grant”") }
            return nil
        }
        return Survivor(grant: grant, recording: recording)
    }

    /// `null` is none; a line that does not speak of it means the usual one.
    fileprivate mutating func seat() throws(LineFault) -> SeatID? {
        guard has("seat") else { return .usual }
        return try nullable("seat") { (fields) throws(LineFault) in SeatID(try fields.text("seat")) }
    }

    fileprivate mutating func user() throws(LineFault) -> UInt32? {
        try nullable("user") { (fields) throws(LineFault) in try fields.integer("user") }
    }

    /// A policy as TOML text; the line's column is no use to anybody, so the text's own places are named.
    mutating func policy(_ key: String) throws(LineFault) -> Policy {
        let text = try text(key)
        if text == builtInPolicy { return .firstCome }
        do throws(PolicyProblems) {
            return try PolicyFile.parse(text, file: "its policy")
        } catch { throw LineFault("the policy in it is not valid:\n\(error)") }
    }
}

/// What stands for the policy that needs no file: its text could not say that nothing else was to be had.
let builtInPolicy = "built-in"

extension Policy {
    var traceText: String { self == .firstCome ? builtInPolicy : PolicyWriter.text(self, numbersOnly: true) }
}
