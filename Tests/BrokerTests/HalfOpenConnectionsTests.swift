import Broker
import Testing

@Suite struct HalfOpenConnectionsTests {
    private let grace = HalfOpenConnections.graceTime

    @Test("A user's ninth sends its oldest away, and nobody else's")
    func ninth() {
        var open = HalfOpenConnections()
        #expect(open.add(100, of: 1001, at: 0).isEmpty)
        for tag in 1...8 { #expect(open.add(UInt64(tag), of: 1000, at: 0).isEmpty) }
        #expect(open.add(9, of: 1000, at: grace) == [1])
        #expect(open.add(10, of: 1000, at: grace) == [2])
        #expect(open.count == 9)
    }

    @Test("Those that have just come may be more, until they are older")
    func young() {
        var open = HalfOpenConnections()
        for tag in 1...12 { #expect(open.add(UInt64(tag), of: 1000, at: 0).isEmpty) }
        for tag in 1...4 { open.remove(UInt64(tag)) }
        #expect(open.add(13, of: 1000, at: grace - 1).isEmpty)
        #expect(open.add(14, of: 1000, at: grace) == [5, 6])
    }

    @Test("Of 64 in all the oldest of the user that has most goes, however young")
    func inAll() {
        var open = HalfOpenConnections()
        #expect(open.add(1, of: 7, at: 0).isEmpty)
        for tag in 2...64 { #expect(open.add(UInt64(tag), of: tag < 40 ? 1000 : 1001, at: 0).isEmpty) }
        #expect(open.add(65, of: 8, at: 0) == [2])
        #expect(open.count == HalfOpenConnections.countMax)
    }
}
