import ArbiterProtocol
import Testing
import Workbench

@Suite("Logs of events")
struct LogTests {
    @Test("Facts read back, and lines that are neither are passed over")
    func factsReadBack() throws {
        let facts: [TimelineFact] = [
            .appeared(lane: "a"), .left(lane: "a"), .holder(camera: "front", nil), .holder(camera: "front", "a"),
            .note("privacy on"), .deadline(camera: "front", .lease, due: Moment(nanoseconds: 5)),
            .deadline(camera: "front", .confirmation, due: nil),
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
        arguments: [
            "{", "{\"a\"}", "[1,]", "\"a", "\"\\u12\"", "tru", "1 2", "{\"a\":}", "", "1e999", "nul", "\\",
        ])
    func brokenJSON(text: String) {
        let problem = #expect(throws: JSONReader.Problem.self) { try JSONReader.read(text) }
        #expect((problem?.column ?? 0) >= 1)
    }

    @Test("Nesting without end is an error, not a stack that runs over")
    func deepJSON() {
        #expect(throws: JSONReader.Problem.self) { try JSONReader.read(String(repeating: "[", count: 100_000)) }
    }
}
