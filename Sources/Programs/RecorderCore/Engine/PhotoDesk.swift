import ArbiterProtocol
import CLinux
import Glibc

/// Photos on their way to their files: a few are written at a time, and none is waited for. Threading: the writer
/// thread only.
final class PhotoDesk {
    struct Order: Sendable {
        var envelope: Int32
        /// The whole file; none where the photo could not be made.
        var bytes: [UInt8]
        var captured: PhotoCaptured
    }

    private struct Writing {
        var captured: PhotoCaptured
        var writer: FileWriter
    }

    /// Photos that are written at the same time: each is a process and a JPEG in memory.
    static let atOnceMax = 8

    private let house: FileWriters
    private let done: (PhotoCaptured) -> Void
    private var waiting: [Order] = []
    private var writing: [Writing] = []

    /// - Parameter done: once for each order, whatever became of it.
    init(_ house: FileWriters, done: @escaping (PhotoCaptured) -> Void) {
        self.house = house
        self.done = done
    }

    var isEmpty: Bool { waiting.isEmpty && writing.isEmpty }
    func take(_ order: Order) { waiting.append(order) }

    /// Begins what may be begun, and ends what is written or hangs. Never waits.
    func turn() {
        while writing.count < Self.atOnceMax, !waiting.isEmpty { begin(waiting.removeFirst()) }
        for photo in writing { photo.writer.turn() }
        let settled = writing.filter(\.writer.isSettled)
        writing.removeAll(where: \.writer.isSettled)
        for photo in settled { finish(photo) }
    }

    /// Waits until `descriptor` can be read, a file's process answers, or one is given up.
    func wait(beside descriptor: Int32) {
        var polled = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        polled += writing.map { pollfd(fd: $0.writer.descriptor, events: $0.writer.events, revents: 0) }
        let deadline = writing.map(\.writer.deadline).min()
        _ = camarb_poll(&polled, polled.count, deadline.map { max(0, $0 - house.now()) } ?? -1)
    }

    private func begin(_ order: Order) {
        do throws(FileFault) {
            let writer = try house.start(order.envelope)
            order.bytes.withUnsafeBytes { writer.put($0, at: 0) }
            writer.wantAnswer()
            writing.append(Writing(captured: order.captured, writer: writer))
        } catch { done(Self.failed(order.captured, error)) }
    }

    private func finish(_ photo: Writing) {
        guard let fault = photo.writer.takeFault() else { return done(photo.captured) }
        // A part of it may have reached the file.
        photo.writer.truncate(to: 0)
        photo.writer.turn()
        done(Self.failed(photo.captured, fault))
    }

    private static func failed(_ photo: PhotoCaptured, _ fault: FileFault) -> PhotoCaptured {
        var captured = photo
        captured.bytes = 0
        captured.metadata = nil
        captured.error = captured.error ?? "The photo could not be written: \(fault.words)."
        return captured
    }
}
