import ArbiterProtocol
import JSONText
import Testing
import Timeline

@Suite("Logs of events")
struct LogTests {
    static let events: [SessionEvent] = {
        let causes = CauseSet([.videoDeviceInUseByAnotherClient, .systemSleep])
        let asked = Configuration([
            .frameRate: .number(29.5), .activeFormat: .text("420v 1280x720@30"), .usesAudio: .flag(true),
            .videoZoomFactor: .number(2), .focusPointOfInterest: .point(x: 0.5, y: 0.25),
            .whiteBalanceGains: .gains(red: 2, green: 1, blue: 1.5),
        ])
        return [
            .willBeInterrupted(
                id: 1, cause: .videoDeviceInUseByAnotherClient, deadline: Moment(nanoseconds: 5_000_000_000), rule: ""),
            .interruptionWithdrawn(id: 1),
            .wasInterrupted(id: 2, causes: causes, interrupter: .app("call"), cutting: 3, rule: ""),
            .wasInterrupted(id: 2, causes: causes, interrupter: .anotherUsersApp, cutting: nil, rule: ""),
            .wasInterrupted(id: 2, causes: causes, interrupter: .anotherUsersApp, cutting: 7, rule: ""),
            .wasInterrupted(id: 4, causes: causes, interrupter: nil, cutting: 1, rule: ""),
            .interruptionChanged(id: 4, causes: causes, interrupter: .anotherUsersApp, rule: ""),
            .sharersChanged([.app("mirror"), .anotherUsersApp]), .sharersChanged([]),
            .interruptionEnded(id: 4, causesItHad: causes, duration: .milliseconds(2500), willResume: true),
            .interruptionEnded(id: 4, causesItHad: causes, duration: .seconds(2), willResume: false),
            .didStartRunning(grant: GrantID(0)), .didStopRunning,
            .accessChanged([.preview, .photo], causes: causes, rule: ""),
            .accessChanged(.all, causes: CauseSet(), rule: ""),
            .sessionStopped(.leaseExpired, rule: "Photo booth"), .recordingStarted(3),
            .recordingFinished(
                RecordingFinished(
                    recording: 3, why: .interrupted, frames: 0, duration: .seconds(2), bytes: 0, nextChance: .now)),
            .recordingFinished(
                RecordingFinished(
                    recording: 4, why: .recorderReset, frames: nil, duration: nil, bytes: nil, nextChance: .now)),
            .photoCaptured(PhotoCaptured(photo: 1, width: 640, height: 480, bytes: 0)),
            .photoCaptured(PhotoCaptured(photo: 2, width: 0, height: 0, bytes: 0, error: "the disk is full")),
            .configurationApplied(asked: asked, inForce: asked, by: .client),
            .configurationApplied(asked: Configuration(), inForce: Configuration(), by: .resumption),
            .rampFinished(videoZoomFactor: 2.5),
            .cameraStateChanged(Configuration([.adjustingFocus: .flag(true), .pipelineRebuilds: .number(2)])),
            .runtimeError(code: "stall", message: "no frame for 2 s"),
        ]
    }()

    @Test("An event reads back from its line of JSON", arguments: events)
    func eventsReadBack(event: SessionEvent) throws {
        let entry = LogEntry.event(
            Moment(nanoseconds: 7), app: "the \"photos\" app\n", SessionSignal(sequence: 3, decision: 9, event: event))
        let line = entry.json.text
        #expect(!line.contains("\n"))
        #expect(try LogEntry(json: JSONReader.read(line)) == entry)
    }

    @Test("Facts read back, and lines that are neither are passed over")
    func factsReadBack() throws {
        let facts: [TimelineFact] = [
            .appeared(lane: "a"), .left(lane: "a"), .holder(camera: "front", nil), .holder(camera: "front", "a"),
            .note("privacy on"),
        ]
        for fact in facts {
            let entry = LogEntry.fact(Moment(nanoseconds: 1), fact)
            #expect(try LogEntry(json: JSONReader.read(entry.json.text)) == entry)
        }
        for line in ["{\"moment\":1,\"app\":\"a\",\"command\":\"start\",\"ok\":true}", "{}", "[1]", "3"] {
            #expect(try LogEntry(json: JSONReader.read(line)) == nil)
        }
    }

    @Test("An event that lacks an argument is an error that names it")
    func brokenEvents() throws {
        let json = try JSONReader.read(
            "{\"moment\":1,\"app\":\"a\",\"event\":\"DidStartRunning\",\"sequence\":1,\"decision\":2}")
        let error = #expect(throws: BrokerError.self) { try LogEntry(json: json) }
        #expect(error?.message.contains("“grant”") == true)
    }

    @Test(
        "What is no JSON is an error with its column",
        arguments: ["{", "{\"a\"}", "[1,]", "\"a", "\"\\u12\"", "tru", "1 2", "{\"a\":}", "", "1e999", "nul", "\\"])
    func brokenJSON(text: String) {
        let problem = #expect(throws: JSONReader.Problem.self) { try JSONReader.read(text) }
        #expect((problem?.column ?? 0) >= 1)
    }

    @Test("Nesting without end is an error, not a stack that runs over")
    func deepJSON() {
        #expect(throws: JSONReader.Problem.self) { try JSONReader.read(String(repeating: "[", count: 100_000)) }
    }

    @Test("A decision's parts give its events with all they say, and what the world did")
    func decisions() {
        let moment = Moment(nanoseconds: 12_000_000_000)
        let signal = SessionSignal(
            sequence: 3, decision: 4,
            event: .willBeInterrupted(
                id: 1, cause: .videoDeviceInUseByAnotherClient, deadline: Moment(nanoseconds: 17_000_000_000),
                rule: "Calls come first"))
        let parts: [DecidedPart] = [
            .event("microphone", about: nil, note: "microphone call taken", ["app": .string("call")]),
            .notice(app: "photos", SessionID(7), signal),
            .refused(BrokerError(.notRunning, "It does not run."), rule: "x"), .other("waved", [:]),
        ]
        #expect(
            parts.compactMap { $0.entry(of: 4, at: moment) } == [
                .fact(moment, .note("microphone call taken")), .event(moment, app: "photos", signal),
                .fact(moment, .note("refused NotRunning because x")),
            ])
    }

    @Test("Clients that come and go are lanes, and nothing else of an event is")
    func lanes() {
        func entry(_ event: String, _ about: String? = "photo booth") -> LogEntry? {
            DecidedPart.event(event, about: about, note: nil, [:]).entry(of: 1, at: .zero)
        }
        #expect(entry("created") == .fact(.zero, .appeared(lane: "photo booth")))
        #expect(entry("closed") == .fact(.zero, .left(lane: "photo booth")))
        #expect(entry("disconnected") == .fact(.zero, .left(lane: "photo booth")))
        #expect(entry("startRunning") == nil && entry("connected") == nil && entry("timePassed", nil) == nil)
    }
}
