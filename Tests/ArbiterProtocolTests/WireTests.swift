import ArbiterProtocol
import Testing

@Suite("What crosses the wire comes back as it was")
struct WireTests {
    static let everyEvent: [SessionEvent] = {
        let causes = CauseSet([.videoDeviceInUseByAnotherClient, .videoDeviceNotAvailableInBackground])
        let asked = Configuration([.frameRate: .number(30), .activeFormat: .text("420v 1280x720@30")])
        return [
            .willBeInterrupted(
                InterruptionWarning(
                    id: 1, cause: .videoDeviceInUseByAnotherClient, deadline: Moment(nanoseconds: 5),
                    rule: "Photo booth")),
            .interruptionWithdrawn(1),
            .wasInterrupted(Interruption(id: 2, causes: causes, interrupter: .app("call"), recording: 3, rule: "r")),
            .wasInterrupted(Interruption(id: 3, causes: causes, interrupter: .anotherUsersApp, rule: "r")),
            .wasInterrupted(Interruption(id: 4, causes: causes, rule: "")),
            .interruptionChanged(Interruption(id: 4, causes: causes, interrupter: .app("call"), rule: "r")),
            .interruptionEnded(InterruptionEnd(id: 4, causes: causes, duration: .milliseconds(2500), willResume: true)),
            .interruptionEnded(
                InterruptionEnd(id: 4, causes: causes, duration: .zero, willResume: false, recording: 3)),
            .didStartRunning(GrantID(8)), .didStopRunning,
            .accessChanged(AccessChange([.preview, .photo], causes: causes, rule: "r")),
            .accessChanged(AccessChange(.sharer, rule: "r", controller: .app("call"))),
            .sharersChanged([.app("mirror"), .anotherUsersApp, .anotherUsersApp]), .sharersChanged([]),
            .sessionStopped(SessionStop(.leaseExpired, rule: "r")), .recordingStarted(3), .recordingPaused(3),
            .recordingResumed(3),
            .recordingFinished(
                RecordingFinished(
                    recording: 3, why: .interrupted, frames: 60, duration: .seconds(2), bytes: 9000,
                    nextChance: .whenInterruptionEnds)),
            .recordingFinished(Self.takenAway),
            .recordingFinished(
                RecordingFinished(
                    recording: 3, why: .recorderReset, frames: nil, duration: nil, bytes: nil, nextChance: .now)),
            .photoCaptured(PhotoCaptured(photo: 1, width: 640, height: 480, bytes: 99)),
            .photoCaptured(PhotoCaptured(photo: 3, width: 640, height: 480, bytes: 99, metadata: Self.taken)),
            .photoCaptured(PhotoCaptured(photo: 2, width: 0, height: 0, bytes: 0, error: "The disk is full.")),
            .configurationApplied(ConfigurationChange(asked: asked, inForce: asked, by: .resumption)),
            .rampFinished(videoZoomFactor: 2.5),
            .cameraStateChanged(
                Configuration([
                    .adjustingFocus: .flag(true), .lensPosition: .number(0), .pipelineRebuilds: .number(2),
                    .focusMode: .text("locked"),
                ])), .runtimeError(code: "stall", message: "No frame for 2 s."),
            .connectionsFormed(camera: CameraID("front"), reopen: [.preview, .microphone, .metadata]),
        ]
    }()

    private static let takenAway: RecordingFinished = {
        var end = RecordingFinished(
            recording: 3, why: .accessLost, frames: 60, duration: .seconds(2), bytes: 9000,
            nextChance: .whenAccessReturns)
        (end.framesLeftOut, end.lastCapture) = (2, Moment(nanoseconds: 9))
        (end.cause, end.interrupter) = (.videoDeviceNotAvailableWithMultipleForegroundApps, .anotherUsersApp)
        return end
    }()

    private static let taken: PhotoMetadata = {
        var taken = PhotoMetadata()
        (taken.exposureDuration, taken.iso, taken.exposureTargetBias) = (1.0 / 60, 34, -1.5)
        (taken.videoZoomFactor, taken.orientation, taken.flashFired) = (2, 6, true)
        return taken
    }()

    @Test(
        "A photo's metadata is not known where an earlier recorder core does not say it, and a later one may say more")
    func metadataOfOtherVersions() throws {
        var short = WireReader("PhotoCaptured", [.uint64(1), .uint32(2), .uint32(2), .uint64(9), .string("")])
        #expect(try PhotoCaptured(reading: &short).metadata == nil)
        var wire = Self.taken.wire
        wire["aperture"] = .double(2.2)
        #expect(try PhotoMetadata(wire: wire) == Self.taken)
        wire["orientation"] = .uint32(9)
        #expect(throws: BrokerError.self) { try PhotoMetadata(wire: wire) }
    }

    @Test("A bracket reads back, and is refused with the key and what is allowed")
    func brackets() throws {
        for bracket in [
            try PhotoBracket(exposureTargetBiases: [-2, 0, 2]),
            try PhotoBracket(exposureDurations: [0.01, 0.1], isos: [100, 200]),
        ] {
            #expect(try PhotoBracket(wire: bracket.wire, files: bracket.shots.count) == bracket)
        }
        func problem(_ wire: WireDictionary, _ files: Int) -> String? {
            do { _ = try PhotoBracket(wire: wire, files: files) } catch { return error.message }
            return nil
        }
        let biases = WireValue.array(type: "d", [.double(0), .double(1)])
        #expect(problem(["exposureTargetBiases": biases], 3)?.contains("as many as files") == true)
        #expect(problem(["exposureTargetBiases": biases], 9)?.contains("1 to 8") == true)
        #expect(problem(["exposureTargetBiases": biases, "isos": biases], 2)?.contains("isos") == true)
        #expect(problem(["exposureDurations": biases], 2) != nil)
        #expect(problem(["quality": .uint32(9)], 1)?.contains("“quality” is 9") == true)
        #expect(problem([:], 1)?.contains("A bracket has no exposures; it takes exposureTargetBiases, or") == true)
    }

    @Test(
        "Every session event reads back, with its sequence number and decision, and has the signature of the interface table",
        arguments: everyEvent)
    func eventsReadBack(event: SessionEvent) throws {
        let sent = SessionSignal(sequence: 12, decision: 34, event: event)
        let signal = sent.signal(of: SessionID(7))
        #expect(try SessionSignal(signal: signal) == sent)
        #expect(signal.path == "/org/camarb/session/7")
        let declared = try #require(Interface.session.signal(event.wireName))
        #expect(signal.arguments.map(\.signature).joined() == declared.signature)
    }

    @Test("Every signal in the table is one of the events")
    func theTableHasNoOther() {
        let names = Set(Self.everyEvent.map(\.wireName))
        #expect(Set(Interface.session.signals.map(\.name)) == names)
    }

    @Test(
        "A signal cut short at any argument is an error that names the argument, and one of another type is an error",
        arguments: everyEvent)
    func shortSignalsAreErrors(event: SessionEvent) throws {
        let whole = SessionSignal(sequence: 1, decision: 2, event: event).signal(of: SessionID(7))
        for count in 0..<whole.arguments.count {
            var cut = whole
            cut.arguments = Array(whole.arguments.prefix(count))
            var wrong = whole
            wrong.arguments[count] = .fileDescriptor(0)
            #expect(throws: BrokerError.self) { try SessionSignal(signal: wrong) }
            let name = try #require(Interface.session.signal(event.wireName)).carries[count].name
            // They came later than the others: an earlier broker, or recorder core that goes on under a new one, leaves them
            // out.
            let isLater = ["metadata", "framesLeftOut", "lastCapture", "cause", "interrupter", "recording"].contains(
                name)
            if isLater, ["PhotoCaptured", "RecordingFinished", "InterruptionEnded"].contains(event.wireName), count > 4
            {
                continue
            }
            if name == "message" || name == "controller", event.wireName != "RuntimeError" { continue }
            let error = #expect(throws: BrokerError.self) { try SessionSignal(signal: cut) }
            #expect(error?.kind == .invalidArguments)
            #expect(error?.message.contains(name) == true)
        }
    }

    @Test("A cause outside the closed set is an error that shows the word")
    func unknownCauses() {
        let signal = WireSignal(
            path: "/org/camarb/session/7", interface: InterfaceName.session, member: "InterruptionChanged",
            arguments: [
                .uint64(1), .uint64(1), .uint64(1), .strings(["boredom"]), .string("boredom"), .string(""), .string(""),
            ])
        let error = #expect(throws: BrokerError.self) { try SessionSignal(signal: signal) }
        #expect(error?.message == "InterruptionChanged: “causes” has “boredom”, which is not a cause.")
    }

    @Test("A device's fault is one of the bus where the sentence ends with the kernel's words for no room")
    func deviceFaults() {
        for sentence in ["No space left on device", "Front: cannot start streaming: \(DeviceFault.noRoomWords)."] {
            #expect(DeviceFault(message: sentence) == .noRoom)
        }
        for sentence in ["", ".", ")", "No space left on device 2", "no data for 2 s"] {
            #expect(DeviceFault(message: sentence) == .device)
        }
    }

    @Test("A value that an option of a recording does not take is refused with its range")
    func outputOptions() throws {
        for (key, value, range) in [
            ("maxDuration", WireValue.double(0), "it takes seconds above 0."),
            ("maxBytes", .uint64(1000), "it takes bytes from 262144."),
        ] {
            let error = #expect(throws: BrokerError.self) { try RecordingOptions(wire: [key: value]) }
            #expect(error?.kind == .invalidValue && error?.message.hasSuffix(range) == true)
        }
        _ = try RecordingOptions(wire: ["maxDuration": .double(0.5), "maxBytes": .uint64(RecordingOptions.bytesLeast)])
    }

    @Test("A configuration reads back, ordered by key, and a whole number is taken where a fraction is meant")
    func configurations() throws {
        let configuration = Configuration([
            .videoZoomFactor: .number(2), .camera: .text("front"), .usesAudio: .flag(true), .whenBusy: .text("refuse"),
        ])
        #expect(configuration.wire.keys == ["camera", "usesAudio", "videoZoomFactor", "whenBusy"])
        #expect(try Configuration(wire: configuration.wire) == configuration)
        #expect(try Configuration(wire: ["frameRate": .uint32(30)])[.frameRate] == .number(30))
    }

    static let refusals: [(WireDictionary, String)] = [
        (["garce": .uint32(1)], "“garce” is not a configuration key"),
        (["frameRate": .string("fast")], "frameRate is “fast”; it takes a finite number above 0"),
        (["frameRate": .double(.nan)], "it takes a finite number above 0"),
        (["videoZoomFactor": .double(-1)], "videoZoomFactor is -1;"),
        (["usesAudio": .string("yes")], "usesAudio is “yes”; it takes true or false"),
        (["whenBusy": .string("wait")], "whenBusy is “wait”; it takes refuse or interrupt"),
        (["frameRate": .uint32(1), "frameRate": .uint32(2)], "frameRate is there twice"),
        (["camera": .string(String(repeating: "x", count: 300))], "at most 256 bytes"),
    ]

    @Test("A bad configuration is refused with the key, the value and what is allowed", arguments: refusals)
    func badConfigurations(wire: WireDictionary, part: String) {
        let error = #expect(throws: BrokerError.self) { try Configuration(wire: wire) }
        #expect(error?.kind == .unsupportedConfiguration)
        #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }

    @Test("Settings read as a person writes them")
    func settingsFromText() throws {
        var batch = Configuration()
        for text in ["frameRate=29.97", "usesAudio=true", "activeFormat=420v 640x480@30"] { try batch.set(text) }
        for text in ["frameRate", "frameRate=often"] { #expect(throws: BrokerError.self) { try batch.set(text) } }
        let meant = Configuration([
            .frameRate: .number(29.97), .usesAudio: .flag(true), .activeFormat: .text("420v 640x480@30"),
        ])
        #expect(batch == meant)
    }

    static let capabilities = CameraCapabilities(
        name: "Test", position: .front, sensorWidth: 1920, sensorHeight: 1080,
        formats: [
            CameraFormat(pixelFormat: "420v", width: 1280, height: 720, minFrameRate: 1, maxFrameRate: 30),
            CameraFormat(
                pixelFormat: "420f", width: 640, height: 480, minFrameRate: 5, maxFrameRate: 60, videoMaxZoomFactor: 4,
                videoZoomFactorUpscaleThreshold: 2, isBinned: true, fieldOfView: 71.5),
        ])

    @Test("Capabilities read back")
    func capabilitiesReadBack() throws {
        #expect(try CameraCapabilities(wire: Self.capabilities.wire) == Self.capabilities)
        var more = Self.capabilities
        more.controls = [
            CameraControl(.gainMode, .words(["locked", "continuousAuto"]), usual: .text("continuousAuto")),
            CameraControl(.hue, .range(least: -128, most: 128, step: 1), usual: .number(0)),
            CameraControl(.iso, .range(least: 0, most: 400, step: 100), usual: .number(0)),
            CameraControl(.videoMirrored, .flag, usual: .flag(false)),
        ]
        more.defaultFormatIndex = 1
        var optics = CameraFormat.Optics.usual
        (optics.highResolutionStill, optics.autoFocusSystem) = (.init(width: 2576, height: 1932), .phase)
        (optics.iso, optics.exposureDuration) = (.init(least: 34, most: 2176), .init(least: 0.000_013, most: 0.5))
        (optics.videoStabilizationModes, optics.isVideoHDRSupported) = ([.standard, .cinematic], true)
        more.formats[1].optics = optics
        more.formats[1].assumed = CameraFormat.FieldName.allCases
        more.formats[0].fieldOfView = 0
        #expect(more.formats[0].wire["fieldOfView"] == nil)
        #expect(try CameraCapabilities(wire: more.wire) == more)
        // Each of its fields can be named as assumed.
        let named = more.formats[1].wire.entries.map(\.key).filter { $0 != "assumed" }
        #expect(Set(named) == Set(CameraFormat.FieldName.allCases.map(\.rawValue)))
        // A newer recorder core may know of a mode that this reader does not.
        var newer = more.formats[1].wire
        newer["videoStabilizationModes"] = .strings(["standard", "gimbal", "cinematic"])
        #expect(try CameraFormat(wire: newer, place: "format") == more.formats[1])
    }

    /// Fields of capabilities, or of one of their formats, that cannot be, and what is said of them.
    static let impossible: [(isOfFormat: Bool, fields: WireDictionary, part: String)] = [
        (false, ["formats": .dictionaries([])], "formats"),
        (false, ["position": .string("ceiling")], "“ceiling”; it takes front, back, external"),
        (false, ["defaultFormatIndex": .uint32(2)], "defaultFormatIndex is 2; it takes a place from 0 to 1"),
        (true, ["width": .uint32(0)], "width is 0"),
        (true, ["autoFocusSystem": .string("laser")], "“laser”; it takes none, contrast, phase"),
        (true, ["minISO": .double(100), "maxISO": .double(99)], "maxISO is 99; it takes a finite number from 100"),
        (true, ["minISO": .double(100)], "maxISO is missing"),
        (
            true, ["maxExposureDuration": .double(.infinity), "minExposureDuration": .double(1)],
            "maxExposureDuration is"
        ),
        (true, ["highResolutionStillWidth": .uint32(2576)], "highResolutionStillHeight is missing"),
        (true, ["videoStabilizationModes": .string("standard")], "it takes a list of texts"),
        (true, ["videoHDRSupported": .string("yes")], "it takes true or false"),
    ]

    @Test("A recorder's impossible capabilities are refused with the place", arguments: impossible)
    func badCapabilities(isOfFormat: Bool, fields: WireDictionary, part: String) {
        var (wire, format) = (Self.capabilities.wire, Self.capabilities.formats[1].wire)
        for field in fields.entries {
            if isOfFormat { format[field.key] = field.value } else { wire[field.key] = field.value }
        }
        if isOfFormat { wire["formats"] = .dictionaries([Self.capabilities.formats[0].wire, format]) }
        let error = #expect(throws: BrokerError.self) { try CameraCapabilities(wire: wire) }
        #expect(error?.kind == .invalidValue)
        #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("formats[1]: ") == isOfFormat)
    }

    @Test(
        "A camera that is named by its node's number, or by nothing, is refused with what to write",
        arguments: [
            ("v4l2:video3", "names a node, whose number changes"),
            ("v4l2:", "is not a camera; write simulated, simulated:MODEL, file:PATH or v4l2:IDENTITY."),
        ])
    func badSpecs(spec: String, words: String) {
        let error = #expect(throws: BrokerError.self) { try CameraSpec(parsing: spec) }
        #expect(error?.message.hasPrefix("“\(spec)” \(words)") == true)
    }

    @Test("A status reads back, with the types of the table")
    func statusReadsBack() throws {
        let camera = CameraStatus {
            ($0.camera, $0.name, $0.position, $0.present, $0.generation) = (CameraID("front"), "Front", .front, true, 2)
            ($0.tenancy, $0.holder, $0.session) = (.streaming, .app("photos"), SessionID(1))
            $0.waiting = [.app("call"), .anotherUsersApp]
        }
        let session = SessionStatus {
            ($0.session, $0.app, $0.camera, $0.state) = (SessionID(1), .app("photos"), CameraID("front"), .restricted)
            ($0.access, $0.causes) = ([.preview], CauseSet([.videoDeviceNotAvailableInBackground]))
            ($0.rule, $0.rank, $0.presence, $0.focused) = ("r", "apps", .foreground(.slideOver), true)
            $0.recording = 3
        }
        let status = BrokerStatus {
            ($0.version, $0.policy, $0.moment, $0.decision) = ("1", "ios9", Moment(nanoseconds: 3), 4)
            $0.placements = [PlacementStatus { ($0.user, $0.standing) = (4_000_000_000, .lost) }]
            $0.loginSessionsUnknown = "nobody was asked"
            $0.loginSessions = [
                LoginSessionStatus {
                    ($0.id, $0.user, $0.seat) = ("c1", 4_000_000_000, "seat0")
                    ($0.isActive, $0.isLocked) = (true, true)
                }
            ]
            $0.speakers = [nil, 0, 7].map { user in SpeakerStatus { ($0.role, $0.user) = ("shell", user) } }
            ($0.pressure, $0.pressureSaid, $0.pressureMeasured) = (.serious, .fair, .serious)
            ($0.pressureWhy, $0.pressureTrouble) = ("acpitz: 90 °C", "none")
            ($0.cameras, $0.sessions) = ([camera], [session])
        }
        #expect(try BrokerStatus(answer: status.answer) == status)
        let signature = status.answer.map(\.signature).joined()
        #expect(signature == Interface.broker.method("GetStatus")?.signatureGiven)
    }
}
