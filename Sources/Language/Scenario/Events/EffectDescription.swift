import Arbiter
package import ArbiterProtocol

package enum EffectKind: String, Hashable, Sendable, CaseIterable {
    case refused, answered, cut, killRecorder, open, resume, configure, openStream, closeStreams, capturePhoto
    case capturePhotoBracket
    case attachMicrophone, detachMicrophone, startRecording, stopRecording, pauseRecording, resumeRecording
    case appendMetadata, setSlate, setPicture
    case notify, camerasChanged, holderChanged, prioritiesChanged, question, questionEnded
    case answerKept
}

/// The one description of an effect outside the core. A replay makes effects anew, so nothing reads them.
package struct EffectDescription {
    package let kind: EffectKind
    /// A notice has the most.
    package private(set) var values = EventValues(capacity: 12)
    private var camera: CameraID?
    private var session: SessionID?
    /// The end of a scenario's line, behind camera and session.
    private var words: () -> String = { "" }

    /// An order to a recorder core.
    private init(
        _ kind: EffectKind, _ order: Effect, _ member: (key: String, value: WireValue)? = nil,
        saying words: @autoclosure @escaping () -> String = ""
    ) {
        let addressee = order.order
        (self.kind, camera, session, self.words) = (kind, addressee?.camera, addressee?.session, words)
        if let camera { add("camera", camera.wireValue) }
        if let grant = addressee?.grant { add("grant", grant.wireValue) }
        if let session { add("session", session.wireValue) }
        if let member { add(member.key, member.value) }
    }

    private init(_ kind: EffectKind) { self.kind = kind }

    private mutating func add(_ key: String, _ value: WireValue?) { values.add(key, value) }

    private mutating func add(_ app: AppID?) {
        add("app", app?.name.wireValue)
        add("user", app?.user.wireValue)
    }

    private mutating func add(_ reason: RecordingReason) {
        for entry in reason.wire.entries { add(entry.key, entry.value) }
    }

    private mutating func add(_ refusal: Refusal) {
        add("error", .string(refusal.error.kind.rawValue))
        add("message", .string(refusal.error.message))
        add("rule", .string(refusal.rule))
    }

    private mutating func add(_ event: SessionEvent, _ sequence: UInt64) {
        add("sequence", .uint64(sequence))
        add("notice", .string(event.wireName))
        // The arguments of the signal by their names, without sequence and decision.
        event.described.forEachValue(of: event) { name, value in add(name, value) }
    }

    fileprivate init(_ effect: Effect) {
        switch effect {
        case .refused(let refusal):
            self.init(.refused)
            add(refusal)
        case .answered(let id):
            self.init(.answered)
            add("id", .uint64(id))
        case .cut(_, _, let why, let next, let reason):
            self.init(.cut, effect, ("why", why.wireValue), saying: why.rawValue)
            if let next { add("next", next.wireValue) }
            add(reason)
        case .killRecorder: self.init(.killRecorder, effect)
        case .open(_, _, _, let configuration):
            self.init(.open, effect, ("configuration", configuration.wireValue))
        case .resume(_, _, _, let configuration):
            self.init(.resume, effect, ("configuration", configuration.wireValue))
        case .configure(_, _, _, let configuration):
            self.init(
                .configure, effect, ("configuration", configuration.wireValue), saying: configuration.scenarioWords)
        case .openStream: self.init(.openStream, effect)
        case .closeStreams: self.init(.closeStreams, effect)
        case .capturePhoto(_, _, _, let photo):
            self.init(.capturePhoto, effect, ("photo", .uint64(photo)), saying: "\(photo)")
        case .capturePhotoBracket(_, _, _, let first, let bracket):
            let last = first + PhotoID(bracket.shots.count) - 1
            self.init(.capturePhotoBracket, effect, ("first", .uint64(first)), saying: "\(first)–\(last)")
            // The exposures are in the event.
            add("photos", .uint64(UInt64(bracket.shots.count)))
        case .attachMicrophone(_, _, _, let format):
            self.init(.attachMicrophone, effect, saying: "\(format.sampleRate)x\(format.channels)")
            for entry in format.wire.entries { add(entry.key, entry.value) }
        case .detachMicrophone: self.init(.detachMicrophone, effect)
        case .startRecording(_, _, _, let recording): self.init(.startRecording, effect, recording)
        case .stopRecording(_, let recording, let why, let reason):
            self.init(.stopRecording, effect, recording, why.rawValue)
            add("why", why.wireValue)
            add(reason)
        case .pauseRecording(_, let recording): self.init(.pauseRecording, effect, recording)
        case .resumeRecording(_, let recording): self.init(.resumeRecording, effect, recording)
        case .appendMetadata(_, let recording): self.init(.appendMetadata, effect, recording)
        case .setSlate(_, _, _, let isBlack):
            self.init(.setSlate, effect, ("slate", .boolean(isBlack)), saying: isBlack ? "on" : "off")
        case .setPicture(_, _, _, let picture):
            self.init(
                .setPicture, effect, ("picture", picture.wireValue),
                saying: picture.isEmpty ? "as-the-camera" : picture.scenarioWords)
        case .notify(let client, let session, let sequence, let event):
            self.init(.notify)
            add("client", client.wireValue)
            add("session", session.wireValue)
            add(event, sequence)
        case .announce(let news): self.init(news)
        }
    }

    private init(_ kind: EffectKind, _ order: Effect, _ recording: RecordingID, _ words: String = "") {
        self.init(
            kind, order, ("recording", .uint64(recording)),
            saying: words.isEmpty ? "\(recording)" : "\(recording) \(words)")
    }

    private init(_ news: Effect.Announcement) {
        switch news {
        case .camerasChanged: self.init(EffectKind.camerasChanged)
        case .holderChanged(let camera, let app):
            self.init(.holderChanged)
            add("camera", camera.wireValue)
            add(app)
        case .prioritiesChanged(let user):
            self.init(.prioritiesChanged)
            add("user", user?.wireValue)
        case .question(let question):
            self.init(.question)
            add("question", .uint32(question.id))
            add(question.app)
            add("claimed", .boolean(question.isClaimed))
            add("session", question.session.wireValue)
            add("camera", question.camera.wireValue)
            add("until", question.until.wireValue)
        case .questionEnded(let id, let user, let end):
            self.init(.questionEnded)
            add("question", .uint32(id))
            add("user", .uint32(user))
            add("answer", end.wireValue)
        case .answerKept(let app, let isClaimed, let answer, let origin):
            self.init(.answerKept)
            add(app)
            add("claimed", .boolean(isClaimed))
            add("answer", answer?.wireValue)
            add("from", origin.wireValue)
        }
    }

    /// `open back for photos`; `nil` for other effects than orders.
    func order(_ names: Names) -> String? {
        guard let camera else { return nil }
        let verb =
            switch kind {
            case .capturePhotoBracket: "capture-photos"
            case .setSlate: "slate"
            case .setPicture: "picture"
            default: kind.rawValue.map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined()
            }
        let (owner, words) = (session.map { " for \(names.name(of: $0))" } ?? "", words())
        return "\(verb) \(camera.name)\(owner)\(words.isEmpty ? "" : " \(words)")"
    }

    var traceJSON: JSON {
        .object([JSON.Member(key: "effect", value: .string(kind.rawValue))] + values.members)
    }
}

extension Effect {
    package var described: EffectDescription { EffectDescription(self) }

    /// For subscribers; `nil` for orders to recorders and for effects with signals of their own.
    package func decided(_ names: Names) -> WireDictionary? {
        var name: String?
        switch self {
        case .refused: break
        case .notify(_, let session, _, _): name = names.name(of: session)
        default: return nil
        }
        let described = described
        var wire = WireDictionary()
        wire.reserveCapacity(described.values.entries.count + 2)
        wire.append(DecidedKey.effect, .string(described.kind.rawValue))
        if let name { wire.append(DecidedKey.name, .string(name)) }
        described.values.write(to: &wire)
        return wire
    }
}
