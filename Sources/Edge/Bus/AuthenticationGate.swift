/// A connection's authentication, on either side: the bytes before messages (D-Bus specification, "Authentication Protocol").
///
///     NUL → lines, until BEGIN after an accepted EXTERNAL → messages
///
/// A server takes only the mechanism EXTERNAL, and only the user that the kernel names; every line has the answer that
/// libsystemd gives. A client sends all its lines at once, and waits for their answers. Pure: bytes in, bytes out.
package struct AuthenticationGate {
    /// Bytes of one line; the longest that a peer needs has 34.
    package static let lineBytesMax = 1024
    /// Lines of one peer. GDBus, the most talkative, sends four.
    package static let linesMax = 16
    /// Nanoseconds until BEGIN, which the connection counts. 5 s failed slow boots with dbus-daemon.
    package static let timeMax: Int64 = 10_000_000_000

    package enum Progress: Hashable {
        case open
        case begun
        /// It ends the connection; a sentence for the journal.
        case shut(String)
    }

    /// A client's lines. Without a name in them the server goes by the kernel's, which is right in a user namespace, too.
    static let greeting = Array("\0AUTH EXTERNAL\r\nDATA\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n".utf8)

    /// The id of this process as a server, in every connection: a peer tells another process in its place by it.
    package static let ownID: String = {
        var random = SystemRandomNumberGenerator()
        return [random.next(), random.next()].map { (half: UInt64) in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }()

    private enum Role {
        /// The peer's user in the one way of writing it: decimal, without leading zeros. Empty: anybody.
        case server(user: [UInt8])
        case client
    }

    private let role: Role
    private var sawNothingYet: Bool
    private var line: [UInt8] = []
    private var lines = 0
    /// An EXTERNAL holds.
    private var isAccepted = false
    package private(set) var progress = Progress.open
    /// The peer takes descriptors.
    package private(set) var passesDescriptors = false

    /// A server's.
    /// - Parameter user: the peer's, as the kernel names it; `nil`: whoever it is.
    package init(user: UInt32?) {
        role = .server(user: user.map { Array(String($0).utf8) } ?? [])
        sawNothingYet = true
    }

    /// A client's, which has sent its `greeting`.
    init() { (role, sawNothingYet) = (.client, false) }

    /// Takes the bytes that belong to the authentication: all of them, or as far as its last line.
    /// - Returns: how many these are, and what is answered.
    package mutating func take(_ bytes: some Sequence<UInt8>) -> (count: Int, answer: [UInt8]) {
        var answer: [UInt8] = []
        var count = 0
        for byte in bytes {
            guard progress == .open else { break }
            count += 1
            if sawNothingYet {
                sawNothingYet = false
                guard byte == 0 else {
                    progress = .shut("it began with the byte \(byte) instead of a zero")
                    break
                }
                continue
            }
            line.append(byte)
            if line.count >= 2 && line.suffix(2) == [13, 10] {
                if let word = read(line.dropLast(2)) { answer += Array(word.utf8) + [13, 10] }
                line = []
            } else if line.count >= Self.lineBytesMax {
                progress = .shut("a line of its authentication has more than \(Self.lineBytesMax) bytes")
            }
        }
        return (count, answer)
    }

    /// - Returns: the line's answer.
    private mutating func read(_ line: ArraySlice<UInt8>) -> String? {
        lines += 1
        guard lines <= Self.linesMax else {
            progress = .shut("its authentication has more than \(Self.linesMax) lines")
            return nil
        }
        guard case .server(let user) = role else {
            readAnswer(String(decoding: line, as: UTF8.self))
            return nil
        }
        let space = line.firstIndex(of: 32)
        // After one space, as libsystemd has it.
        let argument = space.map { line[($0 + 1)...] }
        switch String(decoding: line[..<(space ?? line.endIndex)], as: UTF8.self) {
        case "BEGIN" where argument == nil && isAccepted:
            progress = .begun
            return nil
        case "NEGOTIATE_UNIX_FD" where argument == nil && isAccepted:
            passesDescriptors = true
            return "AGREE_UNIX_FD"
        case "CANCEL" where argument == nil, "ERROR": return reject()
        case "AUTH":
            let words = argument?.split(separator: 32, maxSplits: 1, omittingEmptySubsequences: false) ?? []
            let mechanism = String(decoding: words.first ?? [], as: UTF8.self)
            // The mechanisms that libsystemd lists. What held before holds on.
            guard ["EXTERNAL", "ANONYMOUS"].contains(mechanism) else { return "REJECTED EXTERNAL ANONYMOUS" }
            let token = words.count > 1 ? words[1] : nil
            guard mechanism == "EXTERNAL", Self.names(token, user) else { return reject() }
            isAccepted = true
            return token == nil ? "DATA" : "OK \(Self.ownID)"
        case "DATA" where isAccepted: return Self.names(argument, user) ? "OK \(Self.ownID)" : reject()
        default: return "ERROR"
        }
    }

    /// `CANCEL` is answered with `REJECTED`, and takes back what held.
    private mutating func reject() -> String {
        isAccepted = false
        return "REJECTED"
    }

    /// A server's answer to the next line of the `greeting`: `DATA`, for which old ones have `OK`, then `OK`, then whether
    /// descriptors are passed.
    private mutating func readAnswer(_ line: String) {
        let id = line.hasPrefix("OK ") && line.utf8.count == 35 ? String(line.dropFirst(3)) : nil
        switch lines {
        case 1 where line == "DATA" || id != nil: break
        case 2 where id != nil: break
        case 3:
            passesDescriptors = line == "AGREE_UNIX_FD"
            progress = .begun
        default: progress = .shut("it is not let in")
        }
    }

    /// Whether a token, in hexadecimal digits, names the peer's user. No token at all leaves it to the kernel.
    private static func names(_ token: ArraySlice<UInt8>?, _ user: [UInt8]) -> Bool {
        guard let token, !user.isEmpty else { return true }
        guard token.count == user.count * 2 else { return false }
        var digits = token.makeIterator()
        for byte in user {
            guard let high = digits.next().flatMap(value), let low = digits.next().flatMap(value),
                high << 4 | low == byte
            else { return false }
        }
        return true
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
