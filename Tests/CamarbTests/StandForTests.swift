import ArbiterProtocol
import Camarb
import Testing

@Suite("A client that stands for another process", .timeLimit(.minutes(10)))
struct StandForTests {
    private static let gone = BrokerError(.disconnected, "The broker ended.")

    private static func broker(knows process: Bool = true) -> MemoryTransport {
        MemoryTransport { _, call throws(BrokerError) in
            guard call.member == "StandFor" else { return try MemoryTransport.standardAnswer(call) }
            if process { return [.string("mirror")] }
            throw BrokerError(.invalidValue, "There is no process 12.")
        }
    }

    @Test("It says so again at the next broker, before anything else")
    func again() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        let client = CameraClient(over: try Brokers([first, second]).transport())
        #expect(try await client.standFor(process: 12, began: 34) == "mirror")
        let session = try await client.makeSession()
        try await session.startRunning()
        first.end(Self.gone)
        _ = await second.waitForCall("StartRunning")
        let said = second.callsSoFar
        #expect(said.map(\.member) == ["StandFor", "CreateSession", "StartRunning"])
        #expect(said[0].arguments == [.uint32(12), .uint64(34)])
        client.disconnect()
    }

    @Test("It is nobody else's where a broker does not take that process: nothing is put back there")
    func nobodyElses() async throws {
        let (first, second, third) = (Self.broker(), Self.broker(knows: false), Self.broker())
        let client = CameraClient(over: try Brokers([first, second, third]).transport())
        _ = try await client.standFor(process: 12, began: 34)
        let session = try await client.makeSession()
        try await session.startRunning()
        first.end(Self.gone)
        _ = await third.waitForCall("StartRunning")
        #expect(second.callsSoFar.map(\.member) == ["StandFor"])
        client.disconnect()
    }
}
