package import ArbiterProtocol
import Synchronization

/// What capture thread and writer thread share about one recording.
package final class RecordingTicket: Sendable {
    let id: RecordingID
    /// What was detected in each frame is written, too.
    let wantsObjects: Bool
    private struct State {
        var queuedBytes = 0
        var framesLeftOut: UInt64 = 0
        var isOver = false
    }
    private let state = Mutex(State())

    /// Pictures that may wait for the encoder: a second of 720p. More would only be later.
    package static let queuedBytesMax = 48 << 20

    package init(_ id: RecordingID, wantsObjects: Bool) {
        self.id = id
        self.wantsObjects = wantsObjects
    }

    /// The writer ended it by itself: a full disk, a limit.
    var isOver: Bool { state.withLock { $0.isOver } }
    func end() { state.withLock { $0.isOver = true } }

    /// Frames for which the encoder was too far behind, or the source.
    package var framesLeftOut: UInt64 { state.withLock { $0.framesLeftOut } }

    /// - Returns: false when the encoder is too far behind: the frame is left out.
    package func reserve(_ bytes: Int) -> Bool {
        state.withLock { state in
            // One picture always fits, whatever its size.
            guard state.queuedBytes == 0 || state.queuedBytes + bytes <= Self.queuedBytesMax else {
                state.framesLeftOut += 1
                return false
            }
            state.queuedBytes += bytes
            return true
        }
    }
    func leaveOut(_ frames: Int) { state.withLock { $0.framesLeftOut += UInt64(frames) } }
    func taken(_ bytes: Int) { state.withLock { $0.queuedBytes -= bytes } }
}

/// A recording as the capture thread has it.
struct RecordingUnderWay {
    let ticket: RecordingTicket
    /// By its client.
    var isPaused = false
    /// A frame was captured for it: what was missed before that is not its own.
    var hasBegun = false
    var overrun = OverrunTelling()

    init(_ ticket: RecordingTicket) { self.ticket = ticket }
}

/// Says that a source misses frames, once for as long as that goes on.
package struct SlownessTelling: Hashable, Sendable {
    /// Nanoseconds without a missed frame after which it would be news again: of footage, mostly more than one round.
    package static let calm: Int64 = 10_000_000_000

    private var missedAt: Int64?

    package init() {}

    /// Frames were missed. Returns whether that is to be told.
    package mutating func note(at now: Int64) -> Bool {
        defer { missedAt = now }
        return missedAt.map { now - $0 >= Self.calm } ?? true
    }
}

/// Says that frames are left out, and how many: at once, and then once a second.
package struct OverrunTelling: Hashable, Sendable {
    /// Nanoseconds between two of them.
    static let pause: Int64 = 1_000_000_000

    private var saidAt: Int64?
    private var untold = 0

    package init() {}

    package mutating func note(at now: Int64) -> Int? {
        untold += 1
        if let saidAt, now - saidAt < Self.pause { return nil }
        saidAt = now
        defer { untold = 0 }
        return untold
    }
}
