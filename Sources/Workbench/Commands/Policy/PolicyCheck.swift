import ArbiterProtocol
import ArgumentParser
import Glibc
import PolicyFile
import System
import TomlFile

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
            and what comes next. It begins with examples, the cookbook's and the shipped policies, each with a scenario. It \
            listens on 127.0.0.1 alone, and answers requests with its address alone, which is a new one each time. Other \
            policies and scenarios, and their includes, come from the folder; nothing is written there, and nothing else \
            outside is read.
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
