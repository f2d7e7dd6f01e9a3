public import Arbiter
import ArbiterProtocol

extension ScenarioWriter {
    /// The event as an input line, without time and indentation; nil for the mere passing of time.
    public func text(of event: Event) -> String? {
        switch event {
        case .connected(let client, let app, let identity):
            let name = names.name(of: client)
            let groups = identity.groups.map { "\($0)" }.joined(separator: ",")
            return words(
                "connect", name.scenarioWord, app.name == name ? nil : "app=\(app.name.scenarioWord)",
                app.user == Names.usualUser ? nil : "user=\(app.user)", Self.text(of: identity.login),
                groups.isEmpty ? nil : "groups=\(groups)", identity.isWeak ? "weak" : nil,
                identity.isOwn ? "own-broker" : nil, identity.isVerified ? nil : "unverified")
        case .declared(let client, let attributes):
            return words(
                "declare", name(client), attributes.kind == .app ? nil : "kind=\(attributes.kind.rawValue)",
                attributes.multitasking ? "multitasking" : nil, attributes.requiresFullScreen ? "full-screen" : nil,
                attributes.claimedApp.map { "claimed=\($0.scenarioWord)" })
        case .declaredPresence(let client, let presence, let focused):
            return words("declare-presence", name(client), presence.wireName, focused ? "focused" : nil)
        case .loweredPriority(let client, let rank): return words("lower", name(client), rank.scenarioWord)
        case .loweredAttribute(let client, let name, let value):
            return words("lower", self.name(client), name.scenarioWord, value.scenarioWord)
        case .disconnected(let client): return words("disconnect", name(client))
        case .created(let session, let client, let camera, let asked, let reestablished):
            let name = names.name(of: session)
            let owner = names.name(of: client)
            return words(
                "session", name.scenarioWord, name == owner ? nil : "of \(owner.scenarioWord)",
                camera.map { "camera=\($0.name.scenarioWord)" }, asked.isEmpty ? nil : Self.text(of: asked),
                reestablished ? "reestablished" : nil)
        case .startRunning(let session): return words("start", self.name(session))
        case .reclaimed(let session, let grant):
            return words("reclaim", self.name(session), "grant=\(grant.rawValue)")
        case .stopRunning(let session): return words("stop", self.name(session))
        case .beginConfiguration(let session): return words("begin", self.name(session))
        case .commitConfiguration(let session): return words("commit", self.name(session))
        case .configure(let session, let batch): return words("configure", self.name(session), Self.text(of: batch))
        case .openStream(let session): return words("stream", self.name(session))
        case .capturePhoto(let session): return words("photo", self.name(session))
        case .startRecording(let session): return words("record", self.name(session))
        case .stopRecording(let session): return words("stop-record", self.name(session))
        case .ready(let session, let id): return words("ready", self.name(session), "#\(id)")
        case .continueAfterSensitiveContent(let session): return words("continue", self.name(session))
        case .closed(let session): return words("close", self.name(session))
        case .sourceAttached(let source, let user): return sourceText(source, "attach", user)
        case .sourceGone(let source, let user): return sourceText(source, "gone", user)
        case .placed(let app, let presence, let focused, let source):
            return words(
                "presence", names.name(of: app), presence.wireName, focused ? "focused" : nil, by(source))
        case .unplaced(let app, let source): return words("presence", names.name(of: app), "gone", by(source))
        case .microphone(let app, let taken):
            return words("microphone", names.name(of: app), taken ? "taken" : "released")
        case .sensitiveContent(let app): return words("sensitive", names.name(of: app))
        case .operatorChose(let app): return words("operator", app.map { names.name(of: $0) } ?? "none")
        case .attribute(let app, let name, let value):
            return words("attribute", names.name(of: app), name.scenarioWord, value?.scenarioWord)
        case .loginSession(let login, let facts):
            let state =
                facts.isActive
                ? (facts.isLocked ? "locked" : "active") : (facts.isLocked ? "inactive-locked" : "inactive")
            // All of it, because a reader takes what is not said from an earlier line.
            return words(
                "login-session", login.name.scenarioWord, state, "user=\(facts.user)",
                facts.seat.map { "seat=\($0.name.scenarioWord)" } ?? "remote")
        case .loginSessionEnded(let login): return words("login-session", login.name.scenarioWord, "ended")
        case .answered(let app, let isClaimed, let answer, let origin):
            return words(
                "answer", names.name(of: app), answer?.rawValue ?? "none", isClaimed ? "claimed" : nil,
                origin == .user ? nil : "by \(origin.rawValue)")
        case .questionAnswered(let question, let answer):
            return words("answer-question", "\(question)", answer.rawValue)
        case .questionsWatched(let user, let on):
            return words("questions", on ? "watched" : "unwatched", "user=\(user)")
        case .stoppedByUser(let app): return words("stop-app", names.name(of: app))
        case .ownPrivacy(let user, let on): return words("own-privacy", on ? "on" : "off", "user=\(user)")
        default: return machineText(of: event)
        }
    }

    private func machineText(of event: Event) -> String? {
        switch event {
        case .cameraAppeared(let camera, let capabilities, let seat):
            return words("plug", name(camera), CameraText.write(capabilities, of: camera, at: seat))
        case .cameraDisappeared(let camera): return words("unplug", name(camera))
        case .privacy(let camera, let on): return words("privacy", camera.map { name($0) } ?? "all", on ? "on" : "off")
        case .heldOutside(let camera, let held): return words("held-outside", name(camera), held ? "on" : "off")
        case .pressure(let level): return words("pressure", level.wireName)
        case .sleep(let asleep): return asleep ? "sleep" : "wake"
        case .recorderStreaming(let camera, let grant, let inForce):
            return words("recorder", name(camera), "streaming", "grant=\(grant.rawValue)", Self.text(of: inForce))
        case .recorderCut(let camera, let grant):
            return words("recorder", name(camera), "cut", "grant=\(grant.rawValue)")
        case .recorderClosedStreams(let camera, let grant, let session):
            return words("recorder", name(camera), "closed-streams", "grant=\(grant.rawValue)", name(session))
        case .recorderConfigured(let camera, let grant, _, let inForce):
            return words("recorder", name(camera), "configured", "grant=\(grant.rawValue)", Self.text(of: inForce))
        case .recorderRefusedConfiguration(let camera, let grant, _, let message):
            return words(
                "recorder", name(camera), "refused-configuration", "grant=\(grant.rawValue)", quoted(message))
        case .recorderGone(let camera): return words("recorder", name(camera), "gone")
        case .deviceFailed(let camera, _, let message):
            return words("recorder", name(camera), "failed", quoted(message))
        case .recordingFinished(let id, let why, let frames, let duration, let bytes):
            return words(
                "finished", "\(id)", why.rawValue, "frames=\(frames)", "duration=\(TimeText.write(duration))",
                "bytes=\(bytes)")
        case .photoCaptured(let photo):
            if let error = photo.error { return words("captured", "\(photo.photo)", "failed", quoted(error)) }
            return words("captured", "\(photo.photo)", "\(photo.width)x\(photo.height)", "bytes=\(photo.bytes)")
        case .rampFinished(let camera, let grant, let factor):
            return words(
                "recorder", name(camera), "ramp-finished", "grant=\(grant.rawValue)", factor.shortDescription)
        case .recorderTrouble(let camera, let code, let message):
            return words("recorder", name(camera), "trouble", code.scenarioWord, quoted(message))
        case .policyLoaded(let policy):
            return words("policy-reload", policy == .firstCome ? "built-in" : "\(policy.name).toml".scenarioWord)
        case .reserved(let camera, let app, let survivor):
            return words(
                "reserve", name(camera), names.name(of: app), survivor.map { "grant=\($0.grant.rawValue)" },
                survivor?.recording.map { "recording=\($0)" })
        default: return nil
        }
    }

    // MARK: Words

    private static func text(of login: LoginMembership) -> String? {
        switch login {
        case .seat: nil
        case .outside: "login=none"
        case .session(let id): id.name == "none" ? "login=\"none\"" : "login=\(id.name.scenarioWord)"
        }
    }

    private func words(_ words: String?...) -> String {
        words.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " ")
    }

    private func name(_ client: ClientID) -> String { names.name(of: client).scenarioWord }
    private func name(_ session: SessionID) -> String { names.name(of: session).scenarioWord }
    private func name(_ camera: CameraID) -> String { camera.name.scenarioWord }
    private func by(_ source: PresenceSource) -> String? { source == .shell ? nil : "by \(source.rawValue)" }
    private func quoted(_ text: String) -> String { "\"\(text.replacingQuotes)\"" }

    private func sourceText(_ source: PresenceSource, _ verb: String, _ user: UInt32?) -> String {
        let word = source == .agent ? "agent" : source == .shell ? "shell" : "source \(source.rawValue)"
        return words(word, verb, user.map { "user=\($0)" })
    }

    /// The settings in the order of their keys: `activeFormat="420v 1280x720@60" videoZoomFactor=2`.
    static func text(of configuration: Configuration) -> String {
        configuration.ordered.map { key, value in
            switch value {
            case .text(let text):
                // Text that reads as a number or a flag keeps its quotation marks, and with them its type.
                let plain = Double(text) == nil && Bool(text) == nil
                return "\(key.rawValue)=\(plain ? text.scenarioWord : "\"\(text)\"")"
            case .number, .flag: return "\(key.rawValue)=\(value.description)"
            }
        }.joined(separator: " ")
    }
}
