import ArbiterProtocol
import Bus
import BusTesting
import CLinux
import Camarb
import Dispatch
import Foundation
import Synchronization
import System
import Testing

/// An echo server on a socket, on a thread of its own, until it is ended.
final class EchoServer: Sendable {
    private let stop: Mutex<Wakeup?> = Mutex(nil)
    private let folder: Scratch
    var path: String { folder.path + "/socket" }

    init() throws {
        folder = try Scratch()
        let isServing = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [self] in
            do { try serve(isServing) } catch { Issue.record(error) }
            isServing.signal()
        }
        #expect(isServing.wait(timeout: .now() + 10) == .success)
    }

    private func serve(_ isServing: DispatchSemaphore) throws {
        let loop = try EventLoop()
        let side = Recorder()
        side.onMessage = { message in
            switch message.member {
            case "HangUp": message.connection.close()
            case "Signals":
                for number in 0..<200 as Range<UInt64> {
                    let signal = BusMessage.signal(
                        on: message.connection, path: "/a", interface: InterfaceName.broker, member: "Tick")
                    signal?.append(number)
                    signal?.send()
                }
                message.answer()
            case "Echo": message.answer((try? message.arguments()) ?? [])
            default: message.answer(BrokerError(.unknownMethod, "There is no \(message.member)."))
            }
        }
        var connections: [BusConnection] = []
        let listener = try UnixListener(
            path: path, on: loop, onRefused: { _ in },
            onConnection: { descriptor in
                if let connection = try? BusConnection(adopting: descriptor, as: .server, on: loop, delegate: side) {
                    connections.append(connection)
                }
            })
        let wakeup = try loop.addWakeup { loop.exit() }
        stop.withLock { $0 = wakeup }
        isServing.signal()
        _ = try loop.run()
        for connection in connections { connection.close() }
        withExtendedLifetime(listener) {}
    }

    func end() { stop.withLock { $0?.signal() } }
}

@Suite struct BusTransportTests {
    private func call(_ member: String, _ arguments: [WireValue] = []) -> WireCall {
        WireCall(path: "/a", interface: "org.camarb.Test", member: member, arguments: arguments)
    }

    /// The body fails, since there is no connection; with what sentence.
    @discardableResult
    private func disconnected<Answer>(_ body: () async throws -> Answer) async -> String {
        let error = await #expect(throws: BrokerError.self) { _ = try await body() }
        #expect(error?.kind == .disconnected)
        return error?.message ?? ""
    }

    @Test func callsAndTheirAnswersFindEachOther() async throws {
        let server = try EchoServer()
        let transport = try BusTransport.connect(address: "unix:path=" + server.path)
        transport.start(onSignal: { _ in }, onEnd: { _ in })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 as Range<UInt64> {
                group.addTask {
                    let answer = try await transport.call(self.call("Echo", [.uint64(number)]))
                    #expect(answer == [.uint64(number)])
                }
            }
            try await group.waitForAll()
        }
        await #expect(throws: BrokerError(.unknownMethod, "There is no Nothing.")) {
            try await transport.call(self.call("Nothing"))
        }
        server.end()
    }

    @Test func aBrokerIsTheSameInEachConnectionToItAndKnownWithTheFirstAnswer() async throws {
        let server = try EchoServer()
        var ids: [String] = []
        for _ in 0..<2 {
            let transport = try BusTransport.connect(address: server.path)
            #expect(transport.brokerID == nil)
            transport.start(onSignal: { _ in }, onEnd: { _ in })
            _ = try await transport.call(call("Echo"))
            ids.append(try #require(transport.brokerID))
        }
        #expect(ids[0] == ids[1])
        #expect(ids[0].count == 32 && ids[0] != String(repeating: "0", count: 32))
        server.end()
    }

    @Test func signalsComeInOrderAndBeforeALaterAnswer() async throws {
        let server = try EchoServer()
        let transport = try BusTransport.connect(address: server.path)
        let seen = Mutex<[WireValue]>([])
        transport.start(
            onSignal: { if case .broker(let signal) = $0 { seen.withLock { $0 += signal.arguments } } }, onEnd: { _ in }
        )
        _ = try await transport.call(call("Signals"))
        #expect(seen.withLock { $0 } == (0..<200).map { .uint64($0) })
        server.end()
    }

    @Test func theEndOfTheBrokerEndsCallsAndIsToldOnce() async throws {
        let server = try EchoServer()
        let transport = try BusTransport.connect(address: server.path)
        let (ends, told) = AsyncStream<BrokerError>.makeStream()
        transport.start(onSignal: { _ in }, onEnd: { told.yield($0) })
        await disconnected { try await transport.call(call("HangUp")) }
        var iterator = ends.makeAsyncIterator()
        #expect(await iterator.next()?.kind == .disconnected)
        await disconnected { try await transport.call(call("Echo")) }
        server.end()
    }

    @Test func closingEndsCallsUnderWay() async throws {
        let (a, b) = try socketPair()
        let transport = BusTransport.adopt(a)
        transport.start(onSignal: { _ in }, onEnd: { _ in })
        async let answer: [WireValue] = transport.call(call("Echo"))
        transport.close()
        do {
            _ = try await answer
            Issue.record("The call was answered.")
        } catch let error as BrokerError {
            #expect(error.kind == .disconnected)
        }
        close(b)
    }

    @Test func noSocketAndNobodyListeningAreToldApart() async throws {
        let folder = try Scratch()
        let path = folder.path + "/socket"
        let none = await disconnected { try BusTransport.connect(address: path) }
        #expect(none == "There is no broker's socket at \(path): camarbd has not been started.")
        // Bound and left behind, as by a broker that was killed.
        let left = camarb_unix_listen(path, 1)
        #expect(left >= 0)
        close(left)
        #expect(await disconnected { try BusTransport.connect(address: path) }.contains("nobody listens"))
    }

    @Test func addressesAreReadAsDBusWritesThem() throws {
        #expect(try SocketAddress.path(of: "unix:path=/run/a%20b,guid=00") == "/run/a b")
        #expect(try SocketAddress.path(of: "/run/camarb/socket") == "/run/camarb/socket")
        #expect(try SocketAddress.path(of: "run/desk/socket") == "run/desk/socket")
        for wrong in ["tcp:host=localhost", "unixexec:path=/bin/true", "socket", ""] {
            #expect(throws: BrokerError.self) { try SocketAddress.path(of: wrong) }
        }
    }
}
