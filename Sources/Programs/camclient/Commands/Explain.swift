import ArgumentParser
import Camarb
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
