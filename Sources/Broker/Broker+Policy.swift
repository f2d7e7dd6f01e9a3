import Arbiter
import ArbiterProtocol
import PolicyFile
import SystemdBus

extension Broker {
    /// Where an administrator puts a policy.
    static let usualPolicy = "/etc/camarb/policy.toml"

    func loadFirstPolicy() {
        guard let path = options.policy else {
            policyTrouble = "No policy was given (--policy FILE): first come, first served."
            return
        }
        do throws(PolicyProblems) {
            arbiter = Arbiter(policy: try PolicyFile.load(path: path))
        } catch {
            policyTrouble = "\(path) is no valid policy, so it is first come, first served. \(error)"
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
            let policy = try PolicyFile.load(path: path)
            policyTrouble = ""
            step(.policyLoaded(policy))
            journal.send(.notice, "the policy “\(policy.name)” is in force", [("CAMARB_POLICY", policy.name)])
        } catch {
            policyTrouble =
                "\(path) is no valid policy; “\(arbiter.policy.name)”, which was in force, still is. \(error)"
            journal.send(.error, "\(error)\nThe policy “\(arbiter.policy.name)” stays in force. Nothing changed.")
        }
        ServiceManager.ready(status: statusLine)
    }

    /// Why the broker runs without what it was told to use; empty when all is well.
    var degraded: String {
        var reasons = policyTrouble.isEmpty ? [] : [policyTrouble]
        for link in cameraOrder {
            if let trouble = link.trouble { reasons.append("Camera “\(link.camera.name)”: \(trouble)") }
        }
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
