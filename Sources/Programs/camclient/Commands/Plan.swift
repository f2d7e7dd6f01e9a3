import ArgumentParser
import Camarb
import PolicyFile
import System
import WorkbenchCommands

struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show why a decision was made, and which change would have changed it.",
        discussion: """
            Every event has the id of its decision; the last 1,024 decisions are kept. "changed by" is the smallest \
            change of facts that leads to another verdict: one fact, or two or three together, of the session, of \
            another app ("notes's presence") or of the machine, tried on a copy of the broker's state from before the \
            decision.
            Examples:
              camclient explain                     the latest
              camclient explain 42                  the decision of an event of `watch`
              camclient explain intercom.service    the app as it stands now
              camclient plan "start photos"         before anything happens
            """)

    @Argument(
        help: """
            A decision's id, from 1; without it the latest. Or the name of an app or a session: how it stands now, \
            however long ago that was decided.
            """) var what: String?
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let (decision, name) = (what.map { UInt64($0) } ?? 0, what ?? "")
        let explanation = try await connection.ask { client in
            if let decision { return try await client.explain(decision) }
            return try await client.explain(app: name)
        }
        output.show(
            [
                "decision": explanation.decision ?? decision, "summary": explanation.summary,
                "verdicts": explanation.verdicts.map(\.object),
            ], Self.lines(explanation))
    }

    private static func lines(_ explanation: Explanation) -> [String] {
        let lines = explanation.summary.split(separator: "\n").map { String($0).printable }
        guard lines.count == explanation.verdicts.count + 1 else { return [explanation.summary.printableLines] }
        return [lines[0]] + zip(lines.dropFirst(), explanation.verdicts).flatMap { ["", $0] + Self.lines($1) }
    }

    private static func lines(_ verdict: WireDictionary) -> [String] {
        var lines = standing(verdict)
        if let read = verdict["read"]?.strings, !read.isEmpty {
            lines.append("facts read: \(read.map(\.printable).joined(separator: ", "))")
        }
        let stops = (verdict["stops"]?.strings ?? []).map { "\($0.printable) stops" }
        let changes = (verdict["changedBy"]?.strings ?? []).map(\.printable) + stops
        switch changes.count {
        case 0: lines.append("changed by: nothing found; tried: \(verdict["searched"]?.words ?? "nothing")")
        case 1: lines.append("changed by: \(changes[0])")
        default: lines += ["changed by any one of these:"] + changes.map { "  \($0)" }
        }
        return lines.map { "  \($0)" }
    }

    private static func standing(_ verdict: WireDictionary) -> [String] {
        guard case .array(_, let limits)? = verdict["limits"] else { return [] }
        let now = WallClock.microseconds
        func words(_ microseconds: Int64) -> String {
            TimeText.write(.milliseconds(max(0, microseconds) / 100_000 * 100))
        }
        var sentences: [String] = []
        if let camera = verdict["camera"]?.string, let since = verdict["since"]?.int64 {
            sentences.append("on camera \(camera.printable)" + (since > 0 ? ", for \(words(now - since)) now" : ""))
        }
        if verdict["hasWon"]?.boolean == true {
            sentences.append("it has won, and waits for no more than the holder's time")
        }
        for case .dictionary(let limit) in limits {
            let whose = limit["app"]?.string.map { $0.isEmpty ? "" : " of \($0.printable)" } ?? ""
            sentences.append(
                "the \(limit["kind"]?.string ?? "time")\(whose) ends in \(words((limit["until"]?.int64 ?? 0) - now)), "
                    + "by “\((limit["rule"]?.string ?? "").printable)”")
        }
        return sentences
    }
}

extension WireValue {
    fileprivate var words: String {
        switch self {
        case .string(let text), .objectPath(let text): text.printable
        case .array(_, let values), .structure(let values): values.map(\.words).joined(separator: ", ")
        case .dictionary(let dictionary):
            dictionary.entries.map { "\($0.key.printable)=\($0.value.words)" }.joined(separator: " ")
        default: sentence
        }
    }
}

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
