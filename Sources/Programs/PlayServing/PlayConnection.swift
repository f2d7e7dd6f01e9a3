import ArbiterProtocol
import NIOCore
import NIOHTTP1

/// One connection of a browser: without the address every answer is the same.
final class PlayConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The page's two fields at their bounds, as JSON.
    private static let bodyBytesMax = 256 * 1024
    private static let requestMax = TimeAmount.seconds(10)

    private let server: PlayServer
    private let questions: QuestionQueue
    private let open: OpenConnections
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    private var late: Scheduled<Void>?

    init(_ server: PlayServer, _ questions: QuestionQueue, _ open: OpenConnections) {
        (self.server, self.questions, self.open) = (server, questions, open)
    }

    private var folder: PlayFolder { PlayFolder(name: server.folder) }

    func channelActive(context: ChannelHandlerContext) {
        expectRequest(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        late?.cancel()
        context.fireChannelInactive()
    }

    /// Begins the time of a whole request; between two requests there is only the idle time.
    private func expectRequest(_ context: ChannelHandlerContext) {
        late?.cancel()
        let channel = context.channel
        late = context.eventLoop.scheduleTask(in: Self.requestMax) { channel.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            expectRequest(context)
            self.head = head
            body = []
            // The body may arrive much later.
            if page(of: head) != nil, !open.showedAddress(context.channel) {
                self.head = nil
                context.close(promise: nil)
            }
        case .body(let bytes):
            guard head != nil else { return }
            guard body.count + bytes.readableBytes <= Self.bodyBytesMax else {
                head = nil
                return answer(.payloadTooLarge, context)
            }
            body += bytes.readableBytesView
        case .end:
            late?.cancel()
            guard let head else { return }
            self.head = nil
            take(head, body, context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func take(_ head: HTTPRequestHead, _ body: [UInt8], _ context: ChannelHandlerContext) {
        let origin = "http://127.0.0.1:\(context.channel.localAddress?.port ?? 0)"
        // Another name of this machine is another host, whose pages must not read this one.
        guard head.headers["host"].map({ "http://\($0)" }) == [origin] else { return answer(.forbidden, context) }
        guard let page = page(of: head) else { return answer(.notFound, context) }
        switch (head.method, page) {
        case (.GET, ""):
            let page = server.pages.page(folder.name, folder.policies, folder.scenarios, server.random())
            send(.ok, "text/html; charset=utf-8", page.html, securityPolicy: page.securityPolicy, context)
        case (.POST, "ask"), (.POST, "example"), (.POST, "file"):
            let site = head.headers["sec-fetch-site"]
            guard head.headers["origin"] == [origin], site.isEmpty || site == ["same-origin"],
                head.headers["content-type"] == ["application/json"]
            else { return answer(.forbidden, context) }
            guard let json = try? JSONReader.read(body, depthMax: 4) else { return answer(.badRequest, context) }
            switch page {
            case "ask": ask(json, context)
            case "example": example(json, context)
            default: file(json, context)
            }
        default: answer(.notFound, context)
        }
    }

    /// The path after the token; nil without the token.
    private func page(of head: HTTPRequestHead) -> String? {
        let parts = head.uri.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts[0].isEmpty, Self.isSame(parts[1], server.token) else { return nil }
        return parts[2]
    }

    /// In constant time, so that the token cannot be found letter by letter.
    private static func isSame(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private func file(_ json: JSON, _ context: ChannelHandlerContext) {
        guard let name = json["name"]?.string, let text = folder.text(of: name) else {
            return answer(.notFound, context)
        }
        send(.ok, "text/plain; charset=utf-8", text, context)
    }

    private func example(_ json: JSON, _ context: ChannelHandlerContext) {
        guard let number = json["number"]?.integer.flatMap({ Int(exactly: $0) }),
            let text = server.pages.example(number)
        else {
            return answer(.notFound, context)
        }
        send(.ok, "application/json", text, context)
    }

    private func ask(_ json: JSON, _ context: ChannelHandlerContext) {
        guard let file = json["file"]?.string, let policy = json["policy"]?.string,
            let scenario = json["scenario"]?.string, let plan = json["plan"]?.string,
            // Includes count from it, so it is a name and not a path.
            !file.isEmpty, !file.contains("/"), file.utf8.count <= 255
        else { return answer(.badRequest, context) }
        let question = (file: file, policy: policy, scenario: scenario, plan: plan)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        questions.ask(question, on: context.eventLoop).whenComplete { result in
            let (connection, context) = bound.value
            switch result {
            case .success(let html): connection.send(.ok, "text/html; charset=utf-8", html, context)
            case .failure: connection.answer(.conflict, context)
            }
        }
    }

    private func answer(_ status: HTTPResponseStatus, _ context: ChannelHandlerContext) {
        send(status, "text/plain; charset=utf-8", "", closes: status != .conflict, context)
    }

    private func send(
        _ status: HTTPResponseStatus, _ type: String, _ text: String,
        securityPolicy: String = "default-src 'none'; frame-ancestors 'none'", closes: Bool = false,
        _ context: ChannelHandlerContext
    ) {
        guard context.channel.isActive else { return }
        var headers: HTTPHeaders = [
            "Content-Type": type, "Content-Length": "\(text.utf8.count)", "Content-Security-Policy": securityPolicy,
            "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
            "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
            "X-Frame-Options": "DENY",
        ]
        if closes { headers.add(name: "Connection", value: "close") }
        context.write(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in if closes { channel.close(promise: nil) }
        }
    }
}
