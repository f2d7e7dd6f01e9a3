import Arbiter
import ArbiterProtocol
import ArgumentParser
import PolicyFile

struct PolicyHashCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hash",
        abstract: "Say the hash of policy files, as `camclient status` says that of the policy in force.",
        usage: "camclient policy hash [options] <file> ...",
        discussion: """
            32 hexadecimal digits over all that can decide: not names, summaries, comments, statements, files and the \
            order of what has none. Two machines with one hash decide the same. Users and groups count by their numbers, \
            so a policy that names some has another hash where they have other numbers. It is no signature.
            Examples:
              camclient policy hash policies/*.toml
              camclient policy hash kiosk.toml --policy-dir /etc/camarb/policy.d
              camclient policy hash kiosk.toml --text       what the hash is taken over
            """)

    @Argument(help: ArgumentHelp("Policy files.", valueName: "file"), completion: .file(extensions: ["toml"]))
    var files: [String]
    @Flag(help: "The text that the hash is taken over, instead.") var text = false
    @OptionGroup var policyFiles: PolicyFileOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        for file in files {
            let policy = try policyFiles.load(file).policy
            if text {
                Output.line(String(policy.hashedText.dropLast()))
            } else if output.json {
                Output.json(["file": .string(file), "policy": .string(policy.name), "policyHash": .string(policy.hash)])
            } else {
                Output.line("\(policy.hash)  \(file)")
            }
        }
    }
}
