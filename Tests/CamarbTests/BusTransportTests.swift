import ArbiterProtocol
import Bus
import BusTesting
import CLinux
import Camarb
import Glibc
import Loop
import Synchronization
import Testing

/// A scratch directory that goes with the test.
final class Scratch: Sendable {
    let path: String
    init() throws {
        var template = Array("/tmp/camarb-test-XXXXXX".utf8CString)
        path = try #require(
            template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!).map { String(cString: $0) } })
    }
    deinit {
        for name in ["socket", "lock"] { unlink(path + "/" + name) }
        rmdir(path)
    }
}

/// An echo server on a socket, on a thread of its own, until it is released.
final class EchoServer: Sendable {
    private let stop: Mutex<Wakeup?> = Mutex(nil)
    let path: String
    private let scratch: Scratch

    init(hangUpOn member: String = "HangUp") throws {
        let scratch = try Scratch()
        self.scratch = scratch
        path = scratch.path + "/socket"
        let ready = Mutex(false)
        final class Box: Sendable {
            let work: @Sendable () -> Void
            init(_ work: @escaping @Sendable () -> Void) { self.work = work }
        }
        let path = path
        let started = DoneFlag()
        let box = Box { [self] in
            do {
                let loop = try EventLoop()
                let side = Recorder()
                side.onMessage = { message in
                    if message.member == member {
                        message.connection.close()
                    } else if message.member == "Signals" {
                        for number in 0..<200 as Range<UInt64> {
                            let signal = BusMessage.signal(
                                on: message.connection, path: "/a", interface: "org.camarb.Test", member: "Tick")
                            signal?.append(number)
                            signal?.send()
                        }
                        message.answer()
                    } else if message.member == "Echo" {
                        if let arguments = try? message.arguments() { message.answer(arguments) }
                    } else {
                        message.answer(BrokerError(.unknownMethod, "There is no \(message.member)."))
                    }
                }
                var connections: [BusConnection] = []
                let listener = try UnixListener(path: path, on: loop, onRefused: { _ in }) { descriptor in
                    if let connection = try? BusConnection(
                        adopting: descriptor, as: .server, on: loop, delegate: side)
                    {
                        connections.append(connection)
                    }
                }
                let wakeup = try loop.addWakeup { loop.exit() }
                stop.withLock { $0 = wakeup }
                started.set()
                _ = try loop.run()
                for connection in connections { connection.close() }
                _ = listener
            } catch {
                Issue.record(error)
                started.set()
            }
        }
        _ = ready
        var thread = pthread_t()
        #expect(
            pthread_create(
                &thread, nil,
                { data in
                    if let data { Unmanaged<Box>.fromOpaque(data).takeRetainedValue().work() }
                    return nil
                }, Unmanaged.passRetained(box).toOpaque()) == 0)
        pthread_detach(thread)
        started.wait()
    }

    func end() { stop.withLock { $0?.signal() } }
}

/// Set on one thread, waited for on another.
final class DoneFlag: Sendable {
    private let descriptors: (Int32, Int32)
    init() {
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        descriptors = (ends[0], ends[1])
    }
    deinit {
        close(descriptors.0)
        close(descriptors.1)
    }
    func set() { _ = write(descriptors.1, "x", 1) }
    func wait() {
        var poller = pollfd(fd: descriptors.0, events: Int16(POLLIN), revents: 0)
        #expect(poll(&poller, 1, 10_000) == 1)
    }
}

@Suite struct BusTransportTests {
    private func call(_ member: String, _ arguments: [WireValue] = []) -> WireCall {
        WireCall(path: "/a", interface: "org.camarb.Test", member: member, arguments: arguments)
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
        let (signals, more) = AsyncStream<Void>.makeStream()
        transport.start(
            onSignal: { signal in
                seen.withLock { $0 += signal.arguments }
                more.yield()
            }, onEnd: { _ in })
        _ = try await transport.call(call("Signals"))
        #expect(seen.withLock { $0 } == (0..<200).map { .uint64($0) })
        _ = signals
        server.end()
    }

    @Test func theEndOfTheBrokerEndsCallsAndIsToldOnce() async throws {
        let server = try EchoServer()
        let transport = try BusTransport.connect(address: server.path)
        let (ends, told) = AsyncStream<BrokerError>.makeStream()
        transport.start(onSignal: { _ in }, onEnd: { told.yield($0) })
        do {
            _ = try await transport.call(call("HangUp"))
            Issue.record("The call was answered.")
        } catch {
            #expect(error.kind == .disconnected)
        }
        var iterator = ends.makeAsyncIterator()
        #expect(await iterator.next()?.kind == .disconnected)
        do {
            _ = try await transport.call(call("Echo"))
            Issue.record("The call was answered.")
        } catch {
            #expect(error.kind == .disconnected)
        }
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

    @Test func noSocketAndNobodyListeningAreToldApart() throws {
        let scratch = try Scratch()
        let path = scratch.path + "/socket"
        do {
            _ = try BusTransport.connect(address: path)
            Issue.record("It connected.")
        } catch {
            #expect(error.kind == .disconnected)
            #expect(error.message == "There is no broker's socket at \(path): camarbd has not been started.")
        }
        // Bound and left behind, as by a broker that was killed.
        let left = camarb_unix_listen(path, 1)
        #expect(left >= 0)
        close(left)
        do {
            _ = try BusTransport.connect(address: path)
            Issue.record("It connected.")
        } catch {
            #expect(error.kind == .disconnected)
            #expect(error.message.contains("nobody listens"))
        }
    }

    @Test func addressesAreReadAsDBusWritesThem() throws {
        #expect(try SocketAddress.path(of: "unix:path=/run/a%20b,guid=00") == "/run/a b")
        #expect(try SocketAddress.path(of: "/run/camarb/socket") == "/run/camarb/socket")
        #expect(try SocketAddress.path(of: "run/desk/socket") == "run/desk/socket")
        for wrong in ["tcp:host=localhost", "unixexec:path=/bin/true", "socket", ""] {
            #expect(throws: BrokerError.self) { try SocketAddress.path(of: wrong) }
        }
    }

    @Test func aStaleSocketIsReplacedAndALiveOneIsNot() throws {
        let scratch = try Scratch()
        let path = scratch.path + "/socket"
        let left = camarb_unix_listen(path, 1)
        close(left)
        let loop = try EventLoop()
        var first: UnixListener? = try UnixListener(
            path: path, on: loop, onRefused: { _ in }, onConnection: { close($0) })
        let fault = #expect(throws: SystemFault.self) {
            _ = try UnixListener(path: path, on: loop, onRefused: { _ in }, onConnection: { close($0) })
        }
        #expect(fault?.number == EADDRINUSE)
        // It is this very process that listens.
        #expect(fault?.doing.hasSuffix("(process \(getpid())) listens already") == true, "\(fault?.doing ?? "")")
        #expect(access(path, F_OK) == 0)
        _ = first
        first = nil
        #expect(access(path, F_OK) != 0)
    }
}
