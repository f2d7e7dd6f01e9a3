import Agent
import Testing

@Suite struct ReadingOrderTests {
    /// Whether a reading is due after each of these events.
    private func due(_ heard: [(changed: Bool, complete: Bool)], in order: inout ReadingOrder) -> [Bool] {
        heard.map { order.isDue(changed: $0.changed, complete: $0.complete) }
    }

    @Test("A window that changes during a reading is placed without a further event")
    func changeDuringAReading() {
        var order = ReadingOrder()
        #expect(due([(false, false), (true, false)], in: &order) == [false, true], "nothing that did not change")
        order.wasDue(begun: true)
        // It changes before the reading is complete: one is due, and cannot begin.
        #expect(due([(true, false)], in: &order) == [true])
        order.wasDue(begun: false)
        #expect(due([(false, false), (false, true)], in: &order) == [false, true])
        order.wasDue(begun: true)
        // Once: that reading has it.
        #expect(due([(false, true)], in: &order) == [false])
    }
}
