import Arbiter
import ArbiterProtocol
import Exploration
import JSONText
import Scenario
import Testing
import Trace

@Suite("Traces")
struct TraceFileTests {
    /// A trace of a long random life, in as many files as there are numbers in `rotations`, and one more.
    /// - Parameter isHonest: without requests to sessions that are not there, which a broker keeps from its core.
    static func files(
        seed: UInt64 = 1, events: Int = 300, rotations: [Int] = [], isHonest: Bool = false
    ) throws -> [[UInt8]] {
        var simulation = try Simulation(seed: seed)
        simulation.keepsSteps = true
        var arbiter = Arbiter(policy: simulation.stage.arbiter.policy)
        simulation.run(events: events)
        var writer = TraceWriter()
        var files = [writer.header(program: "test 1", origin: .zero, arbiter: arbiter)]
        for (index, step) in simulation.steps.enumerated() {
            if rotations.contains(index) {
                files[files.count - 1] += writer.end(.rotated)
                let before = writer
                writer = TraceWriter(steps: before.steps)
                files.append(writer.header(program: "test 1", origin: .zero, arbiter: arbiter, following: before))
            }
            let before = arbiter
            let effects = arbiter.step(step.event, at: step.moment)
            if isHonest, case .refused(let refusal)? = effects.first, refusal.error.kind == .unknownSession {
                arbiter = before
                continue
            }
            files[files.count - 1] += writer.write(
                step: TraceWriter.step(
                    writer.steps + 1, step.event, at: step.moment, decision: arbiter.lastDecision, effects))
        }
        files[files.count - 1] += writer.end(.stopped)
        return files
    }

    private func read(_ bytes: [UInt8], mayBeCut: Bool = false) throws(TraceError) -> [TracePart] {
        try TraceReader.read(bytes, file: "a.trace", mayBeCut: mayBeCut)
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
        let parts = try read(Self.files(seed: seed)[0])
        #expect(parts.count == 1)
        var seen = 0
        let difference = try Replay.run(parts[0]) { _ in seen += 1 }.difference
        #expect(difference == nil, "\(difference?.expected ?? "")\n\(difference?.got ?? "")")
        // Fewer than there are events: a start without a right begins nothing.
        #expect(seen == parts[0].steps.count && seen > 200)
        #expect(parts[0].end == .stopped)
    }

    @Test("Each rotated file replays alone, and begins with what the one before ended with")
    func rotated() throws {
        let files = try Self.files(rotations: [100, 101, 250])
        #expect(files.count == 4)
        var before: (part: TracePart, end: Arbiter)?
        for bytes in files {
            let part = try #require(try read(bytes).first)
            let replayed = try Replay.run(part)
            #expect(replayed.difference == nil)
            if let before {
                #expect(part.gap(after: before.part) == nil)
                let snapshot = try #require(part.header.snapshot)
                #expect(
                    try JSONEncoding.json(of: snapshot) == JSONEncoding.json(of: before.end.snapshot()))
            }
            before = (part, replayed.end)
        }
        let first = try #require(try read(files[0]).first)
        let third = try #require(try read(files[2]).first)
        #expect(third.gap(after: first) == "it begins behind step 101, and a.trace ends with step 100")
    }

    // MARK: Bad input

    private func line(_ error: TraceError) -> String { "\(error)" }

    private func refused(_ bytes: [UInt8], mayBeCut: Bool = false) -> String {
        do throws(TraceError) {
            _ = try read(bytes, mayBeCut: mayBeCut)
            return "nothing"
        } catch { return "\(error)" }
    }

    private func lines(_ bytes: [UInt8]) -> [[UInt8]] {
        bytes.split(separator: 10, omittingEmptySubsequences: true).map { Array($0) + [10] }
    }

    @Test("Every changed byte is noticed in its line")
    func edited() throws {
        let bytes = try Self.files(events: 40)[0]
        var random = SeededRandom(seed: 3)
        for _ in 0..<400 {
            let place = random.below(bytes.count - 1)
            var changed = bytes
            changed[place] = changed[place] == 0x31 ? 0x32 : 0x31
            let number = bytes[..<place].count { $0 == 10 } + 1
            let said = refused(changed)
            #expect(said.hasPrefix("a.trace:\(number): "), "byte \(place), line \(number): \(said)")
        }
    }

    @Test("A line too few, too many or in another place is noticed")
    func order() throws {
        let all = lines(try Self.files(events: 40)[0])
        var missing = all
        missing.remove(at: 5)
        #expect(refused(missing.flatMap { $0 }).hasPrefix("a.trace:6: this line is not as it was written"))
        var twice = all
        twice.insert(all[5], at: 5)
        #expect(refused(twice.flatMap { $0 }).hasPrefix("a.trace:7: this line is not as it was written"))
        var swapped = all
        swapped.swapAt(5, 6)
        #expect(refused(swapped.flatMap { $0 }).hasPrefix("a.trace:6: this line is not as it was written"))
        #expect(refused(Array(all[1...].joined())) == "a.trace:1: a trace begins with a header")
        #expect(refused(Array((all + all).joined())).hasPrefix("a.trace:\(all.count + 1): a second header stands"))
        #expect(refused(Array((all + [all[3]]).joined())).hasPrefix("a.trace:\(all.count + 1): a step stands behind"))
    }

    @Test("A last line that is cut short is an error, unless one asked to leave it out")
    func cut() throws {
        let bytes = try Self.files(events: 40)[0]
        let all = lines(bytes)
        let broken = Array(bytes.dropLast(all[all.count - 1].count + 10))
        #expect(
            refused(broken)
                == "a.trace:\(all.count - 1): the trace ends in the middle of this line; --cut leaves it out")
        let parts = try read(broken, mayBeCut: true)
        #expect(parts[0].steps.count == all.count - 3 && parts[0].end == nil)
        #expect(try Replay.run(parts[0]).difference == nil)
    }

    @Test("What is no trace is refused in a sentence")
    func junk() throws {
        #expect(refused([]) == "a.trace: the file is empty; a trace has a header")
        #expect(refused(Array("hello\n".utf8)) == "a.trace:1: this is no trace: its first line is no header")
        #expect(refused([0xff, 0xfe, 0, 10]) == "a.trace:1: this is no trace: its first line is no header")
        #expect(refused(Array("{}\n".utf8)) == "a.trace:1: this line has no checksum at its end")
        #expect(refused(Array("{\"a\":1".utf8)) == "a.trace:1: this is no trace: it has no whole line")
        let long = [UInt8](repeating: 0x20, count: 10 << 20)
        #expect(refused(long + [10]).contains("longer than 8388608 bytes"))
        var random = SeededRandom(seed: 9)
        for _ in 0..<200 {
            let noise = (0..<random.below(400)).map { _ in UInt8(random.below(256)) }
            #expect(refused(noise).hasPrefix("a.trace:"))
        }
    }

    @Test("A trace of another version of the format is refused by its number")
    func version() throws {
        var writer = TraceWriter()
        let header = writer.header(program: "test 1", origin: .zero, arbiter: Arbiter(policy: .firstCome))
        let text = String(decoding: header, as: UTF8.self).replacing("{\"trace\":5,", with: "{\"trace\":6,")
        #expect(refused(Array(text.utf8)) == "a.trace:1: the trace has format version 6, and this program reads 5")
    }

    @Test("A trace of an older version is refused with the name of its program, since the core decides otherwise now")
    func olderVersion() throws {
        var writer = TraceWriter()
        let header = writer.header(program: "camarbd 0.1.0", origin: .zero, arbiter: Arbiter(policy: .firstCome))
        let text = String(decoding: header, as: UTF8.self).replacing("{\"trace\":5,", with: "{\"trace\":3,")
        let said = refused(Array(text.utf8))
        #expect(
            said.hasPrefix(
                "a.trace:1: the trace has format version 3, written by camarbd 0.1.0, and this program reads 5: the core "
                    + "decides otherwise since then"), "\(said)")
        let nameless = text.replacing("\"program\":\"camarbd 0.1.0\"", with: "\"program\":7")
        #expect(refused(Array(nameless.utf8)).contains("written by an older program"))
    }

    @Test("A forged line with the right checksum is found by the replay, with its line")
    func forged() throws {
        let parts = try read(Self.files(events: 40)[0])
        let old = try #require(parts.first)
        var writer = TraceWriter()
        var bytes = writer.header(
            program: "test 1", origin: .zero, arbiter: Arbiter(policy: old.header.policy))
        for (index, step) in old.steps.enumerated() {
            var body = TraceWriter.step(step.number, step.event, at: step.moment, decision: step.decision, [])
            body.bytes = Array(step.body)
            if index == 7 {
                body.bytes = Array(
                    String(decoding: step.body, as: UTF8.self).replacing("\"effects\":[", with: "\"effects\":[\"lie\",")
                        .utf8)
            }
            bytes += writer.write(step: body)
        }
        let difference = try #require(try Replay.run(try read(bytes)[0]).difference)
        #expect(difference.line == 9)
        #expect(difference.expected.contains("lie") && !difference.got.contains("lie"))
    }
}
