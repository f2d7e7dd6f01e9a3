import ArbiterProtocol
import Broker
import Testing

@Suite("Calls of OpenConnection that wait")
struct OpeningsTests {
    @Test("A sender has two calls that wait, and another beside it has its own")
    func ofSender() throws {
        var openings = Openings<Int>()
        try openings.add(1, of: ":1.7")
        try openings.add(2, of: ":1.7")
        let refusal = #expect(throws: BrokerError.self) { try openings.add(3, of: ":1.7") }
        #expect(refusal?.kind == .limitExceeded && refusal?.message.contains(":1.7 has 2 calls") == true)
        try openings.add(4, of: ":1.8")
        #expect([openings.next(), openings.next(), openings.next(), openings.next()] == [1, 2, 4, nil])
        // A call that the bus is asked about counts until it is answered.
        #expect(throws: BrokerError.self) { try openings.add(5, of: ":1.7") }
        openings.done(":1.7")
        try openings.add(6, of: ":1.7")
        #expect(openings.next() == 6)
    }

    @Test("The bus is asked about so many at a time, in the order in which they came, and so many may wait")
    func inAll() throws {
        var openings = Openings<Int>()
        let all = OpeningBound.waitingMax + OpeningBound.askedMax
        for call in 0..<OpeningBound.askedMax {
            try openings.add(call, of: ":1.\(call)")
            #expect(openings.next() == call)
        }
        for call in OpeningBound.askedMax..<all {
            try openings.add(call, of: ":1.\(call)")
            #expect(openings.next() == nil)
        }
        let refusal = #expect(throws: BrokerError.self) { try openings.add(all, of: ":1.\(all)") }
        #expect(refusal?.message.contains("1024 calls of OpenConnection wait") == true)
        for call in 0..<all {
            openings.done(":1.\(call)")
            #expect(openings.next() == (call + OpeningBound.askedMax < all ? call + OpeningBound.askedMax : nil))
        }
        #expect(openings.isEmpty)
    }
}
