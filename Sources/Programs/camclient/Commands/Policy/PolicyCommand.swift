import Arbiter
import ArbiterProtocol
import ArgumentParser
import Camarb
import Glibc
import PolicyFile
import System
import TomlFile
import Workbench

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
            PolicyCheck.self, PolicyShow.self, PolicyTest.self, PolicyVerify.self, PolicyDiff.self,
            PolicyHashCommand.self, PolicyLoad.self, PolicyReportCommand.self, PolicyPlay.self,
        ])
}

struct PolicyCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Print every problem of policy files.",
        usage: "camclient policy check [options] <file> ...",
        discussion: """
            All problems of all files come in one run, each with its place, its line and the nearest correct word. A \
            policy without a mistake gets warnings: for rules that can never match, rules that earlier ones hide \
            (also several of them together), ranks that no rule gives, and users and groups in [access] that this machine \
            does not have.
            Exit status 1 when there is any problem or warning; 5 when a file cannot be read.
            Examples:
              camclient policy check policies/kiosk.toml
              camclient policy check kiosk.toml --policy-dir /etc/camarb/policy.d
              camclient policy check --json policies/*.toml
            """)

    @Argument(help: .value("file", "Policy files."), completion: .file(extensions: ["toml"])) var files: [String]
    @OptionGroup var policyFiles: PolicyFileOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        var found: [FileProblems] = []
        for file in files {
            let wrong = policyFiles.check(file)
            if let wrong { found.append(wrong) }
            output.show(
                [
                    "file": file, "ok": wrong == nil, "usable": wrong?.problems.allSatisfy(\.isWarning) ?? true,
                    "problems": wrong?.problems.map(\.json) ?? [], "more": wrong?.more ?? 0,
                ], [(wrong?.description ?? "\(file): no problem").printableLines])
        }
        try Failure.finish(found)
    }
}

extension FileProblem {
    var json: JSONObject {
        [
            "file": file, "line": line, "column": column, "length": length, "warning": isWarning, "message": message,
            "hint": hint, "lineText": lineText,
        ]
    }
}

struct PolicyHashCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hash",
        abstract: "Print the hash of policy files; `camclient status` has that of the one in force.",
        usage: "camclient policy hash [options] <file> ...",
        discussion: """
            32 hexadecimal digits over everything that can decide: names, summaries, comments, statements, files and the \
            order of unordered parts do not count. Two machines with one hash decide the same. Users and groups count by \
            their numbers, so the hash of a policy that names some differs where their numbers do. It is not a signature.
            Examples:
              camclient policy hash policies/*.toml
              camclient policy hash kiosk.toml --policy-dir /etc/camarb/policy.d
              camclient policy hash kiosk.toml --text       the hashed text
            """)

    @Argument(help: .value("file", "Policy files."), completion: .file(extensions: ["toml"])) var files: [String]
    @Flag(help: "Print the hashed text instead.") var text = false
    @OptionGroup var policyFiles: PolicyFileOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        for file in files {
            let policy = try policyFiles.load(file).policy
            if text {
                Output.line(String(policy.hashedText.dropLast()))
            } else {
                output.show(
                    ["file": file, "policy": policy.name, "policyHash": policy.hash], ["\(policy.hash)  \(file)"])
            }
        }
    }
}

struct PolicyPlay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "Serve a page on which a policy and a scenario are typed, and the outcome follows.",
        discussion: """
            Prints the page's address, and serves it to this machine until Ctrl-C. At each pause in typing the page shows \
            the problems with their places, the scenario's outcome as a text and as a picture, the reason of each decision, \
            and what comes next. It listens on 127.0.0.1 alone, and answers requests with its address alone, which is a new \
            one each time. Policies and scenarios, and their includes, come from the folder; nothing is written there, and \
            nothing outside is read.
            Examples:
              camclient policy play
              camclient policy play policies --port 8080
            """)

    @Argument(help: .value("folder", "The folder of policies and scenarios.")) var folder = "."
    @Option(help: .value("number", "The port to listen on; 0: any free port.")) var port: UInt16 = 0

    func run() async throws {
        let own = place(of: OwnProcess.program).folder
        let programs: [String] = ["\(own)/camplay", "\(own)/../libexec/camarb/camplay"]
        guard let program = programs.first(where: { access($0, X_OK) == 0 }) else {
            throw Failure(.file, "camplay, which serves the page, is neither beside camclient nor in libexec.")
        }
        Interrupts.end()
        let line: [String] = [program, "--port", "\(port)", "--", folder]
        var words: [UnsafeMutablePointer<CChar>?] = line.map { strdup($0) } + [nil]
        execv(program, &words)
        throw Failure.file(program, "cannot be started", errno)
    }
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
