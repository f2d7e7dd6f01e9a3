import ArbiterProtocol
import Bus
import BusTesting
import CLinux
import Camarb
import Glibc
import Testing

@Suite("The connection of a client", .timeLimit(.minutes(10)))
struct ConnectionTests {
    private static let echo: FalseBroker.Answer = { broker, call throws(BrokerError) in
        switch call.member {
        case "Echo": return call.arguments
        case "Signals":
            for _ in 0..<200 {
                broker.send(
                    WireSignal(
                        path: ObjectPath.broker, interface: InterfaceName.broker, member: "CamerasChanged",
                        arguments: []))
            }
            return []
        case "HangUp":
            broker.end()
            return []
        default: throw BrokerError(.unknownMethod, "There is no \(call.member).")
        }
    }

    private static func call(
        _ client: CameraClient, _ member: String, _ arguments: [WireValue] = []
    ) async throws(BrokerError) -> [WireValue] {
        try await client.call(ObjectPath.broker, InterfaceName.broker, member, arguments)
    }

    /// The body fails, since there is no connection; with what sentence.
    @discardableResult
    private func disconnected<Answer>(_ body: () async throws -> Answer) async -> String {
        let error = await #expect(throws: BrokerError.self) { _ = try await body() }
        #expect(error?.kind == .disconnected)
        return error?.message ?? ""
    }

    @Test("Calls and their answers find each other, also more of them than libcamarb has under way at once")
    func manyCalls() async throws {
        let client = try Brokers.client([FalseBroker(answer: Self.echo)])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<300 as Range<UInt64> {
                group.addTask {
                    let answer = try await Self.call(client, "Echo", [.uint64(number)])
                    #expect(answer == [.uint64(number)])
                }
            }
            try await group.waitForAll()
        }
        await #expect(throws: BrokerError(.unknownMethod, "There is no Nothing.")) {
            try await Self.call(client, "Nothing")
        }
    }

    @Test("A refusal is told whole, however long it is")
    func longRefusals() async throws {
        let sentence = String(repeating: "A policy has many mistakes. ", count: 200)
        let broker = FalseBroker { _, _ throws(BrokerError) in throw BrokerError(.invalidValue, sentence) }
        let client = try Brokers.client([broker])
        await #expect(throws: BrokerError(.invalidValue, sentence)) { try await client.plan(sentence) }
    }

    @Test("Signals come in order, and before a later answer")
    func signals() async throws {
        let client = try Brokers.client([FalseBroker(answer: Self.echo)])
        var notices = client.brokerNotices.makeAsyncIterator()
        _ = try await Self.call(client, "Signals")
        for _ in 0..<200 { #expect(await notices.next() == .camerasChanged) }
    }

    @Test("The end of the broker, and of the client, ends calls under way")
    func ends() async throws {
        let client = try Brokers.client([FalseBroker(answer: Self.echo)], reconnects: false)
        await disconnected { try await Self.call(client, "HangUp") }
        await disconnected { try await Self.call(client, "Echo") }
        let silent = FalseBroker { broker, _ throws(BrokerError) in
            broker.end()
            return []
        }
        let other = try Brokers.client([silent])
        let waits = Task { try await Self.call(other, "Echo") }
        _ = await silent.waitForCall("Echo")
        other.disconnect()
        await disconnected { try await waits.value }
    }

    @Test("No socket, and nobody who listens, are told apart")
    func noBroker() async throws {
        let folder = try Scratch()
        let path = folder.path + "/socket"
        let none = await disconnected { try CameraClient.connect(address: path) }
        #expect(none == "There is no broker's socket at \(path): camarbd has not been started.")
        // Bound and left behind, as by a broker that was killed.
        let left = camarb_unix_listen(path, 1)
        #expect(left >= 0)
        close(left)
        #expect(await disconnected { try CameraClient.connect(address: path) }.contains("nobody listens"))
    }

    @Test("Addresses are read as D-Bus writes them")
    func addresses() throws {
        #expect(try SocketAddress.path(of: "unix:path=/run/a%20b,guid=00") == "/run/a b")
        #expect(try SocketAddress.path(of: "/run/camarb/socket") == "/run/camarb/socket")
        #expect(try SocketAddress.path(of: "run/desk/socket") == "run/desk/socket")
        for wrong in ["tcp:host=localhost", "unixexec:path=/bin/true", "socket", ""] {
            #expect(throws: BrokerError.self) { try SocketAddress.path(of: wrong) }
            #expect(throws: BrokerError.self) { try CameraClient.connect(address: wrong) }
        }
    }
}
