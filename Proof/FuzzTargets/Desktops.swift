import Agent
import ArbiterProtocol
import CXCB
import Glibc
import System

/// The windows of a compositor: sway on its socket, and the script inside KWin.
extension FuzzTarget {
    /// Messages are the same wherever they are cut; a desktop has a bounded number of windows, each with a place; and JSON reads back
    /// as the same.
    static func desktop(_ input: [UInt8]) {
        let rest = Array(input.dropFirst())
        guard let first = input.first, first & 1 == 0 else { return desktops(in: rest, depthMax: Desktop.kwinDepthMax) }
        let cut = CutBytes(rest)
        let whole = messages([cut.bytes])
        precondition(messages(cut.pieces) == whole, "sway's messages are others when they are cut: \(cut.cuts)")
        precondition(messages(cut.singly) == whole, "sway's messages are others when their bytes come one by one.")
        for message in whole.messages { desktops(in: message.bytes, depthMax: Desktop.swayDepthMax) }
    }

    /// A client of the process that has most windows of the corpus.
    private static var names: AppNames { AppNames([ClientProcess(process: 4711, app: "photos")], FewProcesses()) }

    private struct Heard: Equatable {
        var messages: [SwayMessages.Message] = []
        var fault: SwayMessages.Fault?
    }

    private static func messages(_ pieces: [[UInt8]]) -> Heard {
        var reader = SwayMessages()
        var heard = Heard()
        do throws(SwayMessages.Fault) {
            for piece in pieces {
                reader.take(piece)
                while let message = try reader.next() { heard.messages.append(message) }
            }
        } catch { heard.fault = error }
        return heard
    }

    private static func desktops(in bytes: [UInt8], depthMax: Int) {
        guard let json = try? JSONReader.read(bytes, depthMax: depthMax) else { return }
        let again = try? JSONReader.read(Array(json.text.utf8), depthMax: depthMax)
        precondition(again?.text == json.text, "JSON reads back as another: \(json.text)")
        for desktop in [Desktop(swayTree: json), Desktop(kwin: json)].compactMap(\.self) {
            precondition(
                desktop.windows.count <= max(Desktop.swayWindowsMax, Desktop.kwinWindowsMax),
                "\(desktop.windows.count) windows were read.")
            let named = desktop.naming(fromX11: desktop)
            var said = SaidFacts()
            for one in [desktop, named] {
                for place in one.windows.indices { _ = one.placement(of: place) }
                let focused = one.windows.indices.filter { one.placement(of: $0).isFocused }
                precondition(
                    focused.allSatisfy { one.windows[$0].id == one.active },
                    "A window has the focus that is not active.")
                _ = said.toSay(UserFacts(desktop: one, captures: [], user: 0, names: names))
            }
        }
    }
}

private struct FewProcesses: ProcessTable {
    func app(of process: Int32) -> String? { process % 2 == 0 ? "app\(process)" : nil }
    func parent(of process: Int32) -> Int32? { nil }
    func appUnit(of process: Int32) -> String? { nil }
    func hasTerminal(_ process: Int32) -> Bool { false }
}

/// X servers that give any answer.
extension FuzzTarget {
    /// Each reading ends, with a bounded number of windows.
    static func xServer(_ input: [UInt8]) {
        var ends: [Int32] = [-1, -1]
        let made = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends)
        precondition(made == 0, "This target could not be set up: error \(errno)")
        let (answers, socket) = (Answers(input), ends[1])
        let isBegun = startThread {
            var server = StrangeServer(socket: socket, answers: answers)
            server.run()
        }
        precondition(isBegun, "This target has no thread.")
        var opened: OpaquePointer?
        guard camarb_x11_open_on(ends[0], &opened) == camarb_x11_good, let opened else { return }
        defer { camarb_x11_close(opened) }
        for _ in 0..<readings {
            guard camarb_x11_read(opened), waitForReading(opened) else { return }
            let desktop = camarb_x11_desktop_of(opened)
            precondition(
                desktop.count <= UInt32(CAMARB_X11_WINDOWS_MAX), "\(desktop.count) windows of an X server were read.")
            for place in 0..<desktop.count { _ = camarb_x11_window_of(opened, place) }
        }
    }

    private static let readings = 3
    /// Milliseconds; the server answers at once.
    private static let patience: Int32 = 8000

    /// - Returns: false where the server is lost.
    private static func waitForReading(_ opened: OpaquePointer) -> Bool {
        while true {
            let news = Int(camarb_x11_turn(opened))
            if news & CAMARB_X11_LOST != 0 { return false }
            if news & CAMARB_X11_READ != 0 { return true }
            var waited = pollfd(fd: camarb_x11_descriptor(opened), events: Int16(POLLIN), revents: 0)
            let isThere = poll(&waited, 1, patience)
            precondition(isThere > 0 || isThere < 0 && errno == EINTR, "A reading of an X server has no end.")
        }
    }
}

/// A server that keeps only to the form of the protocol, so that its answers are read.
private struct StrangeServer {
    let socket: Int32
    var answers: Answers
    var sequence: UInt16 = 0
    var atoms: UInt32 = 0

    /// More than three readings with a handful of windows take.
    private static let requestsMax = 20_000
    /// Words of an answer after its first 32 bytes: a property with hundreds of windows.
    private static let wordsMax: UInt32 = 2048
    private static let firstAtom: UInt32 = 100
    private static let extensionCode: UInt8 = 140

    private enum Request {
        static let attributes: UInt8 = 3
        static let geometry: UInt8 = 14
        static let internAtom: UInt8 = 16
        static let property: UInt8 = 20
        static let coordinates: UInt8 = 40
        static let focus: UInt8 = 43
        static let queryExtension: UInt8 = 98
    }

    mutating func run() {
        defer { close(socket) }
        guard greet() else { return }
        for _ in 0..<Self.requestsMax {
            guard let head = take(4), let rest = take(max(0, (Int(head[2]) | Int(head[3]) << 8) * 4 - 4)) else {
                return
            }
            sequence &+= 1
            guard answer(head, rest) else { return }
        }
    }

    private func take(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var there = 0
        while there < count {
            let got = bytes.withUnsafeMutableBytes { recv(socket, $0.baseAddress.map { $0 + there }, count - there, 0) }
            guard got > 0 else { return nil }
            there += got
        }
        return bytes
    }

    private func say(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func word(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }
    private static func half(_ number: UInt16) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }

    /// The setup, with one screen or with any bytes as screens.
    private mutating func greet() -> Bool {
        guard let head = take(12) else { return false }
        let names = [6, 8].map { (Int(head[$0]) | Int(head[$0 + 1]) << 8) + 3 & ~3 }
        guard take(names[0] + names[1]) != nil else { return false }
        let isStrange = answers.isOnce(in: 8)
        var setup = Self.word(0) + Self.word(0x200000) + Self.word(0x1fffff) + Self.word(0)
        // The vendor's length, the longest request, the numbers of screens and formats.
        setup += Self.half(isStrange ? UInt16(truncatingIfNeeded: answers.number()) : 0) + Self.half(.max)
        setup +=
            [isStrange ? answers.byte() : 1, isStrange ? answers.byte() : 0] + [0, 0, 32, 32, 8, 255] + Self.word(0)
        // The screen, with its root first, and its number of depths last.
        setup += Self.word(77) + [UInt8](repeating: 0, count: 35) + [isStrange ? answers.byte() : 0]
        if isStrange { setup += answers.part(Int(answers.byte()) * 4) }
        return say([1, 0] + Self.half(11) + Self.half(0) + Self.half(UInt16(setup.count / 4)) + setup)
    }

    private mutating func answer(_ head: [UInt8], _ rest: [UInt8]) -> Bool {
        if answers.isOnce(in: 16), !event() { return false }
        switch head[0] {
        case Request.internAtom:
            atoms += 1
            return reply(0, Self.word(Self.firstAtom + atoms - 1))
        case Request.queryExtension: return reply(0, [answers.isOnce(in: 64) ? 0 : 1, Self.extensionCode, 0, 0])
        case Request.property:
            let count = UInt32(answers.byte()) % 12
            let format: UInt8 = answers.isOnce(in: 16) ? answers.byte() : 32
            let said = answers.isOnce(in: 12) ? answers.word() : count
            return reply(format, Self.word(4) + Self.word(0) + Self.word(said), words: (0..<count).map { _ in small() })
        case Self.extensionCode where head[1] == 0: return reply(0, Self.half(1) + Self.half(2))
        case Self.extensionCode:
            let ids = UInt32(answers.byte()) % 4
            let said = answers.isOnce(in: 8) ? answers.word() : ids
            // A window, a mask of which 2 is a process, a length in bytes, and so many words.
            let values = (0..<ids).flatMap { _ in
                [
                    small(), answers.isOnce(in: 4) ? answers.word() : 2, answers.isOnce(in: 4) ? answers.word() : 4,
                    small(),
                ]
            }
            return reply(0, Self.word(said), words: values)
        case Request.attributes: return reply(0, answers.part(24), words: (0..<3).map { _ in small() })
        case Request.geometry, Request.coordinates: return reply(1, answers.part(24))
        case Request.focus: return reply(1, Self.word(1))
        default: return true
        }
    }

    /// A known atom, a window, or any number.
    private mutating func small() -> UInt32 {
        let byte = answers.byte()
        return byte < 224 ? UInt32(byte) : answers.word()
    }

    private mutating func reply(_ data: UInt8, _ fields: [UInt8], words: [UInt32] = []) -> Bool {
        // An error instead: the window has gone.
        if answers.isOnce(in: 24) { return say([0, 3] + Self.half(sequence) + [UInt8](repeating: 0, count: 28)) }
        let room = [UInt8](repeating: 0, count: 24 - fields.count)
        return say(
            [1, data] + Self.half(sequence) + Self.word(UInt32(min(words.count, Int(Self.wordsMax)))) + fields + room
                + words.flatMap(Self.word))
    }

    /// One of the protocol's 34 kinds of events of 32 bytes.
    private mutating func event() -> Bool {
        say([2 + answers.byte() % 33, 0] + Self.half(sequence) + answers.part(28))
    }
}
