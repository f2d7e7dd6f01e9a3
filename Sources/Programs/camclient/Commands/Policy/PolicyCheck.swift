import ArbiterProtocol
import ArgumentParser
import PolicyFile
import System
import TomlFile
import Workbench

struct PolicyCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Say everything that is wrong with policy files.",
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

    @Argument(help: ArgumentHelp("Policy files.", valueName: "file"), completion: .file(extensions: ["toml"]))
    var files: [String]
    @OptionGroup var policyFiles: PolicyFileOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        var found: [FileProblems] = []
        for file in files {
            let wrong = PolicyFile.check(path: file, dropIns: policyFiles.policyDir, accounts: MachineAccounts())
            if let wrong { found.append(wrong) }
            if output.json {
                Output.json([
                    "file": .string(file), "ok": .bool(wrong == nil),
                    "usable": .bool(wrong?.problems.allSatisfy(\.isWarning) ?? true),
                    "problems": .array(wrong?.problems.map(\.json) ?? []), "more": .integer(Int64(wrong?.more ?? 0)),
                ])
            } else {
                Output.line((wrong?.description ?? "\(file): no problem").printableLines)
            }
        }
        try Failure.finish(found)
    }
}

extension FileProblem {
    var json: JSON {
        .object([
            "file": .string(file), "line": .integer(Int64(line)), "column": .integer(Int64(column)),
            "length": .integer(Int64(length)), "warning": .bool(isWarning), "message": .string(message),
            "hint": .string(hint), "lineText": .string(lineText),
        ])
    }
}
