import Arbiter
import ArbiterProtocol
import CLinux
import Explain

extension Publisher {
    /// What happened, in numbers (`docs/fleet.md`): everything for a trusted client, and for others what happened to their own
    /// user's sessions.
    func metricsText(for client: BrokerClient) -> String {
        guard trust.isTrusted(client) else { return metrics.text(of: client.uid) }
        let status = broker.arbiter.status()
        var text = OpenMetrics()
        text.family("camarb", .info, "camarbd's version, and the policy in force.")
        text.sample(
            "camarb_info", 1 as UInt64,
            [("version", Release.version), ("policy", status.policy), ("policy_hash", broker.policy.hash)])
        metrics.total.add(to: &text)
        text.counter(
            "camarb_recorder_resets", by: "camera", metrics.recorderResets,
            "Recorder cores that ended while they were needed: crashed, or killed because they did not do their duty.")
        text.counter(
            "camarb_camera_faults", by: "camera", metrics.cameraFaults,
            "Times that a camera could not be opened, or failed.")
        text.counter(
            "camarb_disconnects", by: "why", clients.disconnects, "Connections that the broker ended or refused.")
        text.family("camarb_decisions", .counter, "Decisions of the core.")
        text.sample("camarb_decisions_total", broker.arbiter.lastDecision)
        for (name, value, help) in [
            ("camarb_clients", clients.count, "Connections."), ("camarb_sessions", clients.owners.count, "Sessions."),
            (
                "camarb_running_sessions", status.sessions.count { $0.state == .running }, "Sessions that run."
            ),
            (
                "camarb_pressure", Int(status.pressure.rawValue),
                "How hard the machine is pressed: 0 nominal, 1 fair, 2 serious, 3 critical."
            ),
            ("camarb_process_open_fds", Int(camarb_own_descriptors()), "Open descriptors of camarbd."),
        ] {
            text.family(name, .gauge, help)
            text.sample(name, UInt64(clamping: value))
        }
        text.family("camarb_process_resident_memory_bytes", .gauge, unit: "bytes", "Memory of camarbd.")
        text.sample("camarb_process_resident_memory_bytes", camarb_own_memory())
        let budgets = clients.budgets
        text.family("camarb_budget_used", .gauge, "What is used of each budget that all users share.")
        for resource in Budgets.Resource.allCases {
            text.sample(
                "camarb_budget_used", UInt64(budgets.useOfAll(resource)), [("budget", resource.wireName)])
        }
        text.family("camarb_budget_limit", .gauge, "The most that may be used of it.")
        for resource in Budgets.Resource.allCases {
            text.sample(
                "camarb_budget_limit", UInt64(budgets.bound(resource).inAll), [("budget", resource.wireName)])
        }
        return text.text
    }
}
