import BusTesting
import Foundation
import System
import Testing

@Suite struct EventLoopTests {
    @Test func timersFireInTheOrderOfTheirDeadlinesAndNeverEarly() throws {
        let loop = try EventLoop()
        var fired: [(timer: Int, at: Int64)] = []
        let late = EventLoop.now + 30_000_000
        let first = try loop.addTimer { fired.append((1, EventLoop.now)) }
        let second = try loop.addTimer { fired.append((2, EventLoop.now)) }
        second.arm(at: late)
        first.arm(at: late - 20_000_000)
        try loop.turn(until: { fired.count == 2 })
        #expect(fired.map(\.timer) == [1, 2])
        #expect(fired[0].at >= late - 20_000_000 && fired[1].at >= late)
    }

    @Test func deferredWorkRunsInOrderAndMayDeferMore() throws {
        let loop = try EventLoop()
        var order: [Int] = []
        loop.defer {
            order.append(1)
            loop.defer { order.append(3) }
        }
        loop.defer { order.append(2) }
        try loop.turn(until: { order.count == 3 })
        #expect(order == [1, 2, 3])
    }
}
