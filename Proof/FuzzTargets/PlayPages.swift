import ArbiterProtocol
import Glibc
import NIOCore
import NIOPosix
import PlayServing
import Synchronization
import Workbench

/// The page of `camclient policy play`: requests of any program of the machine, and questions of its browser.
extension FuzzTarget {
    /// A program without the token gets nothing, and the next request with it is served; a question is answered in bounded time by a
    /// part of a page in which all typed text is escaped.
    static func playPage(_ input: [UInt8]) {
        let rest = Array(input.dropFirst())
        if (input.first ?? 0) & 1 == 0 { request(rest) } else { question(rest) }
    }

    private static let token = "0123456789abcdef0123456789abcdef"
    /// In an input, the page's address.
    private static let hostMark = Array("$HOST".utf8)

    private static func request(_ input: [UInt8]) {
        let host = "127.0.0.1:\(port)"
        var bytes: [UInt8] = []
        for piece in input.split(separator: hostMark, omittingEmptySubsequences: false) {
            if !bytes.isEmpty || piece.startIndex > 0 { bytes += host.utf8 }
            bytes += piece
        }
        let statuses = answers(to: CutBytes(bytes).pieces).map(\.status)
        let known: Set = [200, 400, 403, 404, 409, 413]
        precondition(known.isSuperset(of: statuses), "A request was answered with \(statuses).")
        precondition(
            !statuses.contains(200) && !statuses.contains(409) || bytes.contains(Array(token.utf8)),
            "Something was answered to a program that does not know the token.")
        let page = answers(to: [Array("GET /\(token)/ HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n".utf8)])
        precondition(page.map(\.status) == [200], "The page is not served any more: \(page.map(\.status))")
        check(page[0].body)
    }

    private static let pages: PlayPages = (
        page: { folder, policies, scenarios, nonce in
            let page = PlayPage(folder: folder, policies: policies, scenarios: scenarios, examples: [])
            return (page.page(nonce: nonce), PlayPage.securityPolicy(nonce: nonce))
        },
        example: { _ in nil },
        answer: { question, mayGoOn in PlayAnswer(question, while: mayGoOn).text }
    )

    private static let port: Int = {
        let server = PlayServer(pages, folder: ".", token: token) { "nonce" }
        let channel = try? server.listen(on: 0, MultiThreadedEventLoopGroup(numberOfThreads: 1)).wait()
        guard let port = channel?.localAddress?.port else { preconditionFailure("The page is not served.") }
        return port
    }()

    /// Seconds; a question has one, and the sanitizer takes its time.
    private static let patience = 8

    /// All answers on one connection, which the client closes after the last piece.
    private static func answers(to pieces: [[UInt8]]) -> [(status: Int, body: [UInt8])] {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(socket) }
        var wait = timeval(tv_sec: patience, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let isThere = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // The fuzzer's timer interrupts calls; a connection goes on, and sending waits for it.
        precondition(isThere == 0 || errno == EINTR, "Nobody listens where the page is served: error \(errno)")
        for piece in pieces { while send(socket, piece, piece.count, Int32(MSG_NOSIGNAL)) < 0, errno == EINTR {} }
        shutdown(socket, Int32(SHUT_WR))
        var said: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            precondition(count >= 0 || errno != EAGAIN, "A connection is not closed behind its last request.")
            guard count > 0 else { break }
            said += buffer.prefix(count)
        }
        return parsed(said)
    }

    /// The last answer may be cut.
    private static func parsed(_ said: [UInt8]) -> [(status: Int, body: [UInt8])] {
        var found: [(status: Int, body: [UInt8])] = []
        var rest = said[...]
        while let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) {
            let head = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
            let words = head.prefix { $0 != "\r\n" }.split(separator: " ")
            precondition(words.count >= 2 && words[0] == "HTTP/1.1", "An answer begins with \(head)")
            let length = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
                .flatMap { Int($0.dropFirst(16)) }
            rest = rest[end.upperBound...]
            found.append((Int(words[1]) ?? 0, Array(rest.prefix(length ?? 0))))
            rest = rest.dropFirst(length ?? 0)
        }
        return found
    }

    private static func question(_ bytes: [UInt8]) {
        guard let json = try? JSONReader.read(bytes, depthMax: 4) else { return }
        let again = try? JSONReader.read(Array(json.text.utf8), depthMax: 4)
        precondition(again?.text == json.text, "JSON reads back as another: \(json.text)")
        guard let policy = json["policy"]?.string, let scenario = json["scenario"]?.string,
            let plan = json["plan"]?.string
        else { return }
        let question = (file: "policy.toml", policy: policy, scenario: scenario, plan: plan)
        let looks = LooksLeft(looksMax)
        check(Array(PlayAnswer(question) { looks.goOn() }.text.utf8))
    }

    /// More steps than a question here has.
    private static let looksMax = 400

    private final class LooksLeft: Sendable {
        private let left: Atomic<Int>
        init(_ count: Int) { left = Atomic(count) }
        func goOn() -> Bool { left.subtract(1, ordering: .relaxed).newValue > 0 }
    }

    /// Elements are closed in order, and only known ones occur.
    private static func check(_ html: [UInt8]) {
        var open: [String] = []
        var rest = html[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            guard let end = rest[start...].firstIndex(of: UInt8(ascii: ">")) else {
                preconditionFailure("An element of the page has no end.")
            }
            let tag = String(decoding: rest[rest.index(after: start)..<end], as: UTF8.self)
            rest = rest[rest.index(after: end)...]
            if tag.hasPrefix("!") { continue }
            let name = String(tag.drop { $0 == "/" }.prefix { $0.isLetter || $0.isNumber })
            precondition(elements.contains(name), "The page has an element <\(tag)>.")
            if tag.hasPrefix("/") {
                precondition(open.popLast() == name, "The page closes <\(name)>, which is not open.")
            } else if !tag.hasSuffix("/"), !empty.contains(name) {
                open.append(name)
            }
            if name == "script" || name == "style", !tag.hasPrefix("/") {
                guard let end = rest.firstRange(of: Array("</\(name)>".utf8)) else { continue }
                rest = rest[end.lowerBound...]
            }
        }
        precondition(open.isEmpty, "The page leaves \(open) open.")
    }

    private static let empty: Set = ["meta", "input", "br", "hr", "link"]
    private static let elements: Set = [
        "a", "b", "body", "button", "caption", "code", "dd", "defs", "desc", "details", "div", "dl", "dt", "footer",
        "form", "g", "h1", "h2", "h3", "h4", "head", "header", "html", "input", "ins", "label", "li", "line", "main",
        "meta", "nav", "noscript", "ol", "option", "p", "path", "pattern", "pre", "rect", "script", "section", "select",
        "span", "style", "summary", "svg", "table", "tbody", "td", "text", "textarea", "th", "thead", "title", "tr",
        "ul", "use",
    ]
}
