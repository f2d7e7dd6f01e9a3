import ArbiterProtocol
import Testing
import Workbench

@Suite("Logs of events")
struct LogTests {
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
