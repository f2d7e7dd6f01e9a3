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
            .videoZoomFactor: .number(2),
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
            .photoCaptured(PhotoCaptured(photo: 1, width: 640, height: 480, bytes: 0)),
            .photoCaptured(PhotoCaptured(photo: 2, width: 0, height: 0, bytes: 0, error: "the disk is full")),
            .configurationApplied(asked: asked, inForce: asked, by: .client),
            .configurationApplied(asked: Configuration(), inForce: Configuration(), by: .resumption),
            .rampFinished(videoZoomFactor: 2.5), .runtimeError(code: "stall", message: "no frame for 2 s"),
        ]
    }()

    /// The notices of `events` in the words of `ScenarioWriter`, in order.
    static let lines = [
        "photos willBeInterrupted #1 device-in-use at 5s", "photos interruptionWithdrawn #1",
        "photos wasInterrupted #2 system-sleep+device-in-use by call, cutting recording 3",
        "photos wasInterrupted #2 system-sleep+device-in-use by another user's app",
        "photos wasInterrupted #2 system-sleep+device-in-use by another user's app, cutting recording 7",
        "photos wasInterrupted #4 system-sleep+device-in-use, cutting recording 1",
        "photos interruptionChanged #4 system-sleep+device-in-use by another user's app",
        "photos sharersChanged mirror, another user's app", "photos sharersChanged nobody",
        "photos interruptionEnded #4 system-sleep+device-in-use after 2.5s, resuming",
        "photos interruptionEnded #4 system-sleep+device-in-use after 2s, not resuming", "photos didStartRunning",
        "photos didStopRunning", "photos accessChanged preview+photo system-sleep+device-in-use",
        "photos accessChanged all", "photos sessionStopped lease-expired because \"Photo booth\"",
        "photos recordingStarted 3", "photos recordingFinished 3 interrupted after 2s",
        "photos photoCaptured 1 640x480",
        "photos photoCaptured 2 failed \"the disk is full\"",
        """
        photos configurationApplied activeFormat="420v 1280x720@30" frameRate=29.5 usesAudio=true videoZoomFactor=2 \
        by client
        """,
        "photos configurationApplied defaults by resumption", "photos rampFinished 2.5",
        "photos runtimeError stall \"no frame for 2 s\"",
    ]

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

    @Test("Every notice line of the scenario language reads as its event", arguments: zip(lines, events))
    func noticeLines(line: String, event: SessionEvent) throws {
        let read = try #require(NoticeLine.read(line.scenarioWords, origin: .zero))
        #expect(read.session == "photos")
        #expect(read.event == event)
    }

    @Test("A decision's trace gives its events, and what the world did")
    func traces() {
        let trace = DecisionTrace(
            4, at: Moment(nanoseconds: 12_000_000_000),
            """
            2s   microphone call taken
                   photos willBeInterrupted #1 device-in-use at 7s
                   refused NotRunning because "x"
                   gibberish
            """)
        #expect(
            trace.entries == [
                .fact(Moment(nanoseconds: 12_000_000_000), .note("microphone call taken")),
                .event(
                    Moment(nanoseconds: 12_000_000_000), app: "photos",
                    SessionSignal(
                        sequence: 0, decision: 4,
                        event: .willBeInterrupted(
                            id: 1, cause: .videoDeviceInUseByAnotherClient,
                            deadline: Moment(nanoseconds: 17_000_000_000), rule: ""))),
                .fact(Moment(nanoseconds: 12_000_000_000), .note("refused NotRunning because x")),
            ])
    }

    @Test("A name with spaces is one lane")
    func quotedNames() {
        let trace = DecisionTrace(1, at: .zero, "0s   session \"photo booth\"\n       \"photo booth\" didStopRunning")
        #expect(
            trace.entries == [
                .fact(.zero, .appeared(lane: "photo booth")),
                .event(
                    .zero, app: "photo booth", SessionSignal(sequence: 0, decision: 1, event: .didStopRunning)),
            ])
    }

    @Test("Times read as they are written", arguments: ["40ms", "2.5s", "3min", "1h", "1000000ns", "0s"])
    func times(text: String) {
        #expect(Duration(text: text) != nil)
    }

    @Test("What is no time is none", arguments: ["", "s", "-1s", "2", "2 s s", "nans", "infs", "9999999h"])
    func noTimes(text: String) {
        #expect(Duration(text: text) == nil)
    }
}
