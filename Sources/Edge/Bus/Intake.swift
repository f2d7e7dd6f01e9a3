import CLinux
import Glibc
import System

/// A connection's reading: the authentication, then one message after the other.
///
///     stranger: looked at ──▶ gate, or framer ──────────────▶ message; what it was made of is taken
///               something with descriptors ──▶ keeper, envelopes ──▶ message
///     trusted:  received, descriptors and all ──▶ gate, or framer ──▶ message
///     bus:      as a stranger, but for answers, whose descriptors are received; a message that is too long is passed over
///
/// Of a stranger, whether descriptors come along, how long a message is, whether it is time for messages at all: all is
/// known before a byte is taken. So no file of the peer's comes into this process, and none is dropped by it either, which
/// may wait as closing does. Until a message is whole nothing but its length's worth of memory is taken, and what the peer
/// has sent beyond it stays in the kernel, on its account.
package final class Intake {
    /// How long a message may take from its first byte to its last, in nanoseconds. A peer that sends one in pieces
    /// does so within milliseconds; a slow machine deserves some more.
    package static let wholeTimeMax: Int64 = 10_000_000_000
    /// The same, where it brought descriptors, which others need meanwhile.
    static let wholeTimeMaxWithDescriptors: Int64 = 1_000_000_000
    /// Bytes looked at for the beginning of a message: nearly every one of ours is shorter.
    private static let lookBytes = 2048
    /// Descriptors of a trusted peer that no message has claimed yet: as many as the kernel passes with one.
    private static let unclaimedMax = 253

    private let socket: Int32
    private let peer: Peer
    /// A message bus, which passes strangers' messages on: calls and signals are theirs, answers are to calls of our own.
    private let isBus: Bool
    /// `nil` once messages come.
    private var gate: AuthenticationGate?
    private var framer: MessageFramer
    private(set) var isAtKeeper = false
    /// Where in the buffer bytes lie that were seen and not read yet.
    private var window = 0..<0
    /// Bytes before the window that a stranger's socket still has.
    private var read = 0
    /// The window is all that there was.
    private var isAllSeen = false
    /// The window between two turns, where the socket does not have its bytes any more.
    private var left: [UInt8] = []
    /// The present message, while it is not whole.
    private var partial: [UInt8] = []
    /// Bytes that the present message is to have, while it is not whole.
    private var held = 0
    private var taken: Taken?
    /// The present message's descriptors, where a stranger sent it.
    private var passed: [PassedDescriptor] = []
    /// Descriptors of a trusted peer, in their order.
    private var unclaimed: [Int32] = []
    /// The present message, where it is not read.
    private var refused: Refused?
    /// When the message of which something was read has to be whole; `nil` between messages.
    package private(set) var wholeBy: Int64?
    /// Called when a keeper has read, with why the connection is over, if it is.
    var whenRead: (BusConnection.End?) -> Void = { _ in }

    private struct Taken {
        var bytes: [UInt8]
        var passed: [PassedDescriptor]
        /// It brought so many descriptors that none was kept.
        var tooMany: Int?
    }

    /// - Parameter socket: the peer's, which is read here and nowhere else. Taken over.
    /// - Parameter isBus: the stranger is a message bus.
    package init(socket: Int32, gate: AuthenticationGate, peer: Peer, isBus: Bool = false) {
        (self.socket, self.gate, self.peer, self.isBus) = (socket, gate, peer, isBus)
        switch peer {
        case .stranger:
            framer = MessageFramer()
            _ = camarb_intake_keep_in_line(socket)
        case .trusted: framer = MessageFramer(bytesMax: MessageFramer.trustedBytesMax)
        }
    }

    deinit {
        for descriptor in unclaimed { Glibc.close(descriptor) }
        guard case .stranger(let user, let keepers, let room) = peer else {
            _ = Glibc.close(socket)
            return
        }
        if held > 0 { _ = room.hold(-held, of: user) }
        if let keepers { keepers.close(socket, user: user) } else { Glibc.close(socket) }
    }

    /// A trusted peer's bound on one message, header and body together.
    var bytesMax: Int {
        get { framer.bytesMax }
        set { framer.bytesMax = newValue }
    }

    /// Reads on. Before the buffer is another connection's, `rest` is called.
    package func next(in buffer: UnsafeMutableRawBufferPointer) -> Reading {
        if isAtKeeper { return .atKeeper }
        if let taken {
            self.taken = nil
            if let count = taken.tooMany { refused = Refused(descriptors: count) }
            return taken.bytes.withUnsafeBytes { bytes in
                if gate != nil { return authenticate(bytes).0 }
                let (count, end) = frame(bytes)
                return end.map { .over($0) } ?? put(bytes, count, broughtSome: !taken.passed.isEmpty)
            }
        }
        if window.isEmpty {
            if let end = rest(buffer) { return .over(end) }
            if let other = see(buffer) { return other }
        }
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[window])
        if gate != nil {
            let (reading, count) = authenticate(bytes)
            pass(count)
            return reading
        }
        let before = framer
        let (count, end) = frame(bytes)
        if let end { return .over(end) }
        if !framer.isBetween && read > 0 {
            // Its end was not looked at: it is looked at from its beginning.
            framer = before
            window = 0..<0
            isAllSeen = false
            if let end = rest(buffer) { return .over(end) }
            return .part(answer: [])
        }
        pass(count)
        return put(bytes, count)
    }

    /// Leaves the buffer: of a stranger, what was read is taken from the socket, and no more.
    /// - Returns: why the connection is over, if it is.
    package func rest(_ buffer: UnsafeMutableRawBufferPointer) -> BusConnection.End? {
        defer { (window, read) = (0..<0, 0) }
        guard case .stranger = peer else {
            if !window.isEmpty { left = Array(buffer[window]) }
            return nil
        }
        if read == 0 { return nil }
        let count = camarb_intake_take(socket, buffer.baseAddress, read)
        return count == read ? nil : .fault(SystemFault("read a message", Int32(min(count, 0))))
    }

    private func pass(_ count: Int) {
        window = window.lowerBound + count..<window.upperBound
        if case .stranger = peer { read += count }
    }

    /// Fills the window.
    /// - Returns: what there is instead.
    private func see(_ buffer: UnsafeMutableRawBufferPointer) -> Reading? {
        let seen: Int
        switch peer {
        case .trusted:
            if !left.isEmpty {
                buffer.copyBytes(from: left)
                window = 0..<left.count
                left = []
                return nil
            }
            seen = receive(buffer)
            isAllSeen = seen < buffer.count && unclaimed.isEmpty
            if unclaimed.count > Self.unclaimedMax { return .over(.fault(SystemFault("read a message", EBADMSG))) }
        case .stranger:
            var carries: Int32 = 0
            let isBeginning = gate == nil && framer.isBetween
            let isInside = gate == nil && !isBeginning
            let capacity = isInside ? buffer.count : min(Self.lookBytes, buffer.count)
            seen = camarb_intake_look(socket, buffer.baseAddress, capacity, &carries)
            isAllSeen = seen < capacity
            if seen > 0 && carries != 0 { return hand(UnsafeRawBufferPointer(rebasing: buffer[..<seen]), isBeginning) }
        }
        if seen == -Int(EAGAIN) { return .nothing }
        // Whichever fault it was, nobody is left to be told.
        guard seen > 0 else { return .over(.disconnected) }
        window = 0..<seen
        return nil
    }

    private func receive(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: Self.unclaimedMax) { found in
            var count = 0
            let seen = camarb_receive_passed(
                socket, buffer.baseAddress, buffer.count, found.baseAddress, found.count, &count)
            if count > 0 { unclaimed += found[..<count] }
            return seen
        }
    }

    /// The message's descriptors were received here, and by no keeper.
    private var takesOwn: Bool { if case .trusted = peer { true } else { isBus && passed.isEmpty } }

    /// The descriptors of the message that has just arrived. Once: they are let go of with the message.
    /// - Parameter count: as many descriptors as its header says; of a stranger's message all are taken.
    /// - Returns: `nil`: it brought another number.
    func takeDescriptors(_ count: Int) -> (own: [Int32], passed: [PassedDescriptor])? {
        if takesOwn {
            guard count <= unclaimed.count else { return nil }
            if count == 0 { return ([], []) }
            defer { unclaimed.removeFirst(count) }
            return (Array(unclaimed.prefix(count)), [])
        }
        if passed.isEmpty { return count == 0 ? ([], []) : nil }
        let brought = passed
        passed = []
        return brought.count == count ? ([], brought) : nil
    }

    // MARK: By way of a keeper

    private func hand(_ bytes: UnsafeRawBufferPointer, _ isBeginning: Bool) -> Reading {
        guard case .stranger(let user, let keepers?, _) = peer else {
            return .over(.unfit("it passed a descriptor, and none is taken here"))
        }
        let count: Int
        if var open = gate {
            count = open.take(bytes).count
            if case .shut(let why) = open.progress { return .over(.unfit(why)) }
        } else {
            var ahead = framer
            do throws(MessageFramer.Fault) { count = try take(bytes, &ahead).count } catch {
                return .over(end(of: error))
            }
            if isBus && isBeginning && count > 1 && bytes[1] == BusMessage.Kind.answer.rawValue {
                return receiveAnswer(count)
            }
        }
        (isAtKeeper, isAllSeen) = (true, false)
        let copy = Array(bytes.prefix(count))
        keepers.take(count, isBeginning: isBeginning, from: socket, user: user) { [weak self] answer in
            self?.keeperRead(answer, isBeginning, copy)
        }
        return .atKeeper
    }

    /// An answer on a bus comes from whoever was called, and that is the bus itself or a service of the machine's.
    /// - Parameter count: the bytes of it that have arrived.
    private func receiveAnswer(_ count: Int) -> Reading {
        var bytes = [UInt8](repeating: 0, count: count)
        guard bytes.withUnsafeMutableBytes({ receive($0) }) == count else { return .over(.disconnected) }
        isAllSeen = false
        taken = Taken(bytes: bytes, passed: [])
        return .part(answer: [])
    }

    private func keeperRead(_ answer: DescriptorKeepers.Answer, _ isBeginning: Bool, _ bytes: [UInt8]) {
        isAtKeeper = false
        switch answer {
        case .refused(let why): return whenRead(.unfit(why))
        case .taken(let brought):
            if isBeginning { passed = brought }
            taken = Taken(bytes: bytes, passed: brought)
        case .tooMany(let count):
            passed = []
            taken = Taken(bytes: bytes, passed: [], tooMany: count)
        }
        whenRead(nil)
    }

    // MARK: Messages

    private func authenticate(_ bytes: UnsafeRawBufferPointer) -> (Reading, count: Int) {
        guard var open = gate else { return (.nothing, 0) }
        let (count, answer) = open.take(bytes)
        gate = open.progress == .begun ? nil : open
        switch open.progress {
        case .open: return (.part(answer: answer), count)
        case .begun: return (.begun(open, answer: answer), count)
        case .shut(let why):
            if case .stranger = peer { return (.over(.unfit(why)), count) }
            return (.over(.fault(SystemFault("read a message", EPERM))), count)
        }
    }

    private func frame(_ bytes: UnsafeRawBufferPointer) -> (count: Int, end: BusConnection.End?) {
        do throws(MessageFramer.Fault) {
            let (count, isTooLong) = try take(bytes, &framer)
            if isTooLong { refused = Refused(descriptors: 0) }
            return (count, nil)
        } catch { return (0, end(of: error)) }
    }

    /// - Returns: of a bus's message also that it is too long, since its sender is not the one who would be disconnected.
    private func take(
        _ bytes: UnsafeRawBufferPointer, _ framer: inout MessageFramer
    ) throws(MessageFramer.Fault) -> (count: Int, isTooLong: Bool) {
        do throws(MessageFramer.Fault) { return (try framer.take(bytes), false) } catch {
            guard isBus, case .tooLong = error else { throw error }
            let most = framer.bytesMax
            framer.bytesMax = MessageFramer.trustedBytesMax
            defer { framer.bytesMax = most }
            return (try framer.take(bytes), true)
        }
    }

    private func end(of fault: MessageFramer.Fault) -> BusConnection.End {
        guard case .stranger = peer else {
            if case .tooLong(let count) = fault { return .messageTooLong(bytes: count) }
            return .fault(SystemFault("read the beginning of a message", EBADMSG))
        }
        return switch fault {
        case .order(let byte): .unfit("it began a message with the byte \(byte), which no D-Bus message does")
        case .tooShort: .unfit("it sent a message without header fields")
        case .tooLong(let count): .messageTooLong(bytes: count)
        }
    }

    /// - Parameter count: so many of the bytes are the present message's.
    private func put(_ bytes: UnsafeRawBufferPointer, _ count: Int, broughtSome: Bool = false) -> Reading {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes[..<count])
        if let refused { return passOver(bytes, refused) }
        if case .stranger(let user, _, let room) = peer {
            // A bus begins one message at a time, whose own bound is enough.
            let change = isBus ? 0 : framer.unfinishedBytes - held
            held += change
            guard change == 0 || room.hold(change, of: user) else {
                return .over(.unfit("user \(user) has begun more messages than there is room for until they are whole"))
            }
            setWholeBy(broughtSome ? Self.wholeTimeMaxWithDescriptors : Self.wholeTimeMax)
        }
        let isAll = isAllSeen && window.isEmpty
        if framer.isBetween && partial.isEmpty { return .message(Array(bytes), isAll: isAll) }
        partial += bytes
        guard framer.isBetween else { return .part(answer: []) }
        defer { partial = [] }
        return .message(partial, isAll: isAll)
    }

    private func passOver(_ bytes: UnsafeRawBufferPointer, _ message: Refused) -> Reading {
        var message = message
        message.header += bytes.prefix(MessageFramer.headerBytes - message.header.count)
        setWholeBy(isBus ? Self.wholeTimeMax : Self.wholeTimeMaxWithDescriptors)
        refused = framer.isBetween ? nil : message
        // A bus would have an answer that names its receiver.
        return framer.isBetween && !isBus ? .refused(message) : .part(answer: [])
    }

    private func setWholeBy(_ time: Int64) {
        if framer.isBetween {
            wholeBy = nil
        } else if wholeBy == nil {
            wholeBy = EventLoop.now + time
        }
    }
}
