import Arbiter
import ArbiterProtocol
import ArgumentParser
import Glibc
import PolicyFile
import System
import TomlFile
import Workbench

struct PolicyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Check policy files, look at them, and try them out.",
        discussion: """
            A policy says who may have a camera; docs/policy.md has the format. No broker is needed, unless a \
            subcommand says so.
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
        commandName: "check", abstract: "List everything that is wrong with policy files.",
        usage: "camclient policy check [options] <file> ...",
        discussion: """
            All problems of all files come in one run, each with its place, its line and what was probably meant. A \
            policy without a mistake is looked at further: rules that can never match, rules that earlier ones hide \
            (also several of them together), ranks that no rule gives, and users and groups in [access] that this machine \
            does not know are warnings.
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
            let wrong = PolicyFile.check(path: file, dropIns: policyFiles.policyDir, accounts: MachineAccounts())
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
        abstract: "Print the hash of policy files, as `camclient status` shows it for the policy in force.",
        usage: "camclient policy hash [options] <file> ...",
        discussion: """
            32 hexadecimal digits over everything that can change a decision: not over names, summaries, comments, \
            statements, the files that it is in, or an order that decides nothing. Two machines with one hash decide the same. Users and groups count by their numbers, \
            so a policy that names some has another hash where they have other numbers. It is not a signature.
            Examples:
              camclient policy hash policies/*.toml
              camclient policy hash kiosk.toml --policy-dir /etc/camarb/policy.d
              camclient policy hash kiosk.toml --text       what the hash is taken over
            """)

    @Argument(help: .value("file", "Policy files."), completion: .file(extensions: ["toml"])) var files: [String]
    @Flag(help: "The text that the hash is taken over, instead.") var text = false
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
            what is wrong and where, what the scenario comes to, as a text and as a picture, why each decision was made, and \
            what comes next. It listens on 127.0.0.1 alone, and answers only who knows the address, which is another each \
            time. Policies and scenarios, and what they include, come from the folder; nothing is written there, and \
            nothing outside is read.
            Examples:
              camclient policy play
              camclient policy play policies --port 8080
            """)

    @Argument(help: .value("folder", "The folder to take policies and scenarios from.")) var folder = "."
    @Option(help: .value("number", "The port to listen on; 0: any that is free.")) var port: UInt16 = 0

    func run() async throws {
        guard let program = Self.program() else {
            throw Failure(.file, "camplay, which serves the page, is neither beside camclient nor in libexec.")
        }
        // Blocked here so that one thread takes them; there nobody would.
        Interrupts.end()
        let line: [String] = [program, "--port", "\(port)", "--", folder]
        var words: [UnsafeMutablePointer<CChar>?] = line.map { strdup($0) } + [nil]
        execv(program, &words)
        let number = errno
        for word in words { free(word) }
        throw Failure.file(program, "cannot be started", number)
    }

    private static func program() -> String? {
        let own = OwnProcess.program
        guard let slash = own.lastIndex(of: "/") else { return nil }
        return ["", "../libexec/camarb/"].map { own[...slash] + $0 + "camplay" }.first { access($0, X_OK) == 0 }
    }
}
