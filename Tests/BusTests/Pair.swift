import ArbiterProtocol
import Bus
import BusTesting
import Glibc
import Loop
import Testing

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
