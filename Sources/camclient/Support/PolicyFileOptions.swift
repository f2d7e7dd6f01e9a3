import Arbiter
import ArgumentParser
import Glibc
import Machine
import PolicyFile
import Scenario
import TomlFile

/// Drop-ins over policy files, read as camarbd reads them over its own.
struct PolicyFileOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Drop-ins to read over each policy file: every *.toml of the folder, in the order of the names.",
            valueName: "folder"))
    var policyDir: String?

    /// A policy file with its drop-ins, or everything that is wrong with them.
    func load(_ file: String) throws(Failure) -> LoadedPolicy { try Self.load(file, dropIns: policyDir) }

    static func load(_ file: String, dropIns: String?) throws(Failure) -> LoadedPolicy {
        do throws(FileProblems) {
            return try PolicyFile.load(path: file, dropIns: dropIns, accounts: MachineAccounts())
        } catch {
            throw Failure(error)
        }
    }

    /// - Throws: that there is no such folder, where one was named.
    func requireFolder() throws(Failure) {
        guard let policyDir else { return }
        guard let folder = opendir(policyDir) else {
            throw Failure.file("--policy-dir \(policyDir)", "cannot be read", errno)
        }
        closedir(folder)
    }

    /// What a scenario's `policy` line says of the policy, and the folder that it is relative to: its file, or the policy
    /// itself where drop-ins have made it one that is in no file.
    func line(_ file: String, _ policy: Policy) -> (name: String, folder: String) {
        let place = SearchOptions.place(file)
        return (policyDir == nil ? place.name : Scenario.policyBlock(policy), place.folder)
    }
}
