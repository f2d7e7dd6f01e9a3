package import ArbiterProtocol
import FrameStream
import Glibc

/// The state of the grant that is open. Threading: the capture thread only.
final class OpenGrant {
    let id: GrantID
    var settings: CaptureSettings
    var telling = StateTelling()
    var slowness = SlownessTelling()
    var pipelineRebuilds = 0
    var layout: PictureLayout
    var ramp: ZoomRamp?
    /// The zoom of the last frame: on a ramp it is not yet the one in the settings.
    var zoom: Double
    var framesCaptured: UInt64 = 0
    /// Nanoseconds of CLOCK_MONOTONIC; 0 before the first frame.
    var lastCapture: Int64 = 0
    /// When the next frame is due, or, of a device with a descriptor, too late; `nil` while the device is in fault.
    var due: Int64?
    var previousDue: Int64?
    var restartAt: Int64?
    var failure: BrokerError?
    var opening: Capture.Reply<Configuration>?
    var streams: [Stream] = []
    let memory: StreamMemory
    /// The session that has the device's own buffers, and the set of buffers (`CameraSource.buffersBegun`).
    var lent: (session: SessionID, begun: Int)?
    var slated: Set<SessionID> = []
    var photos: [PendingPhoto] = []
    var recording: RecordingUnderWay?
    var microphone: Microphone?
    var configurationChanged = false
    var restarts = 0

    struct Stream {
        var session: SessionID
        let sender: FrameSender
    }

    struct PendingPhoto {
        let id: PhotoID
        let session: SessionID
        let file: Int32
        /// Of a bracket; `nil` for a single photo.
        let shot: PhotoBracket.Shot?
    }

    init(id: GrantID, settings: CaptureSettings, memory: StreamMemory) {
        (self.id, self.settings, self.memory) = (id, settings, memory)
        layout = PictureLayout(settings.format)
        zoom = settings.videoZoomFactor
    }

    func lends(_ source: any CameraSource) -> Bool { lent?.begun == source.buffersBegun }
}

extension PictureLayout {
    init(_ format: CameraFormat) {
        self.init(width: format.width, height: format.height, pixelFormat: format.pixelFormat)
    }
}

struct RecordingUnderWay {
    let ticket: RecordingTicket
    /// By its client.
    var isPaused = false
    /// A frame was captured for it: frames that were missed before are not its own.
    var hasBegun = false
    var overrun = OverrunTelling()
}

/// A zoom on its way: it grows or shrinks exponentially, so that every moment looks equally fast.
package struct ZoomRamp: Hashable {
    var from, to: Double
    /// Doublings a second, above 0.
    var rate: Double
    /// Nanoseconds of CLOCK_MONOTONIC.
    var began: Int64

    package init(from: Double, to: Double, rate: Double, began: Int64) {
        (self.from, self.to, self.rate, self.began) = (from, to, rate, began)
    }

    package func factor(at now: Int64) -> (factor: Double, hasArrived: Bool) {
        let seconds = Double(max(0, now - began)) / 1e9
        let grown = from * exp2((to >= from ? rate : -rate) * seconds)
        let hasArrived = to >= from ? grown >= to : grown <= to
        return (hasArrived ? to : grown, hasArrived)
    }
}

/// Limits notices of a camera's state: changes since the last notice, at most ten times a second. Sooner changes wait, the
/// newest counts, and so the last state is always sent.
package struct StateTelling: Hashable, Sendable {
    /// Nanoseconds between two notices.
    package static let pause: Int64 = 100_000_000

    private var told = Configuration()
    private var latest = Configuration()
    private var toldAt: Int64?

    package init() {}

    package mutating func answered(_ inForce: Configuration) {
        told = inForce.keeping(\.isCameraState)
        latest = told
    }

    package mutating func note(_ state: Configuration) { latest.merge(state) }

    package func isDue(at now: Int64) -> Bool { toldAt.map { now - $0 >= Self.pause } ?? true }

    /// The changes to send at this moment, or `nil`.
    package mutating func take(at now: Int64) -> Configuration? {
        guard isDue(at: now) else { return nil }
        let changed = latest.changes(since: told)
        guard !changed.isEmpty else { return nil }
        (told, toldAt) = (latest, now)
        return changed
    }
}

/// Reports that a source misses frames, once for as long as that lasts.
package struct SlownessTelling: Hashable, Sendable {
    /// Nanoseconds without a missed frame after which the next one is news: of footage, mostly more than one round.
    package static let calm: Int64 = 10_000_000_000

    private var missedAt: Int64?

    package init() {}

    package mutating func note(at now: Int64) -> Bool {
        defer { missedAt = now }
        return missedAt.map { now - $0 >= Self.calm } ?? true
    }
}

/// Counts frames that are left out: reported at once, and then once a second.
package struct OverrunTelling: Hashable, Sendable {
    /// Nanoseconds between two reports.
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
