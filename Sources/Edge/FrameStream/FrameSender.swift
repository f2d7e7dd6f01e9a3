public import ArbiterProtocol
import CLinux
import Glibc

/// The recorder's end of one preview stream: a packet socket and its pool of buffers.
///
///     let index = sender.writable()          // a buffer the client does not have
///     … fill sender.memory(index) …
///     sender.deliver(index, sequence: …)     // sent now, or kept as the newest until the client catches up
///     sender.takeReleases()                  // whenever the descriptor is readable
///
/// Late frames are dropped and the newest is kept: at most `unreadMax` frames are with the client; a further one
/// waits here, and a newer one takes its place. A client that returns nothing loses frames and stalls nobody,
/// and one that returns what it does not have is cut off.
///
/// Threading: one thread at a time.
public final class FrameSender {
    /// The recorder's end, to poll for reading. -1 when closed.
    public private(set) var descriptor: Int32
    public var layout: PictureLayout { pool.layout }
    public private(set) var framesSent: UInt64 = 0
    public private(set) var framesDropped: UInt64 = 0

    /// Frames a client may have unreleased: one it works on, and the next. More would only be older.
    public static let unreadMax = 2

    private enum State: Hashable {
        case free
        /// Handed out by `writable()`, being filled.
        case writing
        /// With the client until it returns the index.
        case withClient
        /// The newest frame, to be sent as soon as the client returns one.
        case waiting
    }

    /// Called with each of a device's buffers that is free for it to fill again.
    public var onReturn: ((Int) -> Void)?
    /// Called with buffers that the stream no longer uses, to blank them at once; without it, it does so itself.
    public var onPoolFree: ((BufferPool) -> Void)?
    /// Its buffers are a device's own: nothing is copied into them.
    public var isLent: Bool { pool.isLent }

    public private(set) var pool: BufferPool
    private var states: [State]
    private var waiting: FrameRecord.Frame?
    /// Buffers of the pool that were announced to the client. Announcing stops where its socket is full.
    private var announced = 0
    /// The wire index of the pool's first buffer. It grows with each pool, so that a release of an old
    /// buffer that is still on its way cannot be taken for one of a new buffer.
    private var base = 0
    /// Buffers of earlier pools that the client may still return.
    private var staleReleasesMax = 0

    /// Makes the socket pair and the buffers. `clientEnd` is the caller's to pass on and close.
    public static func open(layout: PictureLayout) throws(FrameStreamFault) -> (sender: FrameSender, clientEnd: Int32) {
        try open(try BufferPool(layout: layout))
    }

    /// The same with buffers that are blank and nobody else's, or with a device's own, which go to the client as they are.
    public static func open(_ pool: BufferPool) throws(FrameStreamFault) -> (sender: FrameSender, clientEnd: Int32) {
        var (ours, theirs): (Int32, Int32) = (-1, -1)
        let made = camarb_packet_pair(&ours, &theirs)
        guard made == 0 else { throw FrameStreamFault("making a stream's sockets", code: -made) }
        return (FrameSender(adopting: ours, pool: pool), theirs)
    }

    init(adopting descriptor: Int32, pool: BufferPool) {
        (self.descriptor, self.pool) = (descriptor, pool)
        states = Array(repeating: .free, count: pool.count)
        announce()
    }

    deinit { close() }
    public var isOpen: Bool { descriptor >= 0 }

    /// A buffer to write the next frame into, or `nil` when the client has fallen behind so far that there is none:
    /// the frame is then dropped for this stream. Give it back through `deliver` or `discard`.
    public func writable() -> Int? {
        guard isOpen else { return nil }
        announce()
        guard !isLent, announced == pool.count, let index = states.firstIndex(of: .free) else {
            framesDropped += 1
            return nil
        }
        states[index] = .writing
        return index
    }

    public func memory(_ index: Int) -> UnsafeMutableRawBufferPointer { pool.memory(index) }

    /// Gives a buffer back without a frame.
    public func discard(_ index: Int) { states[index] = .free }

    /// Sends a buffer that its device has filled, or keeps it as the newest while the client has its share. It comes
    /// back by `onReturn`.
    /// - Returns: false when the buffer stays the device's. True also where the stream ended over it, and the buffer has come
    ///   back already.
    public func lend(_ index: Int, sequence: UInt64, timestamp: Int64, flags: FrameRecord.Flags) -> Bool {
        guard isOpen, isLent, states.indices.contains(index), states[index] == .free else { return false }
        announce()
        guard announced == pool.count else {
            framesDropped += 1
            return false
        }
        states[index] = .writing
        deliver(index, sequence: sequence, timestamp: timestamp, flags: flags)
        return true
    }

    /// Sends a filled buffer, or keeps it as the newest while the client has its share.
    public func deliver(_ index: Int, sequence: UInt64, timestamp: Int64, flags: FrameRecord.Flags) {
        guard isOpen else { return }
        precondition(states[index] == .writing, "only a buffer from writable() can be delivered")
        var frame = FrameRecord.Frame(
            index: UInt32(base + index), sequence: sequence, timestamp: timestamp, bytes: UInt64(layout.bytes),
            flags: flags)
        if let older = waiting {
            // A flag concerns all frames from here on, so the one that is sent carries it.
            if older.flags.contains(.configurationChanged) { frame.flags.insert(.configurationChanged) }
            waiting = nil
            framesDropped += 1
            free(Int(older.index) - base)
        }
        states[index] = .waiting
        waiting = frame
        sendWaiting()
    }

    /// Gives the stream other buffers, blank and nobody else's, or its own in another layout (`BufferPool.lay`); they are announced
    /// to the client, with indexes of their own. Then the old ones are blanked, and may hold new pictures afterwards: a client
    /// that has copied a picture, and has read of no other buffers yet, has a whole one.
    /// (Not where its socket is full, which takes a client that has read nothing for some forty changes.)
    public func replaceBuffers(by fresh: BufferPool) {
        let old = pool
        let lent = lentBuffers
        staleReleasesMax += states.count { $0 == .withClient }
        base += states.count
        pool = fresh
        states = Array(repeating: .free, count: fresh.count)
        waiting = nil
        announced = 0
        announce()
        for index in lent { onReturn?(index) }
        if fresh === old { fresh.erase() } else { letGo(of: old) }
    }

    /// Ends the stream: sends its end, closes the socket and blanks every buffer. Idempotent.
    public func close() {
        guard isOpen else { return }
        // The record is a courtesy: a client whose socket is full finds the end of the socket.
        _ = send(.end)
        Glibc.close(descriptor)
        descriptor = -1
        waiting = nil
        for index in lentBuffers { free(index) }
        letGo(of: pool)
    }

    private func letGo(of pool: BufferPool) {
        if let onPoolFree, !pool.isLent { onPoolFree(pool) } else { pool.blank() }
    }

    /// A device's buffers that are with the client, or wait to be.
    private var lentBuffers: [Int] {
        isLent ? states.indices.filter { states[$0] != .free && states[$0] != .writing } : []
    }

    private func free(_ index: Int) {
        states[index] = .free
        if isLent { onReturn?(index) }
    }

    private func sendWaiting() {
        guard isOpen, let frame = waiting else { return }
        guard states.count(where: { $0 == .withClient }) < Self.unreadMax else { return }
        switch send(.frame(frame)) {
        case 0:
            states[Int(frame.index) - base] = .withClient
            waiting = nil
            framesSent += 1
        case -EAGAIN: break
        default: close()
        }
    }

    private func announce() {
        while isOpen, announced < pool.count, let passed = pool.descriptor(announced) {
            let buffer = FrameRecord.Buffer(
                index: UInt32(base + announced), width: UInt32(layout.width), height: UInt32(layout.height),
                stride: UInt32(layout.stride), pixelFormat: layout.pixelFormat, bytes: UInt64(layout.bytes))
            switch send(.buffer(buffer), passing: passed) {
            case 0: announced += 1
            case -EAGAIN: return
            default: close()
            }
        }
    }

    private func send(_ record: FrameRecord, passing passed: Int32 = -1) -> Int32 {
        record.encode().withUnsafeBytes { camarb_packet_send(descriptor, $0.baseAddress, $0.count, passed) }
    }

    /// Takes buffers back from the client. Call it when the descriptor is readable.
    /// - Returns: false when the stream is over: the client closed it, or broke the protocol.
    public func takeReleases() -> Bool {
        // One more than there are buffers: an honest client cannot have sent more, and a flood is met in slices.
        for _ in 0...pool.count where isOpen {
            var bytes = [UInt8](repeating: 0, count: FrameRecord.encodedBytes)
            var passed: Int32 = -1
            let count = bytes.withUnsafeMutableBytes {
                camarb_packet_receive(descriptor, $0.baseAddress, $0.count, &passed, 0)
            }
            // Clients have nothing to pass to a recorder.
            if passed >= 0 { Glibc.close(passed) }
            if count == -Int(EAGAIN) { break }
            if count <= 0 || !takes(FrameRecord(decoding: bytes.prefix(count))) { close() }
        }
        sendWaiting()
        return isOpen
    }

    /// Takes a buffer back. Returns false for a record that no client sends.
    private func takes(_ record: FrameRecord?) -> Bool {
        guard case .release(let index)? = record else { return false }
        if Int(index) < base, staleReleasesMax > 0 {
            staleReleasesMax -= 1
            return true
        }
        let local = Int(index) - base
        guard states.indices.contains(local), states[local] == .withClient else { return false }
        free(local)
        return true
    }
}
