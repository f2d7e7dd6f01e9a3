import Glibc
package import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import TomlFile

/// The pages that are served. The workbench writes them; the server imports none, since it is about who may ask, how much, and how long.
package struct PlayPages: Sendable {
    /// A policy with its file's name, from which its includes count, a scenario, and what may happen next.
    package typealias Question = (file: String, policy: String, scenario: String, plan: String)

    /// Of a folder with policies and scenarios of these names. The browser runs what has the nonce, and keeps to the security policy.
    let page:
        @Sendable (_ folder: String, _ policies: [String], _ scenarios: [String], _ nonce: String) -> (
            html: String, securityPolicy: String
        )
    /// - Parameter mayGoOn: asked between steps; the clock is the server's.
    let answer: @Sendable (_ question: Question, _ mayGoOn: @escaping @Sendable () -> Bool) -> String

    package init(
        page: @escaping @Sendable (String, [String], [String], String) -> (html: String, securityPolicy: String),
        answer: @escaping @Sendable (Question, @escaping @Sendable () -> Bool) -> String
    ) {
        self.page = page
        self.answer = answer
    }
}

/// Listens on the loopback, for a few connections at a time of those who know the address.
package struct PlayServer: Sendable {
    let pages: PlayPages
    let folder: String
    let token: String
    /// Something that nobody can guess, for each page.
    let random: @Sendable () -> String

    package init(_ pages: PlayPages, folder: String, token: String, random: @escaping @Sendable () -> String) {
        self.pages = pages
        self.folder = folder
        self.token = token
        self.random = random
    }

    /// A connection that says nothing for so long is closed.
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

/// What the page may have of the folder, which is the process's own: files that it lists itself, by those very names.
struct PlayFolder {
    let name: String

    /// More than a person looks through in a list.
    private static let namesMax = 500

    var policies: [String] { names { $0.hasSuffix(".toml") } }
    var scenarios: [String] { names { $0.hasSuffix(".scenario") } }

    /// The text of a file; nil for a name that is not in the list, and for what is no text.
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

/// Works questions out on a thread of its own, one at a time. Of those that wait only the last one is worth an answer: the
/// page has gone on typing.
final class QuestionQueue: Sendable {
    struct Replaced: Error {}

    /// A question may take a second. So much of it is for deciding and for reasons; the rest is for reading what was typed and
    /// for drawing, whose sizes are bounded.
    private static let timeMax = TimeAmount.milliseconds(500)

    private struct Waiting: Sendable {
        var question: PlayPages.Question
        var promise: EventLoopPromise<String>
    }

    private let waiting = Mutex<Waiting?>(nil)
    private let thread = NIOThreadPool(numberOfThreads: 1)
    private let pages: PlayPages

    init(_ pages: PlayPages) {
        self.pages = pages
        thread.start()
    }

    func ask(_ question: PlayPages.Question, on loop: any EventLoop) -> EventLoopFuture<String> {
        let promise = loop.makePromise(of: String.self)
        let replaced = waiting.withLock { waiting in
            let before = waiting
            waiting = Waiting(question: question, promise: promise)
            return before
        }
        replaced?.promise.fail(Replaced())
        thread.submit { [self] _ in
            guard
                let next = waiting.withLock({ waiting in
                    defer { waiting = nil }
                    return waiting
                })
            else { return }
            let deadline = NIODeadline.now() + Self.timeMax
            next.promise.succeed(pages.answer(next.question) { NIODeadline.now() < deadline })
        }
        return promise.futureResult
    }
}
