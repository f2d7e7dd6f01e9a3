import CLinux
import Glibc

package enum FileFault: Error, Hashable {
    case system(Int32)
    /// The descriptor is no file that can be written to.
    case unsuitable
    /// It did not answer in time: its process was given up, and may hang for ever.
    case stuck
    /// So many files hang already that no further one is begun.
    case tooManyStuck
    /// Its process has ended, or could not be started.
    case gone
    case sizeLimit

    var isFull: Bool { if case .system(let code) = self { [ENOSPC, EDQUOT, EFBIG].contains(code) } else { false } }

    var words: String {
        switch self {
        case .system(let code): "system error \(code)"
        case .unsuitable: "it is not a regular file that is open for writing, and not for appending"
        case .stuck: "it did not answer within \(FileWriter.answerTimeMax / 1_000_000_000) s"
        case .tooManyStuck: "\(FileWriters.stuckMax) files hang already, the most there may be; free one of them first"
        case .gone: "the process that writes it has ended"
        case .sizeLimit: "it is as large as it may be"
        }
    }
}

/// One photo's or recording's file, written by a process of its own (`camwriter`): a file that hangs takes that process
/// with it, and nothing of this one. A file that is opened again, to be completed, can also be read.
///
/// Orders are queued, sent as the process takes them, and answered where an answer is wanted. Its callers bound the queue: a
/// recording waits for each frame's answer, a photo is one order.
/// Threading: the thread of its house only.
package final class FileWriter {
    /// How long the process may take over its orders, in nanoseconds. A disk that hesitates for longer is behind by more frames
    /// than a recording may queue (`RecordingTicket.queuedBytesMax`).
    package static let answerTimeMax: Int64 = 2_000_000_000

    /// To poll for `events` while something is due.
    let descriptor: Int32
    private let process: Int32
    private let house: FileWriters

    /// The first has the envelope with it.
    private var packets: [(bytes: [UInt8], passed: Int32)] = []
    private var answersDue = 0
    /// Of the last answer.
    private var value: Int64 = 0
    private var bytesRead: [UInt8] = []
    /// The first failure since the last `takeFault`, of an answer or for want of one.
    private var fault: FileFault?
    /// No more orders are taken: it hangs, or has ended.
    private(set) var isLost = false
    /// When it last took or answered something while something was due.
    private var lastProgress: Int64

    /// - Parameter descriptor: the socket's end, the writer's from here on, as the envelope with the file is.
    init(_ descriptor: Int32, process: Int32, envelope: Int32, again: Bool, in house: FileWriters) {
        (self.descriptor, self.process, self.house) = (descriptor, process, house)
        let kind = again ? camarb_writer_open_again : camarb_writer_open
        packets = [(Self.order(kind, 0, [UInt8]()), envelope)]
        lastProgress = house.now()
    }

    /// Queued orders are carried out; then the process ends by itself.
    deinit {
        for packet in packets where packet.passed >= 0 { close(packet.passed) }
        close(descriptor)
        house.hasLet(process, kill: isLost)
    }

    package func put(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        for start in stride(from: 0, to: bytes.count, by: Int(CAMARB_WRITER_PART_MAX)) {
            add(camarb_writer_put, offset + Int64(start), bytes[start...].prefix(Int(CAMARB_WRITER_PART_MAX)))
        }
    }

    package func truncate(to offset: Int64) { add(camarb_writer_truncate, offset, [UInt8]()) }

    /// Waits for bytes of a file that was opened again; fewer come at its end.
    /// - Parameter count: at most `CAMARB_WRITER_READ_MAX`.
    package func read(_ count: Int, at offset: Int64) throws(FileFault) -> [UInt8] {
        bytesRead = []
        add(camarb_writer_read, offset, withUnsafeBytes(of: UInt32(count)) { Array($0) })
        _ = try answer()
        return bytesRead
    }

    /// Waits for how many bytes may still be written where the file lies.
    func freeBytes() throws(FileFault) -> Int64 {
        add(camarb_writer_free, 0, [UInt8]())
        return try answer()
    }

    /// Waits until a file that is opened again is open: its size in bytes.
    package func openedAgain() throws(FileFault) -> Int64 { try answer() }

    private func answer() throws(FileFault) -> Int64 {
        wantAnswer()
        if let fault = settle() { throw fault }
        return value
    }

    /// The last order so far is answered when all up to it is done.
    package func wantAnswer() {
        guard !isLost else { return }
        // Once everything is sent, an order that changes nothing carries the question.
        if packets.isEmpty { add(camarb_writer_put, 0, [UInt8]()) }
        packets[packets.count - 1].bytes.withUnsafeMutableBytes {
            $0.storeBytes(of: 1, toByteOffset: MemoryLayout<UInt32>.size, as: UInt32.self)
        }
        answersDue += 1
    }

    private func add(_ kind: camarb_writer_kind, _ offset: Int64, _ data: some Collection<UInt8>) {
        guard !isLost else { return }
        if isSettled { lastProgress = house.now() }
        packets.append((Self.order(kind, UInt64(offset), data), -1))
    }

    private static func order(_ kind: camarb_writer_kind, _ offset: UInt64, _ data: some Collection<UInt8>) -> [UInt8] {
        let head = camarb_writer_order(kind: kind.rawValue, wants_answer: 0, offset: offset)
        return withUnsafeBytes(of: head) { Array($0) } + data
    }

    /// Everything was sent, and every answer came.
    var isSettled: Bool { isLost || packets.isEmpty && answersDue == 0 }
    var events: Int16 { Int16(packets.isEmpty ? POLLIN : POLLIN | POLLOUT) }
    /// When it is given up, on the monotonic clock in nanoseconds.
    var deadline: Int64 { lastProgress + house.answerTimeMax }

    /// Sends and receives as far as it can without waiting, and gives the process up at its deadline.
    func turn() {
        guard !isSettled else { return }
        var sent = 0
        while sent < packets.count {
            let packet = packets[sent]
            let result = camarb_packet_send(descriptor, packet.bytes, packet.bytes.count, packet.passed)
            if result == -EAGAIN { break }
            guard result == 0 else { return lose(.gone) }
            if packet.passed >= 0 {
                close(packet.passed)
                packets[sent].passed = -1
            }
            sent += 1
        }
        packets.removeFirst(sent)
        var hasProgressed = sent > 0
        while answersDue > 0 {
            let head = MemoryLayout<camarb_writer_answer>.size
            var packet = [UInt8](repeating: 0, count: head + Int(CAMARB_WRITER_READ_MAX))
            var passed: Int32 = -1
            let count = camarb_packet_receive(descriptor, &packet, packet.count, &passed, 0)
            if passed >= 0 { close(passed) }
            if count == -Int(EAGAIN) { break }
            guard count >= head else { return lose(.gone) }
            let answer = packet.withUnsafeBytes { $0.loadUnaligned(as: camarb_writer_answer.self) }
            answersDue -= 1
            hasProgressed = true
            (value, bytesRead) = (answer.value, Array(packet[head..<count]))
            if answer.error != 0 { fault = fault ?? (answer.is_unsuitable != 0 ? .unsuitable : .system(answer.error)) }
        }
        let now = house.now()
        if hasProgressed { lastProgress = now } else if now >= deadline { lose(.stuck) }
    }

    /// Waits until everything is answered, or it is given up. Returns the first failure, if any.
    package func settle() -> FileFault? {
        turn()
        while !isSettled {
            var waited = pollfd(fd: descriptor, events: events, revents: 0)
            _ = camarb_poll(&waited, 1, max(0, deadline - house.now()))
            turn()
        }
        return takeFault()
    }

    /// The first failure since the last call, if any; for ever where the process is lost.
    func takeFault() -> FileFault? {
        defer { if !isLost { fault = nil } }
        return fault
    }

    private func lose(_ why: FileFault) {
        fault = fault ?? why
        isLost = true
        for packet in packets where packet.passed >= 0 { close(packet.passed) }
        (packets, answersDue) = ([], 0)
    }
}
