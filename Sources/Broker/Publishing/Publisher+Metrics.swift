import Arbiter
import ArbiterProtocol
import Bus
import CLinux
import Metrics

/// What happened, in numbers (`docs/fleet.md`).
extension Publisher {
    /// Once after each step.
    func count(_ event: Event, _ effects: [Effect], at now: Moment, asker: BrokerClient?) {
        let sessions = BrokerMetrics.Sessions(
            user: { [self] in clients.owner(of: $0)?.uid },
            camera: { [self] in broker.arbiter.status(of: $0)?.camera })
        metrics.note(event, effects, at: now, asker: asker?.uid, sessions: sessions)
    }

    /// Everything for a trusted client, and for others what happened to their own user's sessions.
    func metricsText(for client: BrokerClient) -> String {
        guard trust.isTrusted(client) else { return metrics.text(of: client.uid) }
        let status = broker.arbiter.status()
        return metrics.text(
            Gauges(
                version: Release.version, policy: status.policy, policyHash: broker.policy.hash, clients: clients.count,
                sessions: clients.owners.count,
                runningSessions: status.sessions.count { $0.state == .running },
                decisions: broker.arbiter.lastDecision, pressure: status.pressure, residentMemory: camarb_own_memory(),
                openDescriptors: Int(camarb_own_descriptors()), disconnects: clients.disconnects,
                budgets: Budgets.Resource.allCases.map { resource in
                    .init(
                        resource.wireName, used: UInt64(clients.budgets.useOfAll(resource)),
                        most: UInt64(clients.budgets.bound(resource).inAll))
                }))
    }
}

extension BusConnection.End {
    /// As metrics name it.
    var word: String {
        switch self {
        case .disconnected: "by-client"
        case .authenticationTimedOut: "not-authenticated"
        case .tooMuchQueued: "does-not-read"
        case .messageTooLong: "message-too-long"
        case .messageNotWhole: "message-not-whole"
        case .unfit: "unfit"
        case .fault: "fault"
        }
    }
}
