import Arbiter
import ArbiterProtocol
import PolicyFile
import System
import TomlFile

/// The policy in force: where it was read, and what was wrong with the one that was asked for.
final class PolicyKeeper: BrokerPart {
    /// Why the policy that was asked for is not in force; empty when it is.
    private(set) var trouble = "" { didSet { broker.properties?.degradedMayHaveChanged() } }
    /// Where the policy in force was read; of the built-in one nothing.
    private var files: [String] = []
    /// In the order of the files.
    private var origins: [(part: PolicyPart, origin: LoadedPolicy.Origin)] = []
    /// Who loaded the policy in force; nil: it is the one of the broker's own files, or the built-in one.
    private(set) var byHand: LoadedByHand?
    /// That of the policy in force (`Policy.hash`): many ask for it, and it changes only here.
    private(set) var hash = Policy.firstCome.hash
    private var options: BrokerOptions { broker.options }
    private var journal: Journal { broker.journal }

    static let usualPolicy = "/etc/camarb/policy.toml"

    func first() -> Policy? {
        guard let path = options.policy else {
            trouble = "No policy was given (--policy FILE): first come, first served."
            return nil
        }
        do throws(FileProblems) {
            let loaded = try readPolicy(path)
            (files, origins) = (loaded.files, loaded.sortedOrigins)
            hash = loaded.policy.hash
            return loaded.policy
        } catch {
            trouble = "\(shown(path)) is no valid policy, so it is first come, first served.\n\(error)"
            journal.send(.error, "\(error)\nThe built-in policy is in force: first come, first served.")
            return nil
        }
    }

    /// SIGHUP. A bad file never replaces a good policy.
    @discardableResult
    func reload() -> FileProblems? {
        guard let path = options.policy else {
            if byHand != nil {
                put(.firstCome, [], [], nil)
            } else {
                journal.send(.notice, "asked to read the policy again, but none was given (--policy FILE)")
            }
            return nil
        }
        ServiceManager.reloading()
        defer { ServiceManager.ready(status: broker.publisher.statusLine) }
        do throws(FileProblems) {
            let loaded = try readPolicy(path)
            put(loaded.policy, loaded.files, loaded.sortedOrigins, nil)
            return nil
        } catch {
            trouble =
                "\(shown(path)) is no valid policy; “\(broker.arbiter.policy.name)”, which was in force, still is.\n\(error)"
            journal.send(
                .error, "\(error)\nThe policy “\(broker.arbiter.policy.name)” stays in force. Nothing changed.")
            return error
        }
    }

    /// A policy that somebody loads into the running broker: it holds until the broker's own files are read again.
    func load(_ loaded: LoadedPolicy, by hand: LoadedByHand) {
        // Its lines are those of the text that was sent, which its file need not have.
        var origins = loaded.sortedOrigins
        for index in origins.indices { origins[index].origin.file += ", as it was sent" }
        put(loaded.policy, loaded.files.map { "\($0), as it was sent" }, origins, hand)
    }

    private func put(
        _ policy: Policy, _ files: [String], _ origins: [(part: PolicyPart, origin: LoadedPolicy.Origin)],
        _ hand: LoadedByHand?
    ) {
        trouble = ""
        (self.files, self.origins, byHand, hash) = (files, origins, hand, policy.hash)
        broker.desktops.calendar?.look(at: policy)
        broker.step(.policyLoaded(policy))
        broker.desktops.silenceWhoMayNotSpeak()
        broker.desktops.pressure?.policyChanged()
        let whence = hand.map { ": \($0.sentence(options.policy))" } ?? ""
        journal.send(
            .notice, "the policy “\(policy.name)” is in force\(whence)",
            [("CAMARB_POLICY", policy.name), ("CAMARB_POLICY_HASH", hash)])
    }

    /// The policy with its drop-ins. The usual folder of drop-ins is looked into where it is there.
    private func readPolicy(_ path: String) throws(FileProblems) -> LoadedPolicy {
        try PolicyFile.load(
            path: path, dropIns: options.policyFolder.isEmpty ? nil : options.policyFolder,
            dropInsRequired: options.policyFolder != BrokerOptions.usualPolicyFolder, accounts: MachineAccounts())
    }

    /// A path goes to terminals and to the journal.
    private func shown(_ path: String) -> String { Journal.printable(path, keepLines: false) }

    func answer() -> [WireValue] {
        let places = Dictionary(origins.map { ($0.part, $0.origin) }) { first, _ in first }
        let text = PolicyWriter.text(broker.arbiter.policy) { places[$0].map { "\($0.file):\($0.line)" } }
        return [
            .string(text), .strings(files),
            origins.map { part, origin in
                PolicyOrigin {
                    ($0.table, $0.name, $0.file, $0.line) = (part.table, part.name, origin.file, UInt64(origin.line))
                }
            }
            .wireValue,
        ]
    }
}

/// Who loaded a policy into the running broker, and what that user called it.
struct LoadedByHand {
    var user: UInt32
    /// Of one line, without what steers a terminal.
    var file: String

    func sentence(_ own: String?) -> String {
        let back = own.map { Journal.printable($0, keepLines: false) } ?? "the built-in policy"
        return
            "loaded by hand by user \(user) from \(file), in the place of \(back): a reload or a restart goes back to that"
    }
}
