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
            Every event carries the id of its decision; the last 1,024 decisions are kept.
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
                    "decision": decision.map { .count($0) } ?? .null, "summary": .string(explanation.summary),
                    "verdicts": .array(explanation.verdicts.map(\.json)),
                ]).text)
        }
        Output.line(explanation.summary)
        for verdict in explanation.verdicts {
            Output.line("")
            for entry in verdict.entries {
                let words = entry.value.words
                if words.isEmpty { continue }
                Output.line("  \(entry.key == "turnedBy" ? "turned by" : entry.key.printable): \(words)")
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
            would lead to now. Names are those that `camclient watch` shows.
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
            Output.line(JSON.object(["outcome": .strings(outcome.split(separator: "\n").map(String.init))]).text)
        } else {
            Output.line(outcome)
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
