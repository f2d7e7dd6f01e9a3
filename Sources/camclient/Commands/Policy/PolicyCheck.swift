import ArgumentParser
import JSONText
import PolicyFile
import Timeline

/// What is wrong with policy files.
struct PolicyCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say everything that is wrong with policy files.",
        discussion: """
            All problems of all files come in one run, each with its place, its line and what was probably meant.
            Exit status 1 when there is any.
            Examples:
              camclient policy check policies/kiosk.toml
              camclient policy check --json policies/*.toml
            """)

    @Argument(help: ArgumentHelp("Policy files.", valueName: "file"), completion: .file(extensions: ["toml"]))
    var files: [String]
    @OptionGroup var output: OutputOptions

    func run() async throws {
        var isClean = true
        for file in files {
            var found: PolicyProblems?
            do throws(PolicyProblems) {
                _ = try PolicyFile.load(path: file)
            } catch {
                found = error
                isClean = false
            }
            if output.json {
                Output.line(
                    JSON.object([
                        "file": .string(file), "ok": .bool(found == nil),
                        "problems": .array(found?.problems.map(\.json) ?? []),
                        "more": .integer(Int64(found?.more ?? 0)),
                    ]).text)
            } else {
                Output.line(found?.description ?? "\(file): no problem")
            }
        }
        if !isClean { throw Failure(.answerIsNo, "") }
    }
}

extension PolicyProblem {
    var json: JSON {
        .object([
            "file": .string(file), "line": .integer(Int64(line)), "column": .integer(Int64(column)),
            "length": .integer(Int64(length)), "message": .string(message), "hint": .string(hint),
            "lineText": .string(lineText),
        ])
    }
}
