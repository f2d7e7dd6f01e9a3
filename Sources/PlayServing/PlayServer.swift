package import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Listens on the loopback, for a few connections at a time.
package struct PlayServer {
    let folder: String
    let token: String
    /// Something that nobody can guess, for each page.
    let random: @Sendable () -> String

    package init(folder: String, token: String, random: @escaping @Sendable () -> String) {
        self.folder = folder
        self.token = token
        self.random = random
    }

    /// A browser has six connections to one server; two browsers, and room for one that hangs.
    private static let connectionsMax = 16
    /// A connection that says nothing for so long is closed.
    private static let idle = TimeAmount.seconds(60)

    package func listen(on port: Int, _ group: any EventLoopGroup) -> EventLoopFuture<any Channel> {
        let open = Mutex(0)
        let questions = QuestionQueue()
        let (folder, token, random) = (folder, token, random)
        let count = OpenConnections(open)
        return ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 32)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                guard count.begin(atMost: Self.connectionsMax) else {
                    return channel.eventLoop.makeFailedFuture(TooMany())
                }
                channel.closeFuture.whenComplete { _ in count.end() }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: true)
                    try pipeline.addHandler(IdleStateHandler(allTimeout: Self.idle))
                    try pipeline.addHandler(
                        PlayConnection(PlayFolder(name: folder), questions, token: token, random: random))
                }
            }
            .bind(host: "127.0.0.1", port: port)
    }

    private struct TooMany: Error {}
}

/// How many connections there are.
private final class OpenConnections: Sendable {
    private let count: Mutex<Int>

    init(_ count: consuming Mutex<Int>) { self.count = count }

    func begin(atMost most: Int) -> Bool {
        count.withLock { count in
            guard count < most else { return false }
            count += 1
            return true
        }
    }

    func end() { count.withLock { $0 -= 1 } }
}
