import Arbiter
import ArbiterProtocol
import Campaigns
import PolicyFile
import Workbench

/// Random events of a kind, with every value that a member can have, hostile texts included.
struct GeneratedEvent {
    var random: SeededRandom
    /// Only what a line of a scenario can say: its texts have no line feed and no quotation mark, its one client and its one
    /// session have names, and cameras have nothing that only a trace knows.
    var isSayable = false

    /// The app of the one client that is there.
    static let app = AppID("photos", user: 1000)

    mutating func event(_ kind: EventKind) -> Event {
        switch kind {
        case .connected:
            .connected(
                client(), app: app(),
                ClientIdentity(
                    verified: flag(), weak: flag(), groups: flag() ? [4, 44] : [],
                    login: flag() ? .session(login()) : flag() ? .outside : .seat, own: flag()))
        case .declared:
            .declared(
                client(),
                ClientAttributes(
                    claimedApp: flag() ? text() : nil, kind: random.pick(ClientKind.allCases), multitasking: flag(),
                    requiresFullScreen: flag()))
        case .declaredPresence: .declaredPresence(client(), presence(), focused: flag())
        case .loweredPriority: .loweredPriority(client(), rank: text())
        case .loweredAttribute: .loweredAttribute(client(), attribute: text(), to: text())
        case .disconnected: .disconnected(client())
        case .created:
            .created(session(), client(), camera: flag() ? camera() : nil, configuration(), reestablished: flag())
        case .startRunning: .startRunning(session())
        case .reclaimed: .reclaimed(session(), grant())
        case .stopRunning: .stopRunning(session())
        case .beginConfiguration: .beginConfiguration(session())
        case .commitConfiguration: .commitConfiguration(session())
        case .configure: .configure(session(), configuration())
        case .openStream: .openStream(session())
        case .capturePhoto: .capturePhoto(session())
        case .capturePhotoBracket: .capturePhotoBracket(session(), bracket())
        case .attachMicrophone:
            .attachMicrophone(
                session(),
                MicrophoneFormat(sampleRate: random.pick([8_000, 44_100, 96_000]), channels: flag() ? 1 : 2))
        case .startRecording: .startRecording(session(), recordingOptions())
        case .stopRecording: .stopRecording(session())
        case .pauseRecording: .pauseRecording(session())
        case .resumeRecording: .resumeRecording(session())
        case .appendMetadata: .appendMetadata(session())
        case .ready: .ready(session(), number())
        case .continueAfterSensitiveContent: .continueAfterSensitiveContent(session())
        case .closed: .closed(session())
        case .sourceAttached: .sourceAttached(source(), user: flag() ? user() : nil)
        case .sourceGone: .sourceGone(source(), user: flag() ? user() : nil)
        case .placed: .placed(app(), presence(), focused: flag(), by: source())
        case .unplaced: .unplaced(app(), by: source())
        case .microphone: .microphone(app(), taken: flag())
        case .sensitiveContent: .sensitiveContent(app())
        case .operatorChose: .operatorChose(flag() ? app() : nil)
        case .attribute: .attribute(app(), name: text(), value: flag() ? text() : nil)
        case .modeSet: .modeSet(flag() ? text() : nil, by: random.pick(Mode.Setter.allCases))
        case .loginSession: .loginSession(login(), loginFacts())
        case .loginSessionEnded: .loginSessionEnded(login())
        case .answered:
            .answered(
                app(), isClaimed: flag(), flag() ? random.pick(AppAnswer.allCases) : nil,
                by: random.pick(AnswerOrigin.allCases))
        case .questionAnswered: .questionAnswered(flag() ? 1 : .max, random.pick(AppAnswer.allCases))
        case .questionsWatched: .questionsWatched(user: user(), flag())
        case .stoppedByUser: .stoppedByUser(app())
        case .ownPrivacy: .ownPrivacy(user: user(), on: flag())
        case .answersForgotten: .answersForgotten(user: user())
        case .cameraAppeared: .cameraAppeared(camera(), capabilities(), seat: seat())
        case .cameraDisappeared: .cameraDisappeared(camera())
        case .privacy: .privacy(flag() ? camera() : nil, on: flag())
        case .heldOutside: .heldOutside(camera(), flag())
        case .pressure: .pressure(random.pick(SystemPressure.allCases))
        case .sleep: .sleep(flag())
        case .calendar: .calendar(flag() ? text() : nil)
        case .recorderStreaming: .recorderStreaming(camera(), grant(), inForce: configuration())
        case .recorderCut: .recorderCut(camera(), grant())
        case .recorderClosedStreams: .recorderClosedStreams(camera(), grant(), session())
        case .recorderConfigured:
            .recorderConfigured(camera(), grant(), asked: configuration(), inForce: configuration())
        case .recorderRefusedConfiguration:
            .recorderRefusedConfiguration(camera(), grant(), asked: configuration(), message: text())
        case .recorderGone: .recorderGone(camera())
        case .deviceFailed: .deviceFailed(camera(), random.pick(DeviceFault.allCases), message: text())
        case .recordingFinished:
            .recordingFinished(
                number(), why: random.pick(RecordingEnd.allCases), frames: flag() ? number() : nil,
                duration: flag() ? .nanoseconds(Int64(random.below(1 << 60))) : nil, bytes: flag() ? number() : nil,
                lastCapture: flag() ? Moment(nanoseconds: Int64(1 + random.below(1 << 60))) : nil,
                framesLeftOut: number())
        case .photoCaptured: .photoCaptured(photo())
        case .rampFinished: .rampFinished(camera(), grant(), videoZoomFactor: real())
        case .cameraStateChanged: .cameraStateChanged(camera(), grant(), configuration())
        case .recorderTrouble:
            .recorderTrouble(
                camera(), code: text(), message: text(), recording: flag() ? number() : 0,
                session: flag() ? number() : 0)
        case .policyLoaded: .policyLoaded(policy())
        case .reserved:
            .reserved(
                camera(), app(),
                survivor: flag() ? Survivor(grant: grant(), recording: flag() ? number() : nil) : nil)
        case .timePassed: .timePassed
        }
    }

    private mutating func recordingOptions() -> RecordingOptions {
        var options = RecordingOptions()
        if flag() { options.maxDuration = 0.1 + Double(random.below(100)) }
        if flag() { options.maxBytes = random.pick([RecordingOptions.bytesLeast, UInt64(Int64.max)]) }
        if flag() { options.minFreeBytes = 1 + UInt64(random.below(1000)) }
        if flag() { options.codec = random.pick(VideoCodec.allCases) }
        if flag() { options.bitRate = random.pick([100_000, 200_000_000]) }
        if flag() { options.metadata.append(MetadataTrack(kind: "location", type: .iso6709)) }
        if flag() { options.metadata.append(MetadataTrack(kind: "heading-2", type: random.pick([.text, .number]))) }
        if flag() { options.metadata.append(MetadataTrack(kind: "objects", type: .objects)) }
        // Only one of them keeps metadata.
        if flag() { options.fileType = options.metadata.isEmpty ? random.pick(RecordingFileType.allCases) : .matroska }
        return options
    }

    private mutating func loginFacts() -> LoginSessionFacts {
        LoginSessionFacts(active: flag(), locked: flag(), seat: flag() ? nil : seat(), user: 1001)
    }

    private mutating func seat() -> SeatID { SeatID(flag() ? "seat0" : "seat1") }
    private mutating func flag() -> Bool { random.chance(50) }

    /// Also those that JSON's own numbers cannot carry.
    private mutating func number() -> UInt64 {
        random.pick([0, 1, UInt64(Int64.max), UInt64(Int64.max) + 1, .max, random.next()])
    }

    private mutating func real() -> Double {
        random.pick([
            0, 1, 0.1, 1.4142135623730951, 1e300, 2.2250738585072014e-308, 9_007_199_254_740_992,
            Double(random.below(1 << 40)),
        ])
    }

    private mutating func text() -> String {
        let others =
            isSayable
            ? ["two words", "a=b", "#1", "by", "seat0"]
            : ["a \"b\" \\ c", "line\nfeed\ttab\r", "\u{0}\u{1f}\u{7f}", "\u{2028}", "}],\"sum\":\"0\"}"]
        let texts = ["", "photos", "é 你好 👩🏽‍🚀", "e\u{301}", "null", "12", "true", String(repeating: "x", count: 300)]
        return random.pick(texts + others)
    }

    private mutating func user() -> UInt32 { random.pick([0, 1000, .max]) }
    private mutating func client() -> ClientID { ClientID(isSayable ? 1 : number()) }
    private mutating func session() -> SessionID { SessionID(isSayable ? 1 : number()) }
    private mutating func grant() -> GrantID { GrantID(number()) }
    private mutating func camera() -> CameraID { CameraID(text()) }
    private mutating func login() -> LoginSessionID { LoginSessionID(text()) }
    private mutating func app() -> AppID { AppID(text(), user: user()) }
    /// The others never attach, so that no line says it of them.
    private mutating func source() -> PresenceSource {
        random.pick(isSayable ? [.shell, .agent] : PresenceSource.allCases)
    }
    private mutating func presence() -> Presence {
        flag() ? .background : .foreground(random.pick(Presence.Layout.allCases))
    }

    private mutating func configuration() -> Configuration {
        var configuration = Configuration()
        for key in ConfigurationKey.allCases where random.chance(40) {
            // A session's camera has its own place in the line.
            if isSayable, key == .camera { continue }
            configuration[key] =
                switch random.below(3) {
                case 0: .text(text())
                case 1: .number(real())
                default: .flag(flag())
                }
        }
        return configuration
    }

    private mutating func photo() -> PhotoCaptured {
        let error = flag() ? text() : nil
        // A line says of a photo that failed only why.
        if isSayable, error != nil {
            return PhotoCaptured(photo: number(), width: 0, height: 0, bytes: 0, error: error)
        }
        return PhotoCaptured(
            photo: number(), width: user(), height: user(), bytes: number(), error: error,
            metadata: flag() ? metadata() : nil)
    }

    private mutating func metadata() -> PhotoMetadata {
        var taken = PhotoMetadata()
        if flag() { taken.exposureDuration = random.pick([1.0 / 60, 0.5, 0.000013]) }
        if flag() { taken.iso = random.pick([34, 99.5, 2176]) }
        if flag() { taken.exposureTargetBias = random.pick([-8, 0, 0.1]) }
        taken.videoZoomFactor = random.pick([1, 1.4545, 60])
        taken.orientation = UInt8(1 + random.below(8))
        (taken.stillImageStabilizationUsed, taken.lensStabilizationUsed, taken.flashFired) = (flag(), flag(), flag())
        return taken
    }

    private mutating func bracket() -> PhotoBracket {
        let count = 1 + random.below(PhotoBracket.shotsMax)
        do throws(BrokerError) {
            guard flag() else { return try PhotoBracket(exposureTargetBiases: (0..<count).map { Double($0) / 3 - 1 }) }
            return try PhotoBracket(
                exposureDurations: (0..<count).map { 1 / Double(60 + $0) }, isos: (0..<count).map { Double(34 + $0) })
        } catch {
            preconditionFailure(error.message)
        }
    }

    private mutating func side() -> Int { 1 + random.below(65_536) }

    private mutating func format() -> CameraFormat {
        let rate = isSayable ? random.pick([15, 29.97, 60]) : max(1, real())
        return CameraFormat(
            pixelFormat: isSayable ? random.pick(["420v", "MJPG"]) : "c\(text().prefix(99))", width: side(),
            height: side(), minFrameRate: isSayable ? random.pick([1, 2.5, 7]) : min(rate, real()), maxFrameRate: rate,
            videoMaxZoomFactor: isSayable ? random.pick([1, 1.5, 4]) : max(1, real()),
            videoZoomFactorUpscaleThreshold: isSayable ? random.pick([1, 2]) : max(1, real()), isBinned: flag(),
            fieldOfView: isSayable ? 60 : real(), optics: optics())
    }

    /// Ranges whose ends any reader takes, and that a line shows to their last digit.
    private mutating func optics() -> CameraFormat.Optics {
        var optics = CameraFormat.Optics.usual
        if flag() { optics.highResolutionStill = CameraFormat.Optics.Size(width: side(), height: side()) }
        optics.autoFocusSystem = random.pick(CameraFormat.AutoFocusSystem.allCases)
        if flag() {
            optics.iso = CameraFormat.Optics.Range(least: random.pick([29, 34.5]), most: random.pick([1856, 1e300]))
        }
        if flag() {
            optics.exposureDuration = CameraFormat.Optics.Range(
                least: random.pick([0.000_013, 1.3e-9, 0.1]), most: random.pick([0.333_333, 0.5, 1.0 / 3]))
        }
        if flag() { optics.videoStabilizationModes = CameraFormat.VideoStabilizationMode.allCases }
        optics.isVideoHDRSupported = flag()
        return optics
    }

    private mutating func capabilities() -> CameraCapabilities {
        let count = 1 + random.below(3)
        return CameraCapabilities(
            name: String(text().prefix(99)), position: random.pick(CameraPosition.allCases), sensorWidth: side(),
            sensorHeight: side(),
            formats: (0..<count).map { _ in format() }, defaultFormatIndex: random.below(count))
    }

    private mutating func policy() -> Policy {
        // A line names a file of the folder with the policies.
        if isSayable { return .firstCome }
        return random.pick([
            .firstCome,
            Policy(
                name: "call", summary: "Ranks.", sources: [.shell],
                causeRules: [
                    CauseRule(
                        name: "In the \"back\"", when: [.foreground(false), .usesAudio(true)],
                        cause: .videoDeviceNotAvailableInBackground, access: [.preview])
                ],
                ranks: ["strong", "weak"],
                rankRules: [RankRule(name: "A call", when: [.app("call")], rank: 0, grace: .milliseconds(1500))],
                contention: Contention(order: [.focused, .newest], tie: .newcomer, loser: .evict)),
        ])
    }
}
