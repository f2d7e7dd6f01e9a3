import ArbiterProtocol
import ArgumentParser
import Camarb
import PolicyFile
import Workbench

struct Plan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what would happen, without anything happening.", usage: "camclient plan [options] [<line> ...]",
        discussion: """
            Takes input lines of the scenario language, camarb-scenario(5), as arguments or on standard input, and \
            answers with the notices they would lead to now. After them, as comments: which apps would be interrupted, in \
            which order and by which rule, also after a grace, and what that would cut; and for a start that fails the \
            smallest change of facts that would let it through. Times count from now. Names are those that \
            `camclient watch` shows, and apps are yours unless user= says whose. With --json, "outcome" has the lines \
            and "summary" the comments.
            With --policy, what would change if that file's policy were loaded now: which sessions would be stopped, \
            interrupted, refused or notified of what, and which would get a camera. Lines that are given then happen \
            after the load. `camclient policy load` loads it.
            Examples:
              camclient plan "presence notes slide-over"
              camclient plan "connect call" "session call camera=front" "start call"
              camclient plan "start photos" "10s presence photos background"
              camclient plan --policy kiosk-new.toml
              camclient plan --policy kiosk-new.toml "start photos"
            """)

    @Argument(help: .value("line", "Scenario lines; standard input if left out.")) var lines: [String] = []

    @Option(help: .value("file", "Show what would change if this policy were loaded.")) var policy: String?
    @OptionGroup var policyFiles: PolicyFileOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        var text = lines
        if let policy { return try await plan(policy, text.joined(separator: "\n")) }
        try policyFiles.requirePolicy(policy)
        if text.isEmpty { for await line in inputLines() { text.append(line) } }
        let scenario = text.joined(separator: "\n")
        guard scenario.contains(where: { !$0.isWhitespace }) else {
            throw Failure(.usage, "There is nothing to plan: give scenario lines, such as \"start photos\".")
        }
        show(try await connection.ask { try await $0.plan(scenario) }, [:])
    }

    private func plan(_ file: String, _ scenario: String) async throws {
        let sent = try OutgoingPolicy(file, policyFiles)
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

/// A policy as a broker takes it from a client: with its includes and drop-ins in it, and users and groups by their numbers.
struct OutgoingPolicy {
    let loaded: LoadedPolicy
    let text: String

    init(_ file: String, _ files: PolicyFileOptions) throws(Failure) {
        loaded = try files.load(file)
        text = PolicyWriter.text(loaded.policy, numbersOnly: true)
    }
}

extension PlannedChange {
    var line: String { "\(app.printable) on \(camera.name.printable) \(words.printable)" }
}
