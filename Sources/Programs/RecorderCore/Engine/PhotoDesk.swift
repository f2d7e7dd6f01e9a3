import ArbiterProtocol
import CLinux

/// Photos on their way to their files: a few are written at a time, and none is waited for. Threading: the writer
/// thread only.
final class PhotoDesk {
    struct Order: Sendable {
        let envelope: Int32
        /// The whole file; none where the photo could not be made.
        let bytes: [UInt8]
        let captured: PhotoCaptured
    }

    /// Photos that are written at the same time: each is a process and a JPEG in memory.
    static let atOnceMax = 8

    private let house: FileWriters
    private let done: (PhotoCaptured) -> Void
    private var waiting: [Order] = []
    private var writing: [(captured: PhotoCaptured, writer: FileWriter)] = []

    /// - Parameter done: once for each order, whatever became of it.
    init(_ house: FileWriters, done: @escaping (PhotoCaptured) -> Void) { (self.house, self.done) = (house, done) }

    var isEmpty: Bool { waiting.isEmpty && writing.isEmpty }
    func take(_ order: Order) { waiting.append(order) }

    /// Begins what may be begun, and ends what is written or hangs. Never waits.
    func turn() {
        while writing.count < Self.atOnceMax, !waiting.isEmpty { begin(waiting.removeFirst()) }
        for photo in writing { photo.writer.turn() }
        let settled = writing.filter(\.writer.isSettled)
        writing.removeAll(where: \.writer.isSettled)
        for (captured, writer) in settled { finish(captured, writer) }
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
            writing.append((order.captured, writer))
        } catch { fail(order.captured, error) }
    }

    private func finish(_ captured: PhotoCaptured, _ writer: FileWriter) {
        guard let fault = writer.takeFault() else { return done(captured) }
        // A part of it may have reached the file.
        writer.truncate(to: 0)
        writer.turn()
        fail(captured, fault)
    }

    private func fail(_ photo: PhotoCaptured, _ fault: FileFault) {
        var captured = photo
        (captured.bytes, captured.metadata) = (0, nil)
        captured.error = captured.error ?? "The photo could not be written: \(fault.words)."
        done(captured)
    }
}
