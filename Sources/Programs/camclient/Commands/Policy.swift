import ArgumentParser
import Camarb
import PolicyFile
import System
import TomlFile
import WorkbenchCommands

struct PolicyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Check policy files, show them, and try them out.",
        discussion: """
            A policy decides who may have a camera; its format is in docs/policy.md. Only `show` without a file, and \
            `load`, need a broker.
            Examples:
              camclient policy check policies/kiosk.toml
              camclient policy show
              camclient policy verify policies/kiosk.toml
              camclient policy diff policies/ios9.toml policies/ipados16.toml
              camclient policy report policies/kiosk.toml --html kiosk.html
              camclient policy play policies
              camclient policy load kiosk-new.toml
            """,
        subcommands: [
            WorkbenchCommand.policyCheck, PolicyShow.self, WorkbenchCommand.policyTest, WorkbenchCommand.policyVerify,
            WorkbenchCommand.policyDiff, WorkbenchCommand.policyHash, PolicyLoad.self, WorkbenchCommand.policyReport,
            WorkbenchCommand.policyPlay,
        ])
}

struct PolicyShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a policy, with the file and line that each rule comes from.",
        usage: "camclient policy show [options] [<file>]",
        discussion: """
            Without a file, the policy in force in the running broker, with its drop-ins. A file's own includes are \
            read, and the drop-ins of --policy-dir.
            Examples:
              camclient policy show                       the policy in force
              camclient policy show --merged > now.toml   the same as one file
              camclient policy show kiosk.toml --policy-dir /etc/camarb/policy.d
            """)

    @Argument(
        help: .value("file", "A policy file; without it the policy in force."),
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
            return ShownPolicy(
                try PolicyFileOptions.load(file, dropIns: policyFiles.policyDir, "there is no policy to show:\n"))
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

struct PolicyLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Load a policy into the running broker if that changes nothing now; --yes: in any case.",
        usage: "camclient policy load [options] <file> | --back",
        discussion: """
            The broker first works out the changes that the policy would make. Without any, the policy is in force at \
            once. Else they are printed, and nothing is loaded: --plan with the word below them loads the policy if the \
            changes are still the same, so that no app is cut unseen, and --yes loads it in any case. It holds until the \
            broker reads its own files again: after --back, SIGHUP or `systemctl reload camarbd`, or a restart. For root, \
            and the user of a broker that is not a service.
            Exit status 0: it is in force. 1: it is not, since it would change something, or the plan is another one by \
            now.
            Examples:
              camclient plan --policy kiosk-new.toml        the changes
              camclient policy load kiosk-new.toml
              camclient policy load kiosk-new.toml --plan 0123456789abcdef0123456789abcdef
              camclient policy load --back                  the broker's own files again
            """)

    @Argument(help: .value("file", "The policy file."), completion: .file(extensions: ["toml"])) var file: String?
    @Flag(help: "Load the policy in any case.") var yes = false
    @Option(help: .value("plan", "Load the policy if this plan still holds.")) var plan: String?
    @Flag(help: "Return to the policy of the broker's own files.") var back = false
    @OptionGroup var policyFiles: PolicyFileOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard back != (file != nil) else {
            throw ValidationError(back ? "--back takes no file." : "Name a policy file, or give --back.")
        }
        if yes, plan != nil { throw ValidationError("--yes and --plan exclude each other.") }
        if back, yes || plan != nil || policyFiles.policyDir != nil {
            throw ValidationError("--back takes none of --yes, --plan and --policy-dir.")
        }
        if plan?.isEmpty == true { throw ValidationError("--plan is empty; it takes what `policy load` shows.") }
    }

    func run() async throws {
        guard let file else { return try await goBack() }
        let sent = try policyFiles.outgoing(file)
        var wanted = yes ? "" : plan
        if wanted == nil {
            let planned = try await connection.ask { try await $0.plan(policy: sent.text, file: file) }
            guard planned.changes.isEmpty else {
                show(false, sent.name, planned.policyHash, planned.plan, planned.changes)
                let sentence = "Nothing was loaded. --plan \(planned.plan) loads it if the same still comes of it."
                throw Failure(.answerIsNo, output.json ? "" : sentence)
            }
            wanted = planned.plan
        }
        let plan = wanted ?? ""
        let (changes, hash) = try await connection.connect().load(policy: sent.text, file: file, plan: plan)
        show(true, sent.name, hash, plan, changes)
    }

    private func goBack() async throws {
        let status = try await connection.ask { client in
            try await client.unloadPolicy()
            return try await client.status()
        }
        show(true, status.policy, status.policyHash, "", [])
    }

    private func show(
        _ isLoaded: Bool, _ name: String, _ hash: String, _ plan: String, _ changes: [PlannedChange]
    ) {
        let head =
            isLoaded
            ? "the policy \(name.printable) is in force, hash \(hash.printable)"
            : "with the policy \(name.printable), hash \(hash.printable):"
        output.show(
            ["loaded": isLoaded, "policy": name, "policyHash": hash, "plan": plan, "changes": changes.map(\.json)],
            [head] + changes.map { "  \($0.app.printable) on \($0.camera.name.printable) \($0.words.printable)" })
    }
}
