import Arbiter
import ArbiterProtocol
import Machine
import PolicyFile

extension Broker {
    /// Where an administrator puts a policy.
    static let usualPolicy = "/etc/camarb/policy.toml"

    func loadFirstPolicy() {
        guard let path = options.policy else {
            policyTrouble = "No policy was given (--policy FILE): first come, first served."
            return
        }
        do throws(PolicyProblems) {
            let loaded = try readPolicy(path)
            arbiter = Arbiter(policy: loaded.policy)
            policySources = PolicySources(loaded)
        } catch {
            policyTrouble = "\(shown(path)) is no valid policy, so it is first come, first served.\n\(error)"
            journal.send(.error, "\(error)\nThe built-in policy is in force: first come, first served.")
        }
    }

    /// SIGHUP. A bad file never replaces a good policy.
    public func reloadPolicy() {
        guard let path = options.policy else {
            journal.send(.notice, "asked to read the policy again, but none was given (--policy FILE)")
            return
        }
        ServiceManager.reloading()
        do throws(PolicyProblems) {
            let loaded = try readPolicy(path)
            let policy = loaded.policy
            policyTrouble = ""
            policySources = PolicySources(loaded)
            step(.policyLoaded(policy))
            silenceWhoMayNotSpeak()
            pressure?.policyChanged()
            journal.send(.notice, "the policy “\(policy.name)” is in force", [("CAMARB_POLICY", policy.name)])
        } catch {
            policyTrouble =
                "\(shown(path)) is no valid policy; “\(arbiter.policy.name)”, which was in force, still is.\n\(error)"
            journal.send(.error, "\(error)\nThe policy “\(arbiter.policy.name)” stays in force. Nothing changed.")
        }
        ServiceManager.ready(status: statusLine)
    }

    /// The policy with its drop-ins. The usual folder of drop-ins is looked into where it is there.
    private func readPolicy(_ path: String) throws(PolicyProblems) -> LoadedPolicy {
        try PolicyFile.load(
            path: path, dropIns: options.policyFolder.isEmpty ? nil : options.policyFolder,
            dropInsRequired: options.policyFolder != BrokerOptions.usualPolicyFolder, accounts: MachineAccounts())
    }

    /// A path goes to terminals and to the journal.
    private func shown(_ path: String) -> String { Journal.printable(path, keepLines: false) }

    /// The policy in force as text, and where it is from.
    func policyAnswer() -> [WireValue] {
        let origins = Dictionary(policySources.origins.map { ($0.part, $0.origin) }) { first, _ in first }
        let text = PolicyWriter.text(arbiter.policy) { origins[$0].map { "\($0.file):\($0.line)" } }
        return [
            .string(text), .strings(policySources.files),
            .dictionaries(
                policySources.origins.map { part, origin in
                    [
                        "table": .string(part.table), "name": .string(part.name), "file": .string(origin.file),
                        "line": .uint64(UInt64(origin.line)),
                    ]
                }),
        ]
    }

    /// Why the broker runs without what it was told to use; empty when all is well.
    var degraded: String {
        var reasons = policyTrouble.isEmpty ? [] : [policyTrouble]
        let unknown = arbiter.policy.rights.unknownNames
        if !unknown.isEmpty {
            reasons.append(
                "[access] of the policy names whom this machine does not know: \(unknown.joined(separator: ", ")).")
        }
        for link in cameraOrder {
            if let trouble = link.trouble { reasons.append("Camera “\(link.camera.name)”: \(trouble)") }
        }
        if let trouble = traceFile?.trouble, !trouble.isEmpty { reasons.append(trouble) }
        if options.trustsClaims {
            reasons.append("Claims are believed (--trust-claims): any program can pass for any app.")
        }
        return reasons.joined(separator: " ")
    }

    /// What `systemctl status` shows.
    var statusLine: String {
        let cameras = cameraOrder.map { link in
            "\(link.camera.name): \(link.holder?.name ?? (link.isPresent ? "free" : "not there"))"
        }
        return cameras.joined(separator: ", ") + "; policy \(arbiter.policy.name)"
            + (degraded.isEmpty ? "" : "; degraded")
    }
}

/// Where the policy in force was read: what the broker keeps of its files. Of the built-in one nothing.
struct PolicySources {
    var files: [String] = []
    /// In the order of the files.
    var origins: [(part: PolicyPart, origin: LoadedPolicy.Origin)] = []

    init() {}

    init(_ loaded: LoadedPolicy) {
        files = loaded.files
        origins = loaded.sortedOrigins
    }
}
