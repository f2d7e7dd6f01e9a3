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
    /// Of sessions that have a picture of their own; the others have the camera's.
    private(set) var pictures: [SessionID: SessionPicture] = [:]
    /// Of each rate below the camera's: all who have the same rate get the same frames.
    private var cadences: [Int64: Cadence] = [:]
    /// The intervals that leave out the frame that was captured last.
    private var passedOver: Set<Int64> = []
    let scalers = PictureScalers()
    var photos: [PendingPhoto] = []
    var recordings: [RecordingUnderWay] = []
    /// Whose the recording or the microphone is that is ordered next (`ActFor`).
    var actsFor: SessionID?
    var microphone: Microphone?
    /// `nil` where the broker did not say it: the holder's.
    var microphonesSession: SessionID?
    var restarts = 0

    final class Stream {
        var session: SessionID
        let sender: FrameSender
        /// Its next frame is the first of another configuration, or in other buffers.
        var isFlagged = false

        init(session: SessionID, sender: FrameSender) { (self.session, self.sender) = (session, sender) }
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

    // MARK: Pictures of sessions

    /// More than there may be sessions on a camera: a grant may last longer than thousands of them.
    static let picturesMax = 128

    func layout(of session: SessionID) -> PictureLayout { pictures[session]?.layout ?? layout }

    /// A recording has the size that it began with, and the rate of its session's picture; `nil` for the camera's.
    func picture(of recording: RecordingUnderWay) -> SessionPicture? { recording.session.flatMap { pictures[$0] } }

    /// The session sees the camera's own pictures, frame by frame.
    func hasCamerasPicture(_ session: SessionID) -> Bool {
        guard let picture = pictures[session] else { return true }
        return picture.layout == layout && !isSlower(picture)
    }

    /// Rates that differ by less are one, which came by another way: 1 / (1 / 30).
    private static let rateRounding = 1e-4

    func isSlower(_ picture: SessionPicture) -> Bool {
        picture.frameRate < settings.frameRate * (1 - Self.rateRounding)
    }

    /// Nanoseconds from one frame to the next.
    func interval(_ picture: SessionPicture?) -> Int64 { max(settings.frameInterval, picture?.interval ?? 0) }

    func set(_ picture: SessionPicture?, of session: SessionID) {
        pictures[session] = picture
        guard pictures.count > Self.picturesMax else { return }
        // The oldest session that has nothing open here has left, or will ask anew.
        let busy = Set(streams.map(\.session) + photos.map(\.session) + recordings.compactMap(\.session) + [session])
        if let left = pictures.keys.filter({ !busy.contains($0) }).min() { pictures[left] = nil }
    }

    /// One session goes on under another number, and no other has anything any more.
    func keepPicture(of before: SessionID, as now: SessionID) {
        let kept = pictures[before]
        pictures = [:]
        pictures[now] = kept
    }

    /// A frame was captured: decides for each lower rate whether it is one of its frames.
    func count(frameAt now: Int64) {
        passedOver = []
        guard !pictures.isEmpty else {
            cadences = [:]
            return
        }
        let wanted = streams.map { pictures[$0.session] } + recordings.map(picture)
        let slower = Set(wanted.compactMap(\.self).filter(isSlower).map(\.interval))
        cadences = cadences.filter { slower.contains($0.key) }
        for interval in slower
        where !cadences[interval, default: Cadence(interval: interval)].takes(
            captured: now, cameraInterval: settings.frameInterval)
        {
            passedOver.insert(interval)
        }
    }

    /// Whether the frame that was captured last is one of a picture's.
    func takes(_ picture: SessionPicture?) -> Bool { picture.map { !passedOver.contains($0.interval) } ?? true }
}

extension PictureLayout {
    init(_ format: CameraFormat) {
        self.init(width: format.width, height: format.height, pixelFormat: format.pixelFormat)
    }
}

/// The capture thread's view of a recording.
final class RecordingUnderWay {
    let ticket: RecordingTicket
    /// `nil` where the broker did not say it: the holder's.
    var session: SessionID?
    /// A file's size does not change.
    let layout: PictureLayout
    private let thread: RecordingThread
    /// By its client.
    var isPaused = false
    /// A frame was captured for it: frames that were missed before are not its own.
    var hasBegun = false
    var overrun = OverrunTelling()

    init(
        _ ticket: RecordingTicket, of session: SessionID?, _ layout: PictureLayout, on thread: RecordingThread
    ) {
        (self.ticket, self.session, self.layout, self.thread) = (ticket, session, layout, thread)
    }

    func isOn(_ other: RecordingThread) -> Bool { thread === other }
    func post(_ command: @escaping Mailbox<RecordingLoop>.Command) { thread.commands.post(command) }

    func finish(_ why: RecordingEnd, _ reason: RecordingReason) {
        post { [ticket] in $0.finish(ticket, why, reason) }
    }
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
