import ArgumentParser
import Scenario

struct Test: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run scenario files against the decision core, on a virtual clock.",
        usage: "camclient test [options] <file> ...",
        discussion: """
            Needs no broker. Exit status 1, and a diff of each, when a scenario does not come out as written; \
            2 when a file is not a scenario; 5 when one cannot be read. A folder stands for all its .scenario files.
            Examples:
              camclient test Tests/scenarios
              camclient test the-caller-hangs-up-first.scenario --policies policies
              camclient test scenarios --policy-dir /etc/camarb/policy.d
            """)

    @Argument(
        help: ArgumentHelp("Scenario files, or folders of them.", valueName: "file"),
        completion: .file(extensions: ["scenario"])) var files: [String]
    @Option(help: ArgumentHelp("The folder that `policy FILE` in a scenario is relative to.", valueName: "folder"))
    var policies = "policies"
    @OptionGroup var policyFiles: PolicyFileOptions
    @Flag(help: "Write what happens into files that differ; the exit status is 1 all the same.") var rewrite = false
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try policyFiles.requireFolder()
        var batch = ScenarioBatch(try scenarioFiles(files), policies: policies, output: output)
        batch.dropIns = policyFiles.policyDir
        batch.rewrite = rewrite
        batch.run { $0.run() }
        try batch.finish()
    }
}
