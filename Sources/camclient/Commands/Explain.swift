import ArbiterProtocol
import ArgumentParser
import Camarb
import JSONText
import Timeline

/// Why a decision fell as it did.
struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say why a decision fell as it did, and what would have changed it.",
        discussion: """
            Every event carries the id of its decision; the last 1,024 decisions are kept. "changed by" is the smallest \
            change of facts with which the verdict would have been another: one fact, or two or three together, of the \
            session, of another app ("notes's presence") or of the machine. Each was tried on a copy of the broker's \
            state from right before the decision. What could have changed it and was not one of these is not named: an app \
            cannot be another, and a recorder that was lost comes back in its own time.
            Examples:
              camclient explain          the latest
              camclient explain 42       the one of an event that `watch --json` shows with "decision":42
              camclient plan "start photos"    the same question about what has not happened yet
            """)

    @Argument(help: "The decision's id, a number from 1; the latest about a session if left out.")
    var decision: UInt64?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let explanation = try await connection.ask { try await $0.explain(decision ?? 0) }
        if output.json {
            return Output.line(
                JSON.object([
                    "decision": (explanation.decision ?? decision).map { .count($0) } ?? .null,
                    "summary": .string(explanation.summary),
                    "verdicts": .array(explanation.verdicts.map(\.json)),
                ]).text)
        }
        let lines = explanation.summary.split(separator: "\n").map { String($0).printable }
        guard lines.count == explanation.verdicts.count + 1 else {
            return Output.line(explanation.summary.printableLines)
        }
        Output.line(lines[0])
        for (line, verdict) in zip(lines.dropFirst(), explanation.verdicts) {
            Output.line("")
            Output.line(line)
            if let read = verdict["read"]?.strings, !read.isEmpty {
                Output.line("  facts read: \(read.map(\.printable).joined(separator: ", "))")
            }
            let stops = (verdict["stops"]?.strings ?? []).map { "\($0.printable) stops" }
            let changes = (verdict["changedBy"]?.strings ?? []).map(\.printable) + stops
            switch changes.count {
            case 0: Output.line("  changed by: nothing found; tried: \(verdict["searched"]?.words ?? "nothing")")
            case 1: Output.line("  changed by: \(changes[0])")
            default:
                Output.line("  changed by any one of these:")
                for change in changes { Output.line("    \(change)") }
            }
        }
    }
}

extension WireValue {
    /// The value as a person reads it.
    var words: String {
        switch self {
        case .string(let text), .objectPath(let text): text.printable
        case .array(_, let values), .structure(let values): values.map(\.words).joined(separator: ", ")
        case .dictionary(let dictionary):
            dictionary.entries.map { "\($0.key.printable)=\($0.value.words)" }.joined(separator: " ")
        default: sentence
        }
    }
}
