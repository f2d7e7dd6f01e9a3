import Arbiter
import ArbiterProtocol
import Campaigns
import Scenario
import Testing
import Workbench

@Suite("Traces")
struct TraceFileTests {
    /// A trace of a long random life, in as many files as there are numbers in `rotations`, and one more.
    static func files(
        seed: UInt64 = 1, events: Int = 300, rotations: [Int] = [], isHonest: Bool = false
    ) throws -> [[UInt8]] {
        let (policy, steps) = try FuzzRun.life(seed, steps: events)
        return written(steps.prefix(events).map { ($0.event, $0.moment) }, policy, rotations, isHonest: isHonest)
    }

    /// What a broker writes of these events.
    /// - Parameter isHonest: without requests to sessions that are not there, which a broker keeps from its core.
    static func written(
        _ events: [(event: Event, moment: Moment)], _ policy: Policy = .firstCome, _ rotations: [Int] = [],
        isHonest: Bool = false
    ) -> [[UInt8]] {
        var arbiter = Arbiter(policy: policy)
        var writer = TraceWriter()
        var files = [writer.header(program: "test 1", origin: .zero, arbiter: arbiter)]
        for (index, step) in events.enumerated() {
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
        let parts = try read(Self.files(seed: seed)[0])
        #expect(parts.count == 1)
        var seen = 0
        let difference = try Replay.run(parts[0]) { _ in seen += 1 }.difference
        #expect(difference == nil, "\(difference?.expected ?? "")\n\(difference?.got ?? "")")
        // Fewer than there are events: a start without a right begins nothing.
        #expect(seen == parts[0].steps.count && seen > 200)
        #expect(parts[0].end == .stopped)
    }

    // MARK: Bad input

    private func refused(_ bytes: [UInt8]) -> String {
        do throws(TraceError) {
            _ = try read(bytes)
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

    @Test("A trace of an older version is refused with the name of its program, since the core decides otherwise now")
    func olderVersion() {
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
}
