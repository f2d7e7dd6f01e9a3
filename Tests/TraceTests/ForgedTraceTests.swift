import Arbiter
import Exploration
import Testing
import Trace

/// Traces whose checksums are right, and whose content is not what any broker wrote.
@Suite("Forged traces")
struct ForgedTraceTests {
    /// Lines without their checksums and last braces.
    private func bodies(_ bytes: [UInt8]) -> [String] {
        bytes.split(separator: 10).map { String(decoding: $0.dropLast(26), as: UTF8.self) }
    }

    private func sealed(_ bodies: [String]) -> [UInt8] {
        var writer = TraceWriter()
        return bodies.flatMap { writer.write(step: TraceWriter.Body(text: $0)) }
    }

    /// A number that is another one, or a word that stands elsewhere in the line.
    private func forge(_ body: String, _ random: inout SeededRandom) -> String {
        var parts = body.split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
        let place = random.below(parts.count)
        if place % 2 == 1 {
            parts[place] = parts[random.below(parts.count / 2) * 2 + 1]
        } else if let digit = parts[place].firstIndex(where: \.isNumber) {
            let numbers = ["0", "1", "-1", "99", "4294967296", "9223372036854775807", "-9223372036854775808", "null"]
            let rest = parts[place][digit...].drop { $0.isNumber }
            parts[place] = parts[place][..<digit] + random.pick(numbers) + rest
        }
        return parts.joined(separator: "\"")
    }

    @Test("What was forged is refused or replayed, and never stops the program", arguments: [1, 2, 3, 4] as [UInt64])
    func forged(_ seed: UInt64) throws {
        let whole = bodies(try TraceFileTests.files(seed: seed, events: 120, rotations: [60])[1])
        #expect(sealed(whole) == (try TraceFileTests.files(seed: seed, events: 120, rotations: [60])[1]))
        var random = SeededRandom(seed: seed)
        var (refused, same, different) = (0, 0, 0)
        for _ in 0..<60 {
            var lines = whole
            let place = random.below(3) == 0 ? random.below(lines.count) : 0
            lines[place] = forge(lines[place], &random)
            do {
                for part in try TraceReader.read(sealed(lines), file: "a.trace") {
                    if try Replay.run(part).difference == nil { same += 1 } else { different += 1 }
                    _ = try PolicyComparison(part, under: .firstCome)
                }
            } catch is TraceError {
                refused += 1
            } catch is Arbiter.BrokenSnapshot {
                refused += 1
            }
        }
        #expect(refused > 10 && same + different > 0, "\(refused) refused, \(same) the same, \(different) different")
    }
}
