import Arbiter
import ArbiterProtocol
import Campaigns
import PolicyFile
import Scenario
import Testing
import Workbench

@Suite("Traces")
struct TraceFileTests {
    /// A trace of a long random life.
    static func life(seed: UInt64 = 1, events: Int = 300, isHonest: Bool = false) throws -> [UInt8] {
        let (policy, steps) = try FuzzRun.longRun(seed, steps: events)
        return written(steps.prefix(events).map { ($0.event, $0.moment) }, policy, isHonest: isHonest)
    }

    /// A broker's trace of these events.
    /// - Parameter isHonest: without requests to sessions that are not there, which a broker keeps from its core.
    static func written(
        _ events: [(event: Event, moment: Moment)], _ policy: Policy = .firstCome, isHonest: Bool = false
    ) -> [UInt8] {
        var arbiter = Arbiter(policy: policy)
        var writer = TraceWriter()
        var bytes = writer.header(program: "test 1", origin: .zero, arbiter: arbiter)
        for step in events {
            let before = arbiter
            let effects = arbiter.step(step.event, at: step.moment)
            if isHonest, case .refused(let refusal)? = effects.first, refusal.error.kind == .unknownSession {
                arbiter = before
                continue
            }
            bytes += writer.write(
                step: TraceWriter.step(
                    writer.steps + 1, step.event, at: step.moment, decision: arbiter.lastDecision, effects))
        }
        return bytes + writer.end(.stopped)
    }

    private func read(_ bytes: [UInt8]) throws(TraceError) -> [TracePart] {
        try TraceReader.read(bytes, file: "a.trace")
    }

    @Test("Every kind of event is written and read back exactly", arguments: EventKind.allCases)
    func roundTrip(_ kind: EventKind) throws {
        var generated = GeneratedEvent(random: SeededRandom(seed: 7))
        for _ in 0..<200 {
            let event = generated.event(kind)
            #expect(event.kind == kind)
            var writer = TraceWriter()
            let header = writer.header(program: "test 1", origin: .zero, arbiter: Arbiter(policy: .firstCome))
            let line = writer.write(step: TraceWriter.step(1, event, at: .zero, name: nil, decision: 1, []))
            let parts = try read(header + line)
            #expect(parts.first?.steps.map(\.event) == [event])
        }
    }

    @Test("A long life replays byte for byte", arguments: [1, 2, 3] as [UInt64])
    func replays(_ seed: UInt64) throws {
        let parts = try read(Self.life(seed: seed))
        #expect(parts.count == 1)
        var seen = 0
        let difference = try Replay.run(parts[0]) { _ in seen += 1 }.difference
        #expect(difference == nil, "\(difference?.expected ?? "")\n\(difference?.got ?? "")")
        // Fewer than there are events: a start without a right begins nothing.
        #expect(seen == parts[0].steps.count && seen > 200 && parts[0].end == .stopped)
    }

    @Test("A long random life becomes a scenario that passes", arguments: 1...12 as ClosedRange<UInt64>)
    func scenario(_ seed: UInt64) throws {
        let part = try #require(try read(Self.life(seed: seed, isHonest: true)).first)
        let made = try TraceScenario(part, title: "A life")
        #expect(made.deviation == nil, "\(made.deviation ?? "")")
        #expect(try Scenario.parse(made.text, file: "made.scenario", policies: ".").run().passed)
    }

    // MARK: Bad input

    private func refused(_ bytes: [UInt8]) -> String {
        do throws(TraceError) {
            _ = try read(bytes)
            return "nothing"
        } catch { return "\(error)" }
    }

    @Test("A line too few, too many or in another place is noticed")
    func order() throws {
        let all: [[UInt8]] = try Self.life(events: 40).split(separator: 10).map { Array($0) + [10] }
        func expect(_ line: Int, _ change: (inout [[UInt8]]) -> Void) {
            var changed = all
            change(&changed)
            let said = refused(changed.flatMap { $0 })
            #expect(said.hasPrefix("a.trace:\(line): this line is not as it was written"), "\(said)")
        }
        expect(6) { $0.remove(at: 5) }
        expect(7) { $0.insert(all[5], at: 5) }
        expect(6) { $0.swapAt(5, 6) }
        #expect(refused(Array(all[1...].joined())) == "a.trace:1: a trace begins with a header")
        #expect(refused(Array((all + all).joined())).hasPrefix("a.trace:\(all.count + 1): a second header stands"))
        #expect(refused(Array((all + [all[3]]).joined())).hasPrefix("a.trace:\(all.count + 1): a step stands behind"))
    }

    @Test("Cut after any byte, a trace is refused with its line, or has no end")
    func everywhere() throws {
        let app = AppID("photos", user: 1000)
        let events: [Event] = [
            .connected(ClientID(1), app: app, ClientIdentity()),
            .created(SessionID(1), ClientID(1), camera: CameraID("back"), Configuration(), reestablished: false),
            .startRunning(SessionID(1)), .pressure(.serious), .disconnected(ClientID(1)),
        ]
        // Short, since it is read once for each of its bytes.
        let whole = Self.written(events.enumerated().map { ($1, Moment.zero + .seconds($0)) })
        let lines = whole.count { $0 == 10 }
        var boundaries = 0
        for length in 0..<whole.count {
            let bytes = Array(whole[..<length])
            let before = bytes.count { $0 == 10 }
            let strict = Result { () throws(TraceError) in try TraceReader.read(bytes, file: "a.trace") }
            let lenient = Result { () throws(TraceError) in
                try TraceReader.read(bytes, file: "a.trace", mayBeCut: true)
            }
            if before == 0 {
                for case .success in [strict, lenient] { Issue.record("byte \(length): read without a header") }
                continue
            }
            // Without the last line's rest, and that the trace goes on is what a reader can see.
            let parts = try lenient.get()
            #expect(parts.count == 1 && parts[0].end == nil && parts[0].steps.count == before - 1 && before < lines)
            guard bytes.last != 10 else {
                boundaries += 1
                #expect(try strict.get().first?.end == nil)
                #expect(try Replay.run(parts[0]).difference == nil)
                continue
            }
            guard case .failure(let error) = strict else {
                Issue.record("byte \(length): read, though its last line is not whole")
                continue
            }
            #expect(
                "\(error)"
                    == "a.trace:\(before + 1): the trace ends in the middle of this line; --cut leaves it out")
        }
        #expect(boundaries == lines - 1)
    }
}
