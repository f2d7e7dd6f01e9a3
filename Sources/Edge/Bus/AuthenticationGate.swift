/// What stands before libsystemd while a peer authenticates: it lets pass what a peer needs to say, each command written
/// anew, and nothing else.
///
///     NUL → lines, until BEGIN after an accepted EXTERNAL → messages
///
/// libsystemd asks the kernel for its peer's user, and would hear of this process's own socket pair: so it is told to
/// accept everybody, and the decision is made here. Only the mechanism EXTERNAL, and only the user that the kernel
/// names, in the words of the D-Bus specification ("Authentication Protocol"). Another user, another mechanism and
/// every mistake are answered by libsystemd as it always does: `REJECTED` or `ERROR`. Pure: bytes in, bytes out.
package struct AuthenticationGate {
    /// Bytes of one line; the longest that a peer needs has 34.
    package static let lineBytesMax = 1024
    /// Lines of one peer. GDBus, the most talkative, says four.
    package static let linesMax = 16
    /// Nanoseconds until BEGIN, which the connection counts. 5 s failed slow boots with dbus-daemon.
    package static let timeMax: Int64 = 10_000_000_000

    package enum Progress: Hashable {
        case open
        case begun
        /// It ends the connection; a sentence for the journal.
        case shut(String)
    }

    /// The peer's user in the one way of writing it: decimal, without leading zeros.
    private let user: [UInt8]
    private var sawNothingYet = true
    private var line: [UInt8] = []
    private var lines = 0
    /// libsystemd has been told of an EXTERNAL that holds.
    private var isAccepted = false
    package private(set) var progress = Progress.open

    package init(user: UInt32) { self.user = Array(String(user).utf8) }

    /// Takes what is the authentication's of these bytes: all of them, or as far as the line with BEGIN.
    package mutating func take(_ bytes: some Sequence<UInt8>) -> (count: Int, pass: [UInt8]) {
        var pass: [UInt8] = []
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
                pass.append(0)
                continue
            }
            line.append(byte)
            if line.count >= 2 && line.suffix(2) == [13, 10] {
                pass += answer(to: line.dropLast(2)) + [13, 10]
                line = []
            } else if line.count >= Self.lineBytesMax {
                progress = .shut("a line of its authentication has more than \(Self.lineBytesMax) bytes")
            }
        }
        return (count, pass)
    }

    /// What libsystemd reads in place of a line, without the line's end.
    private mutating func answer(to line: ArraySlice<UInt8>) -> [UInt8] {
        lines += 1
        guard lines <= Self.linesMax else {
            progress = .shut("its authentication has more than \(Self.linesMax) lines")
            return []
        }
        let space = line.firstIndex(of: 32)
        let command = line[..<(space ?? line.endIndex)]
        // Nil: there is none. After one space, as libsystemd has it.
        let argument = space.map { line[($0 + 1)...] }
        switch String(decoding: command, as: UTF8.self) {
        case "BEGIN" where argument == nil:
            if isAccepted { progress = .begun }
            return Array("BEGIN".utf8)
        case "NEGOTIATE_UNIX_FD" where argument == nil: return Array("NEGOTIATE_UNIX_FD".utf8)
        case "CANCEL" where argument == nil, "ERROR": return reject()
        case "AUTH":
            let words = argument?.split(separator: 32, maxSplits: 1, omittingEmptySubsequences: false) ?? []
            let mechanism = String(decoding: words.first ?? [], as: UTF8.self)
            // libsystemd says which mechanisms there are, and what held before holds on.
            guard ["EXTERNAL", "ANONYMOUS"].contains(mechanism) else { return Array("AUTH".utf8) }
            guard mechanism == "EXTERNAL", names(words.count > 1 ? words[1] : nil) else { return reject() }
            isAccepted = true
            return Array(line)
        case "DATA":
            guard isAccepted else { return Array("DATA".utf8) }
            guard names(argument) else { return reject() }
            return Array("DATA".utf8)
        default:
            // Whatever it was: libsystemd answers `ERROR` to a word that it does not know.
            return Array("UNKNOWN".utf8)
        }
    }

    /// `CANCEL` is answered with `REJECTED`, and takes back what held.
    private mutating func reject() -> [UInt8] {
        isAccepted = false
        return Array("CANCEL".utf8)
    }

    /// Whether a token, in hexadecimal digits, names the peer's user. No token at all leaves it to the kernel.
    private func names(_ token: ArraySlice<UInt8>?) -> Bool {
        guard let token else { return true }
        guard token.count == user.count * 2 else { return false }
        var digits = token.makeIterator()
        for byte in user {
            guard let high = digits.next().flatMap(Self.value), let low = digits.next().flatMap(Self.value),
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
