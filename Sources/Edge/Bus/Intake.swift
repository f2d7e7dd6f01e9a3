import CLinux
import Glibc
package import System

/// Looks at what an untrusted peer sends, before libsystemd reads it.
///
///     looked at: the authentication ──▶ gate ──────────────────▶ feed ──▶ libsystemd
///                a message, or a piece of one ──▶ framer ──────▶
///                something with descriptors ──▶ keeper, envelopes ▶
///
/// Whether descriptors come along, how long a message is, whether it is time for messages at all: all is known before a
/// byte is taken. So no file of the peer's comes into this process, and none is dropped by it either, which may wait as
/// closing does. libsystemd never reads the peer's socket itself, not even one message that was looked at: it would
/// drop a malformed one and read on. Until a message is whole nothing but its length's worth of memory is taken, and what
/// the peer has sent beyond it stays in the kernel, on its account.
package final class Intake {
    /// How long a message may take from its first byte to its last, in nanoseconds. A peer that sends one in pieces
    /// does so within milliseconds; a slow machine deserves some more.
    package static let wholeTimeMax: Int64 = 10_000_000_000
    /// The same, where it brought descriptors, which others need meanwhile.
    static let wholeTimeMaxWithDescriptors: Int64 = 1_000_000_000
    /// Bytes looked at for the beginning of a message: nearly every one of ours is shorter.
    private static let lookBytes = 2048

    package enum Reading {
        case nothing
        /// Something is in the feed. `isWhole`: it completes a message. `isAll`: it was all that had arrived.
        case fed(isWhole: Bool, isAll: Bool)
        case atKeeper
        /// A message has come that brought more descriptors than one may: none of it is in the feed, and nothing is left of it.
        case refused(Refused)
        case over(BusConnection.End)
    }

    private let socket: Int32
    private let feed: Feed
    private let user: UInt32
    private let keepers: DescriptorKeepers?
    /// Nil once messages come.
    private var gate: AuthenticationGate?
    private var framer = MessageFramer()
    private(set) var isAtKeeper = false
    /// Bytes that the present message is to have, while it is not whole.
    private var held = 0
    private var taken: Taken?
    /// What the present message brought, until it has arrived.
    private var passed: [PassedDescriptor] = []
    /// The present message, where nothing of it is fed.
    private var refused: Refused?
    /// When the message of which something was read has to be whole; nil between messages.
    package private(set) var wholeBy: Int64?
    /// Called when a keeper has read, with why the connection is over, if it is.
    var whenRead: (BusConnection.End?) -> Void = { _ in }

    private struct Taken {
        var bytes: [UInt8]
        var passed: [PassedDescriptor]
        var next: State
        /// It brought so many descriptors that none was kept.
        var tooMany: Int?
    }

    /// A message that libsystemd never sees, since its header names descriptors that are not here.
    package struct Refused {
        let descriptors: Int
        /// As much of it as has come, to its end.
        fileprivate(set) var header: [UInt8] = []

        /// What an answer to it has to name; nil where it wants none.
        var serial: UInt32? {
            // A call (1), without the flag by which it wants no answer (1).
            guard header.count == MessageFramer.headerBytes, header[1] == 1, header[2] & 1 == 0 else { return nil }
            let raw = header.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 8, as: UInt32.self) }
            return header[0] == UInt8(ascii: "l") ? UInt32(littleEndian: raw) : UInt32(bigEndian: raw)
        }
    }

    /// - Parameter socket: the peer's, which is looked at here and nowhere else. Taken over.
    /// - Parameter keepers: nil where no peer passes descriptors; one that does is disconnected.
    package init(socket: Int32, feed: Feed, user: UInt32, keepers: DescriptorKeepers?) {
        self.socket = socket
        self.feed = feed
        self.user = user
        self.keepers = keepers
        gate = AuthenticationGate(user: user)
        _ = camarb_intake_keep_in_line(socket)
    }

    deinit {
        if held > 0 { _ = feed.hold(-held, of: user) }
        if let keepers { keepers.close(socket, user: user) } else { close(socket) }
    }

    /// What libsystemd is to read next.
    package func read(into buffer: UnsafeMutableRawBufferPointer) -> Reading {
        if isAtKeeper { return .atKeeper }
        if let taken {
            self.taken = nil
            if let count = taken.tooMany { refused = Refused(descriptors: count) }
            return taken.bytes.withUnsafeBytes { put($0, taken.passed, taken.next) }
        }
        var carries: Int32 = 0
        let isMessage = gate == nil
        let isBeginning = isMessage && framer.isBetween
        let capacity = isMessage && !isBeginning ? buffer.count : min(Self.lookBytes, buffer.count)
        let seen = camarb_intake_look(socket, buffer.baseAddress, capacity, &carries)
        if seen == -Int(EAGAIN) { return .nothing }
        // Whatever it was that ended it: there is nobody to tell.
        guard seen > 0 else { return .over(.disconnected) }
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<seen])
        var next = State(gate: gate, framer: framer)
        let count: Int
        let rewritten: [UInt8]?
        do throws(Unfit) { (count, rewritten) = try next.take(bytes) } catch { return .over(error.end) }
        if carries != 0 { return hand(count, isBeginning: isBeginning, rewritten ?? Array(bytes.prefix(count)), next) }
        if isBeginning { passed = [] }
        let taken = camarb_intake_take(socket, buffer.baseAddress, count)
        guard taken == count else { return .over(.fault(SystemFault("read a message", Int32(min(taken, 0))))) }
        if let rewritten { return rewritten.withUnsafeBytes { put($0, [], next) } }
        return put(UnsafeRawBufferPointer(rebasing: bytes[..<count]), [], next, isAll: count == seen)
    }

    /// After libsystemd has read what was fed, or would not.
    package func clear(_ buffer: UnsafeMutableRawBufferPointer) { feed.clear(buffer) }

    /// What the message that has just arrived brought. Once: what nobody keeps is let go of with it.
    func takePassed() -> [PassedDescriptor] {
        if passed.isEmpty { return [] }
        defer { passed = [] }
        return passed
    }

    // MARK: By way of a keeper

    private func hand(_ count: Int, isBeginning: Bool, _ bytes: [UInt8], _ next: State) -> Reading {
        guard let keepers else { return .over(.unfit("it passed a descriptor, and none is taken here")) }
        isAtKeeper = true
        keepers.take(count, isBeginning: isBeginning, from: socket, user: user) { [weak self] answer in
            self?.keeperRead(answer, isBeginning, bytes, next)
        }
        return .atKeeper
    }

    private func keeperRead(_ answer: DescriptorKeepers.Answer, _ isBeginning: Bool, _ bytes: [UInt8], _ next: State) {
        isAtKeeper = false
        switch answer {
        case .refused(let why): whenRead(.unfit(why))
        case .taken(let brought):
            if isBeginning { passed = brought }
            taken = Taken(bytes: bytes, passed: brought, next: next)
            whenRead(nil)
        case .tooMany(let count):
            passed = []
            taken = Taken(bytes: bytes, passed: [], next: next, tooMany: count)
            whenRead(nil)
        }
    }

    // MARK: Feeding

    private func put(
        _ bytes: UnsafeRawBufferPointer, _ brought: [PassedDescriptor], _ next: State, isAll: Bool = false
    ) -> Reading {
        gate = next.gate
        framer = next.framer
        if let refused { return passOver(bytes, refused) }
        let change = framer.unfinishedBytes - held
        held += change
        guard change == 0 || feed.hold(change, of: user) else {
            return .over(.unfit("user \(user) has begun more messages than there is room for until they are whole"))
        }
        // Nothing else is in there: there is room.
        let result = feed.put(bytes, brought.map(\.number))
        for descriptor in brought { descriptor.wasPassedOn() }
        guard result == 0 else { return .over(.fault(SystemFault("hand on a message", result))) }
        setWholeBy(brought.isEmpty ? Self.wholeTimeMax : Self.wholeTimeMaxWithDescriptors)
        return .fed(isWhole: gate == nil && framer.isBetween, isAll: isAll)
    }

    private func passOver(_ bytes: UnsafeRawBufferPointer, _ message: Refused) -> Reading {
        var message = message
        message.header += bytes.prefix(MessageFramer.headerBytes - message.header.count)
        setWholeBy(Self.wholeTimeMaxWithDescriptors)
        refused = framer.isBetween ? nil : message
        return framer.isBetween ? .refused(message) : .fed(isWhole: false, isAll: false)
    }

    private func setWholeBy(_ time: Int64) {
        if gate != nil || framer.isBetween {
            wholeBy = nil
        } else if wholeBy == nil {
            wholeBy = EventLoop.now + time
        }
    }

    private struct State {
        var gate: AuthenticationGate?
        var framer: MessageFramer

        /// What is to be taken of the bytes, and what is handed on in their place, where that is not the same.
        mutating func take(_ bytes: UnsafeRawBufferPointer) throws(Unfit) -> (Int, [UInt8]?) {
            guard var open = gate else {
                do throws(MessageFramer.Fault) { return (try framer.take(bytes), nil) } catch {
                    switch error {
                    case .order(let byte):
                        throw Unfit(
                            end: .unfit("it began a message with the byte \(byte), which no D-Bus message does"))
                    case .tooShort: throw Unfit(end: .unfit("it sent a message without header fields"))
                    case .tooLong(let count): throw Unfit(end: .messageTooLong(bytes: count))
                    }
                }
            }
            let (count, rewritten) = open.take(bytes)
            switch open.progress {
            case .open: gate = open
            case .begun: gate = nil
            case .shut(let why): throw Unfit(end: .unfit(why))
            }
            return (count, rewritten)
        }
    }

    private struct Unfit: Error { var end: BusConnection.End }
}

/// The socket pair by which the intakes of a loop hand libsystemd what they have looked at.
///
/// All of a loop's connections share it. Something is in it only while one of them reads, and what that one leaves is thrown
/// away: nobody else may ever find it.
package final class Feed {
    /// What libsystemd reads, under a number of each connection's own.
    private let outlet: Int32
    private let inlet: Int32
    /// Bytes of messages that are not whole, by user and in all: libsystemd takes the memory for all of a message with its
    /// first bytes.
    private var halves: [UInt32: Int] = [:]
    private var inAll = 0
    /// Of what the others have left of it, a user gets at most half. One connection needs at most
    /// `MessageFramer.messageBytesMax`.
    package static let halvesMax = 16 * 1024 * 1024

    package init() throws(SystemFault) {
        var ends: [Int32] = [-1, -1]
        try check(camarb_unix_pair(&ends), "make a socket for what is read")
        (outlet, inlet) = (ends[0], ends[1])
    }

    deinit {
        close(outlet)
        close(inlet)
    }

    /// Another number for what libsystemd reads. The caller's.
    func newOutlet() throws(SystemFault) -> Int32 {
        let number = camarb_duplicate(outlet)
        try check(number, "start a connection")
        return number
    }

    /// - Returns: 0 or -errno. The descriptors stay the caller's.
    func put(_ bytes: UnsafeRawBufferPointer, _ descriptors: [Int32]) -> Int32 {
        bytes.isEmpty ? 0 : camarb_pass(inlet, bytes.baseAddress, bytes.count, descriptors, descriptors.count)
    }

    /// Takes up bytes for a message that is not whole yet, or gives them back. False: there is no room for more.
    package func hold(_ more: Int, of user: UInt32) -> Bool {
        let own = halves[user, default: 0] + more
        inAll += more
        halves[user] = own > 0 ? own : nil
        return more <= 0 || user == 0 || own <= (Self.halvesMax - (inAll - own)) / 2
    }

    /// Throws away what was left. Descriptors among it are envelopes, which somebody else has too.
    func clear(_ buffer: UnsafeMutableRawBufferPointer) {
        while camarb_unread_bytes(outlet) > 0, camarb_intake_take(outlet, buffer.baseAddress, buffer.count) > 0 {}
    }
}
