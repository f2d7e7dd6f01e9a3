import Broker
import Testing

@Suite struct BudgetsTests {
    private func budgets() -> Budgets { Budgets(connections: .connections(ofUser: 64, inAll: 512), trusted: [0, 900]) }

    private func take(_ resource: Budgets.Resource, by user: UInt32, of budgets: inout Budgets) -> Int {
        var taken = 0
        while (try? budgets.charge(resource, to: user)) != nil { taken += 1 }
        return taken
    }

    @Test("A user alone has its ceiling, and the refusal names it")
    func ceiling() {
        for (resource, ceiling) in [
            (.connections, 64), (.sessions, 256), (.placedApps, 2048), (.microphones, 256), (.questions, 64),
            (.answers, 2049),
        ] as [(Budgets.Resource, Int)] {
            var budgets = budgets()
            #expect(take(resource, by: 1000, of: &budgets) == ceiling)
            #expect(
                throws: Budgets.Refusal(
                    user: 1000, resource: resource, has: ceiling, asked: 1, which: .ceiling(ceiling))
            ) { try budgets.charge(resource, to: 1000) }
        }
        let refusal = Budgets.Refusal(user: 7, resource: .sessions, has: 256, asked: 1, which: .ceiling(256))
        #expect(refusal.sentence == "User 7 has 256 sessions; a user may have 256.")
        let share = Budgets.Refusal(user: 7, resource: .answers, has: 0, asked: 1024, which: .share(796, users: 8))
        #expect(share.sentence.hasSuffix("; its share of what is left among 8 users is 796."))
    }

    @Test("Eight subordinate ids do not fill the connections: a ninth user, a holder and root still have theirs")
    func share() throws {
        var budgets = budgets()
        budgets.holders = [1001]
        let taken = (0..<8).map { take(.connections, by: 100_000 + $0, of: &budgets) }
        // Of the 448 that are not root's and the 3 that are the holder's: 64 three times, and then ever smaller shares.
        #expect(taken == [64, 64, 64, 50, 33, 24, 18, 14])
        #expect(take(.connections, by: 2000, of: &budgets) == 11)
        #expect(take(.connections, by: 1001, of: &budgets) >= 3)
        #expect(take(.connections, by: 0, of: &budgets) == 64)
        #expect(budgets.useOfAll(.connections) <= 512)
    }

    @Test("However many users have taken their share, what is kept for a holder and for root is there")
    func reserve() throws {
        for resource in Budgets.Resource.allCases {
            var budgets = budgets()
            budgets.holders = [1001]
            for user in 0..<20_000 { _ = try? budgets.charge(resource, to: UInt32(100_000 + user)) }
            for user in 0..<50 { _ = take(resource, by: UInt32(100_000 + user), of: &budgets) }
            let bound = budgets.bound(resource)
            #expect(bound.keptForHolder >= 1 && bound.keptForTrusted >= 1)
            try budgets.charge(resource, bound.keptForHolder, to: 1001)
            try budgets.charge(resource, bound.keptForTrusted, to: 0)
            #expect(budgets.useOfAll(resource) == bound.inAll)
            #expect(
                throws: Budgets.Refusal(user: 5, resource: resource, has: 0, asked: 1, which: .whole(bound.inAll))
            ) { try budgets.charge(resource, to: 5) }
        }
    }

    @Test(
        "A trusted user is bounded by the whole alone, except for connections; a charge is granted whole or not at all")
    func whole() throws {
        var budgets = budgets()
        #expect(take(.sessions, by: 0, of: &budgets) == 4096)
        #expect(take(.connections, by: 900, of: &budgets) == 64)
        try budgets.charge(.placedApps, 2000, to: 1000)
        #expect(throws: Budgets.Refusal.self) { try budgets.charge(.placedApps, 49, to: 1000) }
        #expect(budgets.use(of: 1000, .placedApps) == 2000)
        try budgets.charge(.placedApps, 48, to: 1000)
        try budgets.charge(.placedApps, 0, to: 1000)
    }

    @Test("What is charged is released to the last, and a user that has nothing has no record")
    func leak() throws {
        var budgets = budgets()
        var state: UInt64 = 7
        func below(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
        var held: [(resource: Budgets.Resource, amount: Int, user: UInt32)] = []
        for _ in 0..<3_000 {
            if below(3) > 0 || held.isEmpty {
                let resource = Budgets.Resource.allCases[below(Budgets.Resource.allCases.count)]
                let (amount, user) = (1 + below(40), UInt32(below(12)))
                if (try? budgets.charge(resource, amount, to: user)) != nil { held.append((resource, amount, user)) }
            } else {
                let (resource, amount, user) = held.remove(at: below(held.count))
                budgets.release(resource, amount, of: user)
            }
            for resource in Budgets.Resource.allCases {
                let sum = held.reduce(0) { $0 + ($1.resource == resource ? $1.amount : 0) }
                guard budgets.useOfAll(resource) == sum, sum <= budgets.bound(resource).inAll else {
                    Issue.record("\(resource): \(budgets.useOfAll(resource)) of \(sum)")
                    return
                }
            }
        }
        for (resource, amount, user) in held { budgets.release(resource, amount, of: user) }
        #expect(budgets.users.isEmpty)
        #expect(Budgets.Resource.allCases.allSatisfy { budgets.useOfAll($0) == 0 })
    }
}
