import Arbiter
import ArbiterProtocol
import ArgumentParser
import Camarb
import Explain
import PolicyFile
import Workbench

struct PolicyLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Put a policy in force in the running broker, if nobody would notice; --yes: whatever comes of it.",
        usage: "camclient policy load [options] <file> | --back",
        discussion: """
            First the broker plans the load. If it would change nothing for any session, the policy is in force at once. Else \
            the changes are shown, and nothing is loaded: --plan with the word that stands below them loads the policy if \
            the changes are still the same, so that no app is cut unseen, and --yes loads it in any case.
            The policy holds until the broker's own files are read again: by --back, by SIGHUP or `systemctl reload \
            camarbd`, or by a restart. `camclient status` says that it was loaded by hand. For root, and the user of a \
            broker that is not a service.
            Exit status 0: it is in force. 1: it is not, because a session would notice, or because the plan is another one by \
            now.
            Examples:
              camclient plan --policy kiosk-new.toml        what would happen
              camclient policy load kiosk-new.toml
              camclient policy load kiosk-new.toml --plan 0123456789abcdef0123456789abcdef
              camclient policy load --back                  the broker's own files again
            """)

    @Argument(help: .value("file", "The policy file."), completion: .file(extensions: ["toml"])) var file: String?
    @Flag(help: "Load it, whatever comes of it.") var yes = false
    @Option(help: .value("plan", "Load it if this plan still holds.")) var plan: String?
    @Flag(help: "The policy of the broker's own files again.") var back = false
    @OptionGroup var policyFiles: PolicyFileOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard back != (file != nil) else {
            throw ValidationError(back ? "--back takes no file." : "Name a policy file, or say --back.")
        }
        if yes, plan != nil { throw ValidationError("--yes and --plan exclude each other.") }
        if back, yes || plan != nil || policyFiles.policyDir != nil {
            throw ValidationError("--back takes none of --yes, --plan and --policy-dir.")
        }
        if plan?.isEmpty == true { throw ValidationError("--plan is empty; it takes what `policy load` shows.") }
    }

    func run() async throws {
        guard let file else { return try await goBack() }
        let sent = try OutgoingPolicy(file, policyFiles)
        let name = sent.loaded.policy.name
        var wanted = yes ? "" : plan
        if wanted == nil {
            let planned = try await connection.ask { try await $0.plan(policy: sent.text, file: file) }
            guard planned.changes.isEmpty else {
                show(false, name, planned.policyHash, planned.plan, planned.changes)
                throw Failure(
                    .answerIsNo,
                    output.json
                        ? "" : "Nothing was loaded. --plan \(planned.plan) loads it if the same still comes of it.")
            }
            wanted = planned.plan
        }
        let plan = wanted ?? ""
        let (changes, hash) = try await connection.connect().load(policy: sent.text, file: file, plan: plan)
        show(true, name, hash, plan, changes)
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
            [head] + changes.map { "  \($0.line)" })
    }
}
