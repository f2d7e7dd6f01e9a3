import Arbiter
import ArbiterProtocol
import ArgumentParser
import Camarb
import PolicyFile
import System
import TomlFile
import Workbench

struct PolicyShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a policy, with the file and line that each rule comes from.",
        usage: "camclient policy show [options] [<file>]",
        discussion: """
            Of the running broker, if no file is given: then it is the policy in force, with its drop-ins. A file's \
            own includes are followed; drop-ins are read over it where --policy-dir names their folder.
            Examples:
              camclient policy show                       what is in force
              camclient policy show --merged > now.toml   the same as one file
              camclient policy show kiosk.toml --policy-dir /etc/camarb/policy.d
            """)

    @Argument(
        help: .value("file", "A policy file; what the broker has in force if left out."),
        completion: .file(extensions: ["toml"])) var file: String?
    @Flag(help: "As one policy file, which reads back as the same policy.") var merged = false
    @OptionGroup var policyFiles: PolicyFileOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let shown = try await shown()
        output.show(shown.json, merged ? [String(shown.text.dropLast())] : shown.lines)
    }

    private func shown() async throws -> ShownPolicy {
        if let file {
            do throws(FileProblems) {
                return ShownPolicy(
                    try PolicyFile.load(path: file, dropIns: policyFiles.policyDir, accounts: MachineAccounts()))
            } catch { throw Failure(error, "there is no policy to show:\n") }
        }
        guard policyFiles.policyDir == nil else {
            throw Failure(
                .usage, "--policy-dir needs a file to read over; the policy in force has its drop-ins already.")
        }
        let answer = try await connection.ask { try await $0.policyInForce() }
        do throws(FileProblems) { return try ShownPolicy(answer) } catch {
            throw Failure(
                .refused, "the broker's policy is not one of this camclient's; is it of another version?\n\(error)")
        }
    }
}

private struct ShownPolicy {
    var policy: Policy
    var text: String
    var files: [String]
    var origins: [(part: PolicyPart, origin: LoadedPolicy.Origin)]

    init(_ loaded: LoadedPolicy) {
        policy = loaded.policy
        files = loaded.files
        origins = loaded.sortedOrigins
        let origins = loaded.origins
        text = PolicyWriter.text(policy) { origins[$0].map { "\($0.file):\($0.line)" } }
    }

    init(_ answer: PolicyInForce) throws(FileProblems) {
        policy = try PolicyFile.parse(answer.text, file: "the policy in force", accounts: MachineAccounts())
        text = answer.text
        files = answer.files
        origins = answer.origins.compactMap { origin in
            PolicyPart(table: origin.table, name: origin.name).map {
                ($0, LoadedPolicy.Origin(file: origin.file, line: Int(clamping: origin.line)))
            }
        }
    }

    var lines: [String] {
        var lines = ["policy \(policy.name)"]
        if !policy.summary.isEmpty { lines.append(policy.summary) }
        lines.append("hash \(policy.hash)")
        lines += files.isEmpty ? ["built in: no file was read"] : ["", "files, a later one over those before it"]
        lines += files.map { "  \($0.printable)" }
        var sections = PolicySection.all(of: policy)[...]
        while let first = sections.first {
            let alike = sections.prefix { $0.title == first.title }
            sections = sections.dropFirst(alike.count)
            lines += ["", first.title]
            if first.name == nil {
                let pairs = first.pairs.filter { !["name", "summary"].contains($0.key) }
                lines += columns(pairs.map { ["  \($0.key) = \($0.oneLine)", place(first.part(of: $0))] })
            } else {
                lines += listed(alike)
            }
        }
        return lines
    }

    private func listed(_ sections: ArraySlice<PolicySection>) -> [String] {
        let heads = columns(sections.map { ["  \($0.name ?? "")", $0.part.map(place) ?? ""] })
        return zip(heads, sections).flatMap { head, section in
            let words = section.pairs.dropFirst().map { "\($0.key) = \($0.oneLine)" }
            return [head, "    \(words.joined(separator: ", "))"]
        }
    }

    private func place(_ part: PolicyPart) -> String {
        origins.first { $0.part == part }.map { "\($0.origin.file.printable):\($0.origin.line)" } ?? "default"
    }

    var json: JSONObject {
        [
            "policy": policy.name, "summary": policy.summary, "policyHash": policy.hash, "files": files,
            "parts": origins.map { part, origin in
                ["table": part.table, "name": part.name, "file": origin.file, "line": origin.line] as JSONObject
            }, "text": text,
        ]
    }
}

extension PolicyWriter.Pair {
    fileprivate var oneLine: String {
        value.split(separator: "\n").map { line in String(line.drop { $0 == " " }) }.joined(separator: " ")
    }
}
