import Bus
import Testing

@Suite struct TurnOrderTests {
    private let millisecond: Int64 = 1_000_000

    /// Lets all that wait have turns of a certain cost, asking again after each, for so many turns; how many each had.
    private func serve(_ order: inout TurnOrder, turns: Int, cost: (UInt64) -> Int64) -> [UInt64: Int] {
        var had: [UInt64: Int] = [:]
        for _ in 0..<turns {
            guard let (id, account) = order.next() else { break }
            had[id, default: 0] += 1
            order.used(id, of: account, cost(id), at: 0)
            order.ask(id, of: account)
        }
        return had
    }

    @Test("What is shared is time, not turns")
    func byTime() {
        var order = TurnOrder()
        order.ask(1, of: .user(1000))
        order.ask(2, of: .user(1001))
        let had = serve(&order, turns: 600) { $0 == 1 ? 5 * millisecond : millisecond }
        #expect(had == [1: 100, 2: 500])
    }

    @Test("One that has been away is next when it comes back, and has no credit beyond that")
    func comesBack() {
        var order = TurnOrder()
        for id in 1...9 { order.ask(UInt64(id), of: .user(UInt32(1000 + id))) }
        _ = serve(&order, turns: 900) { _ in millisecond }
        order.ask(50, of: .user(5000))
        let next = order.next()
        #expect(next?.id == 50)
        order.used(50, of: .user(5000), millisecond, at: 0)
        order.ask(50, of: .user(5000))
        let had = serve(&order, turns: 100) { _ in millisecond }
        #expect(had[50] == 10)
    }

    @Test("The first class has half, and no more where the other wants its own")
    func firstClass() {
        var order = TurnOrder()
        order.ask(1, of: .own)
        order.ask(2, of: .user(0, isFirst: true))
        for id in 10...19 { order.ask(UInt64(id), of: .user(UInt32(id))) }
        let had = serve(&order, turns: 200) { _ in millisecond }
        #expect(had[1] == 50 && had[2] == 50)
        #expect((10...19).allSatisfy { had[UInt64($0)] == 10 })
    }

    @Test(
        "Of accounts that had as much the one that asked first is next, inside one likewise, and none that is forgotten"
    )
    func ties() {
        var order = TurnOrder()
        for id: UInt64 in [3, 5, 1, 2] { order.ask(id, of: .user(UInt32(id))) }
        for id: UInt64 in [6, 4] { order.ask(id, of: .user(3)) }
        for id: UInt64 in [5, 6, 77] { order.forget(id) }
        #expect((0..<4).map { _ in order.next()?.id } == [3, 1, 2, 4])
        #expect(order.isEmpty && order.next() == nil)
    }

    @Test("While nobody waits a turn is had at once, by those that have hardly used the window or are alone")
    func atOnce() {
        var order = TurnOrder()
        let window = TurnOrder.windowTime
        #expect(order.mayGoAtOnce(1, of: .user(1), at: 0))
        order.used(1, of: .user(1), TurnOrder.atOnceTimeMax, at: 0)
        #expect(!order.mayGoAtOnce(1, of: .user(1), at: 1))
        // Another connection of the same account has used as much, another account nothing.
        #expect(!order.mayGoAtOnce(2, of: .user(1), at: 1))
        #expect(order.mayGoAtOnce(3, of: .user(2), at: 1))
        order.used(3, of: .user(2), 1000, at: 1)
        #expect(order.mayGoAtOnce(1, of: .user(1), at: window))
        // The only one for a whole window goes on at once, whatever it uses.
        for turn in 0...20 { order.used(1, of: .user(1), millisecond, at: window + Int64(turn) * millisecond) }
        #expect(order.mayGoAtOnce(1, of: .user(1), at: 2 * window + 11 * millisecond))
        order.ask(9, of: .user(9))
        #expect(!order.mayGoAtOnce(1, of: .user(1), at: 10 * window))
        #expect(!order.mayGoAtOnce(3, of: .user(2), at: 10 * window))
    }
}
