import Arbiter

/// What must hold of a broker whatever its clients do, for tests that try everything.
extension Broker {
    /// What is wrong with the core's state; empty when nothing is.
    package var brokenPromises: [String] { arbiter.violations() }

    /// A plan or an explanation is being worked out.
    package var isWorkingAside: Bool { inquiries.isWorkingAside }

    /// What there is of clients, each in a few words; empty when all have gone.
    package var leftOfClients: [String] {
        let counts = [
            ("clients", clients.count), ("listeners to news", audience.count), ("sessions", clients.owners.count),
            ("subscribers", publisher.subscribers), ("tracers", publisher.tracers),
            ("readers of the list of clients", desktops.clientLists),
            ("questions that wait", cameras.untilKnown.count), ("users with a budget", clients.budgets.users.count),
            ("cameras that are held", cameras.order.count { $0.holder != nil }),
        ]
        return counts.filter { $0.1 != 0 }.map { "\($0.1) \($0.0)" }
    }
}
