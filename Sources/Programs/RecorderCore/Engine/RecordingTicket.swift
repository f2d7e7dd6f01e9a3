package import ArbiterProtocol
import Synchronization

package final class RecordingTicket: Sendable {
    let id: RecordingID
    /// Detected objects are written, too.
    let wantsObjects: Bool

    private struct State {
        var queuedBytes = 0
        var framesLeftOut: UInt64 = 0
        var isOver = false
    }
    private let state = Mutex(State())

    /// Bytes of pictures that may wait for the encoder: a second of 720p. More would only be later.
    package static let queuedBytesMax = 48 << 20
    /// The same of all recordings of a grant together: each may have its part of it, so that no slow one takes another's.
    package static let queuedInAllMax = 96 << 20

    /// Bytes that may wait for each of so many recordings.
    package static func share(of recordings: Int) -> Int { min(queuedBytesMax, queuedInAllMax / max(1, recordings)) }

    package init(_ id: RecordingID, wantsObjects: Bool) {
        (self.id, self.wantsObjects) = (id, wantsObjects)
    }

    /// The writer ended it: a full disk, a limit.
    var isOver: Bool { state.withLock { $0.isOver } }
    func end() { state.withLock { $0.isOver = true } }

    /// Frames for which the encoder was too far behind, or the source.
    package var framesLeftOut: UInt64 { state.withLock { $0.framesLeftOut } }

    /// - Parameter share: of the bytes that may wait, in all.
    /// - Returns: false when the encoder is too far behind: the frame is left out.
    package func reserve(_ bytes: Int, of share: Int = queuedBytesMax) -> Bool {
        state.withLock { state in
            // One picture always fits, whatever its size.
            guard state.queuedBytes == 0 || state.queuedBytes + bytes <= share else {
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
