import Glibc
package import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import TomlFile

/// A policy with its file's name, from which its includes count, a scenario, and lines that may happen next.
package typealias TypedQuestion = (file: String, policy: String, scenario: String, plan: String)

/// The pages. The workbench writes them; the server decides who gets them, and how much and how long.
/// - `page`: of a folder with policies and scenarios of these names. The browser runs scripts with the nonce, and keeps to the
///   security policy.
/// - `example`: an example's texts as JSON, by its number; `nil` for another number.
/// - `answer`: calls `mayGoOn` between steps; the clock is the server's.
package typealias PlayPages = (
    page:
        @Sendable (_ folder: String, _ policies: [String], _ scenarios: [String], _ nonce: String) -> (
            html: String, securityPolicy: String
        ),
    example: @Sendable (_ number: Int) -> String?,
    answer: @Sendable (_ question: TypedQuestion, _ mayGoOn: @escaping @Sendable () -> Bool) -> String
)

/// Listens on the loopback, for a few connections at a time that have the address.
package struct PlayServer: Sendable {
    let pages: PlayPages
    let folder: String
    let token: String
    /// An unguessable word, for each page.
    let random: @Sendable () -> String

    package init(_ pages: PlayPages, folder: String, token: String, random: @escaping @Sendable () -> String) {
        (self.pages, self.folder, self.token, self.random) = (pages, folder, token, random)
    }

    /// A silent connection is closed.
    private static let idle = TimeAmount.seconds(60)

    package func listen(on port: Int, _ group: any EventLoopGroup) -> EventLoopFuture<any Channel> {
        let (questions, open) = (QuestionQueue(pages), OpenConnections())
        return ServerBootstrap(group: group).serverChannelOption(.backlog, value: CInt(OpenConnections.most))
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1).childChannelInitializer { channel in
                open.begin(channel)
                channel.closeFuture.whenComplete { _ in open.end(channel) }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: true)
                    try pipeline.addHandler(IdleStateHandler(allTimeout: Self.idle))
                    try pipeline.addHandler(PlayConnection(self, questions, open))
                }
            }
            .bind(host: "127.0.0.1", port: port)
    }
}

/// The open connections. Any user of the machine may open some: at the bound the oldest that has not shown the address makes
/// room for the next, so that no stranger keeps out those who have it.
final class OpenConnections: Sendable {
    private struct Connection {
        let channel: any Channel
        var hasShownAddress = false
    }

    /// Connections that have shown the address: a browser has six to one server.
    private static let guestsMax = 16
    /// Other connections: a browser's must not be cut before its first request is read, however busy the machine is. Each has at
    /// most a request's head.
    private static let strangersMax = 256

    /// As many may wait to be accepted: the kernel sends another connection's first packet again after a second.
    static let most = guestsMax + strangersMax

    private let known = Mutex<[Connection]>([])

    func begin(_ channel: any Channel) {
        let cut: (any Channel)? = known.withLock { known in
            defer { known.append(Connection(channel: channel)) }
            guard known.count(where: { !$0.hasShownAddress }) >= Self.strangersMax else { return nil }
            return known.firstIndex { !$0.hasShownAddress }.map { known.remove(at: $0).channel }
        }
        cut?.close(promise: nil)
    }

    /// - Returns: false where too many have shown it, or the connection was cut meanwhile.
    func showedAddress(_ channel: any Channel) -> Bool {
        known.withLock { known in
            guard let place = known.firstIndex(where: { $0.channel === channel }) else { return false }
            if known[place].hasShownAddress { return true }
            guard known.count(where: \.hasShownAddress) < Self.guestsMax else { return false }
            known[place].hasShownAddress = true
            return true
        }
    }

    func end(_ channel: any Channel) { known.withLock { $0.removeAll { $0.channel === channel } } }
}

/// The folder's files for the page: only names that it lists itself. The folder is the process's working directory.
struct PlayFolder {
    let name: String

    /// A person looks through fewer.
    private static let namesMax = 500

    var policies: [String] { names { $0.hasSuffix(".toml") } }
    var scenarios: [String] { names { $0.hasSuffix(".scenario") } }

    /// The text of a file; nil for a name that is not in the list, and for other bytes than UTF-8.
    func text(of file: String) -> String? {
        guard names({ $0 == file && ($0.hasSuffix(".toml") || $0.hasSuffix(".scenario")) }).first == file,
            let found = try? RegularFile.read(file)
        else { return nil }
        return String(validating: found.bytes, as: UTF8.self)
    }

    private func names(_ isWanted: (String) -> Bool) -> [String] {
        guard let folder = opendir(".") else { return [] }
        defer { closedir(folder) }
        var found: [String] = []
        while found.count < Self.namesMax, let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix("."), isWanted(name) { found.append(name) }
        }
        return found.sorted()
    }
}

/// Answers questions on a thread of its own, one at a time. Of the waiting ones only the last is answered: the others are older
/// than the page.
final class QuestionQueue: Sendable {
    struct Replaced: Error {}

    /// A question may take a second: half of it is for decisions and reasons, the rest for reading and drawing, whose sizes are
    /// bounded.
    private static let timeMax = TimeAmount.milliseconds(500)

    private typealias Waiting = (question: TypedQuestion, promise: EventLoopPromise<String>)
    private let waiting = Mutex<Waiting?>(nil)
    private let thread = NIOThreadPool(numberOfThreads: 1)
    private let pages: PlayPages

    init(_ pages: PlayPages) {
        self.pages = pages
        thread.start()
    }

    func ask(_ question: TypedQuestion, on loop: any EventLoop) -> EventLoopFuture<String> {
        let promise = loop.makePromise(of: String.self)
        let replaced = waiting.withLock { waiting in
            defer { waiting = (question, promise) }
            return waiting
        }
        replaced?.promise.fail(Replaced())
        thread.submit { [self] _ in
            guard let next = waiting.withLock({ $0.take() }) else { return }
            let deadline = NIODeadline.now() + Self.timeMax
            next.promise.succeed(pages.answer(next.question) { NIODeadline.now() < deadline })
        }
        return promise.futureResult
    }
}
