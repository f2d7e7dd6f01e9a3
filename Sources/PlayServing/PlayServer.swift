package import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Listens on the loopback, for a few connections at a time of those who know the address.
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

    /// A connection that says nothing for so long is closed.
    private static let idle = TimeAmount.seconds(60)

    package func listen(on port: Int, _ group: any EventLoopGroup) -> EventLoopFuture<any Channel> {
        let questions = QuestionQueue()
        let (folder, token, random) = (folder, token, random)
        let open = OpenConnections()
        return ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: CInt(OpenConnections.most))
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                open.begin(channel)
                channel.closeFuture.whenComplete { _ in open.end(channel) }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: true)
                    try pipeline.addHandler(IdleStateHandler(allTimeout: Self.idle))
                    try pipeline.addHandler(
                        PlayConnection(PlayFolder(name: folder), questions, open, token: token, random: random))
                }
            }
            .bind(host: "127.0.0.1", port: port)
    }
}

/// The connections that there are. Any user of the machine may open some: where there are as many as may be, the oldest that
/// has not shown the address makes room for the next, so that nobody keeps out those who know it.
final class OpenConnections: Sendable {
    private struct Connection {
        let channel: any Channel
        var hasShownAddress = false
    }

    /// That have shown the address. A browser has six connections to one server; two browsers, and room for one that hangs.
    private static let guestsMax = 16
    /// That have not. A browser shows it at once; until that is read, so many newer ones must not cut it, however busy the
    /// machine is. Each has at most a request's head.
    private static let strangersMax = 256

    /// As many may wait to be taken: of one that finds no place, the kernel tries the first packet again after a second.
    static let most = guestsMax + strangersMax

    /// In the order in which they came.
    private let known = Mutex<[Connection]>([])

    func begin(_ channel: any Channel) {
        let cut: (any Channel)? = known.withLock { known in
            defer { known.append(Connection(channel: channel)) }
            guard known.count(where: { !$0.hasShownAddress }) >= Self.strangersMax else { return nil }
            return known.firstIndex { !$0.hasShownAddress }.map { known.remove(at: $0).channel }
        }
        cut?.close(promise: nil)
    }

    /// - Returns: false where there are too many that have shown it, or it was cut for another one meanwhile.
    func showedAddress(_ channel: any Channel) -> Bool {
        known.withLock { known in
            guard let place = known.firstIndex(where: { $0.channel === channel }) else { return false }
            if known[place].hasShownAddress { return true }
            guard known.count(where: \.hasShownAddress) < Self.guestsMax else { return false }
            known[place].hasShownAddress = true
            return true
        }
    }

    /// One that was cut for another is gone already.
    func end(_ channel: any Channel) { known.withLock { $0.removeAll { $0.channel === channel } } }
}
