import ArbiterProtocol
import CLinux
import Glibc
import SystemdBus
import Testing

/// Both ends of a connection on one loop, with what each saw.
final class Recorder: BusConnectionDelegate {
    var ready = 0
    var messages: [BusMessage] = []
    var ends: [BusConnection.End] = []
    var onMessage: (BusMessage) -> Void = { _ in }

    func connectionReady(_ connection: BusConnection) { ready += 1 }
    func connection(_ connection: BusConnection, received message: BusMessage) {
        messages.append(message)
        onMessage(message)
    }
    func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) { ends.append(end) }
}

func socketPair() throws -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    try #require(camarb_unix_pair(&ends) == 0)
    return (ends[0], ends[1])
}

extension EventLoop {
    /// Turns until the condition holds; fails the test after ten seconds, which no test comes near.
    func turn(until condition: () -> Bool, _ what: Comment = "waiting", at place: SourceLocation = #_sourceLocation)
        throws
    {
        let limit = EventLoop.now + 10_000_000_000
        while !condition() {
            try #require(EventLoop.now < limit, what, sourceLocation: place)
            _ = try turn(timeout: 100_000_000)
        }
    }
}

/// A server that answers `Echo` with its arguments, and a client, on one loop.
struct Pair {
    let loop: EventLoop
    let server: BusConnection
    let client: BusConnection
    let serverSide = Recorder()
    let clientSide = Recorder()

    /// - Parameter anonymous: The server trusts its client.
    init(anonymous: Bool = false) throws {
        loop = try EventLoop()
        let (a, b) = try socketPair()
        serverSide.onMessage = { message in
            if message.kind == .call && message.member == "Echo" {
                do throws(BrokerError) {
                    let arguments = try message.arguments()
                    message.answer(arguments)
                    for case .fileDescriptor(let number) in arguments { close(number) }
                } catch {
                    message.answer(error)
                }
            }
        }
        server = try BusConnection(
            adopting: a, as: .server, on: loop, delegate: serverSide, anonymous: anonymous)
        client = try BusConnection(adopting: b, as: .client, on: loop, delegate: clientSide)
    }

    func echo(_ values: [WireValue]) throws -> Result<[WireValue], BrokerError> {
        var answer: Result<[WireValue], BrokerError>?
        client.call(path: "/a", interface: "org.camarb.Test", member: "Echo", values) { result in
            do throws(BrokerError) {
                answer = .success(try result.get().arguments())
            } catch {
                answer = .failure(error)
            }
        }
        try loop.turn(until: { answer != nil })
        return try #require(answer)
    }
}
