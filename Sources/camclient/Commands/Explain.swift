import ArbiterProtocol
import ArgumentParser
import JSONText
import SystemdBus
import Timeline

/// Why a decision fell as it did.
struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say why a decision fell as it did, and what would have turned it.",
        discussion: """
            Every event carries the id of its decision; the last 1,024 decisions are kept. "turned by" is the smallest \
            change of facts with which the verdict would have been another: one fact, or two or three together, of the \
            session, of another app ("notes's presence") or of the machine. Each was tried on a copy of the broker's \
            state from right before the decision.
            Examples:
              camclient explain          the latest
              camclient explain 42
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
        Output.line(explanation.summary.printableLines)
        for verdict in explanation.verdicts {
            Output.line("")
            for entry in verdict.entries where !["decision", "turnedBy", "searched"].contains(entry.key) {
                let words = entry.value.words
                if !words.isEmpty { Output.line("  \(entry.key.printable): \(words)") }
            }
            let changes = verdict["turnedBy"]?.strings ?? []
            if changes.isEmpty {
                Output.line("  turned by: nothing found; tried: \(verdict["searched"]?.words ?? "nothing")")
            } else {
                Output.line("  turned by\(changes.count == 1 ? "" : " any of"):")
                for change in changes { Output.line("    \(change.printable)") }
            }
        }
    }
}

/// What would happen.
struct Plan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say what would happen, without anything happening.",
        discussion: """
            Takes input lines of the scenario language (docs/scenarios.md), as arguments or on standard input, and answers with the notices they \
            would lead to now. Behind them, as comments: who would be interrupted, in which order and by which rule, also \
            after a grace, and what that would cut; and for a start that fails the smallest change of facts that would \
            let it through. Names are those that `camclient watch` shows.
            Examples:
              camclient plan "presence notes slide-over"
              camclient plan "connect call" "session call camera=front" "start call"
            """)

    @Argument(help: ArgumentHelp("Scenario lines; standard input if left out.", valueName: "line"))
    var lines: [String] = []

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        var text = lines
        if text.isEmpty {
            for await line in inputLines() { text.append(line) }
        }
        let scenario = text.joined(separator: "\n")
        guard scenario.contains(where: { !$0.isWhitespace }) else {
            throw Failure(.usage, "There is nothing to plan: give scenario lines, such as \"start photos\".")
        }
        let outcome = try await connection.ask { try await $0.plan(scenario) }
        if output.json {
            let lines = outcome.split(separator: "\n").map(String.init)
            Output.line(
                JSON.object([
                    "outcome": .strings(lines.filter { !$0.hasPrefix("#") }),
                    "summary": .strings(lines.filter { $0.hasPrefix("#") }.map { String($0.dropFirst(2)) }),
                ]).text)
        } else {
            Output.line(outcome.printableLines)
        }
    }
}

extension WireValue {
    /// The value as a person reads it.
    var words: String {
        switch self {
        case .string(let text), .objectPath(let text): text.printable
        case .array(_, let values): values.map(\.words).joined(separator: ", ")
        case .dictionary(let dictionary):
            dictionary.entries.map { "\($0.key.printable)=\($0.value.words)" }.joined(separator: " ")
        default: sentence
        }
    }
}
