import ArgumentParser
import Camarb
import PolicyFile
import WorkbenchCommands

struct Plan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what would happen, without anything happening.", usage: "camclient plan [options] [<line> ...]",
        discussion: """
            Takes input lines of the scenario language, camarb-scenario(5), as arguments or on standard input, and \
            prints the notices that they would lead to now. Comments follow: which apps would be interrupted, in \
            which order and by which rule, and, for a start that fails, the smallest change of facts with which it \
            succeeds. Times count from now. Names are those of `camclient watch`, and apps are yours without user=.
            With --policy, the changes if that file's policy were loaded now, as `camclient policy load` does; lines \
            then happen after the load.
            Examples:
              camclient plan "presence notes slide-over"
              camclient plan "connect call" "session call camera=front" "start call"
              camclient plan "start photos" "10s presence photos background"
              camclient plan --policy kiosk-new.toml
              camclient plan --policy kiosk-new.toml "start photos"
            """)

    @Argument(help: .value("line", "Scenario lines; without any, those of standard input.")) var lines: [String] = []
    @OptionGroup var other: OtherPolicyOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        var text = lines
        if let file = other.policy { return try await plan(file, text.joined(separator: "\n")) }
        if text.isEmpty { for await line in inputLines() { text.append(line) } }
        let scenario = text.joined(separator: "\n")
        guard scenario.contains(where: { !$0.isWhitespace }) else {
            throw Failure(.usage, "There is nothing to plan: give scenario lines, such as \"start photos\".")
        }
        show(try await connection.ask { try await $0.plan(scenario) }, [:])
    }

    private func plan(_ file: String, _ scenario: String) async throws {
        let sent = try other.policyFiles.outgoing(file)
        let planned = try await connection.ask { try await $0.plan(policy: sent.text, file: file, scenario: scenario) }
        show(
            planned.outcome,
            scenario.isEmpty
                ? ["policyHash": planned.policyHash, "plan": planned.plan, "changes": planned.changes.map(\.json)]
                : ["policyHash": planned.policyHash])
    }

    private func show(_ outcome: String, _ more: JSONObject) {
        let lines = outcome.split(separator: "\n").map(String.init)
        let members: JSONObject = [
            "outcome": lines.filter { !$0.hasPrefix("#") },
            "summary": lines.filter { $0.hasPrefix("#") }.map { String($0.dropFirst(2)) },
        ]
        output.show(members.adding(more), [outcome.printableLines])
    }
}

extension PolicyFileOptions {
    /// A policy as a client sends it: with its includes and drop-ins in it, and users and groups by their numbers.
    func outgoing(_ file: String) throws(Failure) -> (name: String, text: String) {
        let policy = try load(file).policy
        return (policy.name, PolicyWriter.text(policy, numbersOnly: true))
    }
}
