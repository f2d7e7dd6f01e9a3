import Bus
import BusTesting
import CLinux
import Glibc
import System
import Testing

/// A stranger of some user before an intake, whose bytes are written by hand.
private final class Sender {
    private let intake: Intake
    private let socket: Int32
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 * 1024, alignment: 16)

    /// It has authenticated.
    init(_ room: HeldBytes, user: UInt32) throws {
        let (a, b) = try socketPair()
        intake = Intake(
            socket: a, gate: AuthenticationGate(user: user), peer: .stranger(user: user, keepers: nil, room))
        socket = b
        #expect(try say(RawWords.hello(of: user)) == nil)
    }

    deinit {
        close(socket)
        buffer.deallocate()
    }

    var wholeBy: Int64? { intake.wholeBy }

    /// - Returns: how the connection ended over these bytes; nil: it goes on.
    func say(_ bytes: [UInt8]) throws -> BusConnection.End? {
        try #require(camarb_pass(socket, bytes, bytes.count, [], 0) == 0)
        while true {
            switch intake.next(in: buffer) {
            case .nothing: return nil
            case .over(let end): return end
            case .part, .begun, .message: continue
            case .atKeeper, .refused:
                Issue.record("nothing was passed, and a keeper reads")
                return nil
            }
        }
    }

    /// The same, for bytes that come in such pieces, up to the first that ends it.
    func say(_ pieces: [[UInt8]]) throws -> BusConnection.End? {
        for piece in pieces { if let end = try say(piece) { return end } }
        return nil
    }
}

/// The memory of messages that are not whole: as much as they announce, by user and in all.
@Suite struct HeldBytesTests {
    private static let longest = MessageFramer.messageBytesMax
    private static let user: UInt32 = 7
    private static let refusal = BusConnection.End.unfit(
        "user 7 has begun more messages than there is room for until they are whole")

    /// A message as long as any may be; its header has sixteen bytes.
    private static let message: [UInt8] = {
        let body = withUnsafeBytes(of: UInt32(longest - 24).littleEndian) { Array($0) }
        let header = [UInt8(ascii: "l"), 1, 0, 1] + body + [1, 0, 0, 0, 8, 0, 0, 0]
        return header + [UInt8](repeating: 7, count: longest - 16)
    }()

    /// Bytes in pieces that come one after the other.
    private static func pieces(from begin: Int, by step: Int) -> [[UInt8]] {
        stride(from: begin, to: longest, by: step).map { Array(message[$0..<min($0 + step, longest)]) }
    }

    @Test("A user gets half of what the others have left, and again what it gave back; root is not bound, and counts")
    func halves() throws {
        let room = HeldBytes()
        let half = HeldBytes.bytesMax / 2
        /// How much more a user gets, to the byte.
        func roomLeft(of user: UInt32) -> Int {
            var (low, high) = (0, HeldBytes.bytesMax)
            while low < high {
                let middle = (low + high + 1) / 2
                // Also what is refused is taken up, until it is given back.
                if room.hold(middle, of: user) { low = middle } else { high = middle - 1 }
                #expect(room.hold(-middle, of: user))
            }
            return low
        }
        #expect(roomLeft(of: 1) == half && roomLeft(of: 2) == half)
        #expect(room.hold(half, of: 1))
        #expect(roomLeft(of: 1) == 0 && roomLeft(of: 2) == half / 2)
        #expect(room.hold(-1000, of: 1))
        #expect(roomLeft(of: 1) == 1000 && roomLeft(of: 2) == (half + 1000) / 2)
        #expect(room.hold(HeldBytes.bytesMax, of: 0))
        #expect(roomLeft(of: 1) == 0 && roomLeft(of: 2) == 0)
        #expect(room.hold(-HeldBytes.bytesMax, of: 0) && room.hold(1000 - half, of: 1))
        #expect(roomLeft(of: 1) == half && roomLeft(of: 2) == half)
    }

    @Test(
        "As many of the longest messages as a user's half has room for may be begun, however their headers are cut",
        arguments: [[16], [1, 16], [8, 16], [15, 16], [20], [15, 17], Array(1...16)])
    func headersInPieces(ends: [Int]) throws {
        let room = HeldBytes()
        let pieces = zip([0] + ends, ends).map { Array(Self.message[$0..<$1]) }
        let most = HeldBytes.bytesMax / 2 / Self.longest
        var senders: [Sender] = []
        for _ in 0..<most {
            let sender = try Sender(room, user: Self.user)
            #expect(try sender.say(pieces) == nil)
            senders.append(sender)
        }
        #expect(try Sender(room, user: Self.user).say(pieces) == Self.refusal)
        // A sender that goes makes room for one.
        senders[most - 1] = try Sender(room, user: Self.user)
        #expect(try senders[most - 1].say(pieces) == nil)
        #expect(try Sender(room, user: Self.user).say(pieces) == Self.refusal)
        // And so does one that ends its message, in as many pieces as it likes.
        let already = try #require(ends.last)
        #expect(try senders[0].say(Self.pieces(from: already, by: 50_000)) == nil)
        #expect(senders[0].wholeBy == nil)
        senders.append(try Sender(room, user: Self.user))
        #expect(try senders.last?.say(pieces) == nil)
        #expect(try senders[0].say(pieces) == Self.refusal)
        // Another user has its own half of what is left.
        #expect(try Sender(room, user: 8).say(pieces) == nil)
    }

    @Test("A message has its time from its first byte on, not from its last; one that is whole has none")
    func timeToBeWhole() throws {
        let sender = try Sender(HeldBytes(), user: Self.user)
        for _ in 0..<2 {
            #expect(sender.wholeBy == nil)
            let before = EventLoop.now
            #expect(try sender.say(Array(Self.message[..<1])) == nil)
            let until = try #require(sender.wholeBy)
            #expect((before...EventLoop.now).contains(until - Intake.wholeTimeMax))
            for piece in Self.pieces(from: 1, by: 30_000) {
                #expect(sender.wholeBy == until)
                #expect(try sender.say(piece) == nil)
            }
        }
        #expect(sender.wholeBy == nil)
    }
}
