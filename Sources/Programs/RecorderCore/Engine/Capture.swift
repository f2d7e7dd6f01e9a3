public import ArbiterProtocol
import CLinux
import Glibc
import Synchronization

/// One camera: grants, preview streams, photos and recordings.
///
/// A capture thread owns the device and the streams, another one draws and encodes photos, and a writer thread encodes
/// recordings and writes; bounded queues join them.
/// Every method may be called from any thread and returns at once. Requests are carried out in the order of the
/// calls; answers and events come on the capture's own threads, and their receivers must not block.
///
/// A grant is opened once, with a number higher than any before it; requests for another one are refused with
/// `.staleGrant`. After the answer to `cut`, no frame is captured for the grant any more, its streams are closed and
/// every buffer of theirs is blank. A recording never goes on in a later grant.
public final class Capture: Sendable {
    public typealias Reply<Value> = @Sendable (Result<Value, BrokerError>) -> Void

    /// Faults to be seen in tests: a driver that misbehaves.
    public enum Fault: String, Hashable, Sendable, CaseIterable {
        /// `Cut` is never answered, and the capture thread stands still.
        case cutHangs = "cut-hangs"
        /// `Open` is never answered.
        case openHangs = "open-hangs"
        /// `Open` is answered with a device fault.
        case openFails = "open-fails"
        /// The device fails at the tenth frame of each grant.
        case deviceFails = "device-fails"
        /// The capture thread stands still at the tenth frame of each grant.
        case captureHangs = "capture-hangs"
    }

    /// What the capture thread does between two frames.
    typealias Command = @Sendable (CaptureLoop) -> Void

    private let commands = Mailbox<Command>()
    private let captureThread, photoThread, writerThread: Worker
    private let completer: Completer

    /// - Parameter idleLimit: after each time this long without a grant or anything to write, `.idle` is given; nil for never.
    /// - Parameter patience: how many times as long as usual files are waited for; 1 but in tests.
    public convenience init(
        _ spec: CameraSpec, idleLimit: Duration? = nil, patience: Int64 = 1, faults: Set<Fault> = [],
        onEvent: @escaping @Sendable (RecorderEvent) -> Void
    ) {
        self.init(
            idleLimit: idleLimit, patience: patience, faults: faults, onEvent: onEvent,
            makingSource: { () throws(BrokerError) in try spec.makeSource() })
    }

    /// - Parameter passingLimit: how long the device goes on for a grant that is to follow; nil for as long as is usual.
    /// - Parameter clock: says when frames are due.
    /// - Parameter makeSource: called on the capture thread, again when a device was unplugged in between.
    package init(
        idleLimit: Duration? = nil, passingLimit: Duration? = nil, patience: Int64 = 1,
        clock: CaptureClock = .real, faults: Set<Fault> = [], onEvent: @escaping @Sendable (RecorderEvent) -> Void,
        makingSource makeSource: @escaping @Sendable () throws(BrokerError) -> any CameraSource
    ) {
        camarb_ignore_write_signals()
        let commands = commands
        let work = Mailbox<WriterWork>()
        let photos = Mailbox<PhotoLab.Work>()
        completer = Completer(patience: patience)
        writerThread = Worker {
            WriterLoop(
                work, lab: photos, emit: onEvent, patience: patience, done: { commands.post { $0.writing -= 1 } }
            ).run()
        }
        photoThread = Worker { PhotoLab(photos, writer: work).run() }
        captureThread = Worker {
            CaptureLoop(
                makeSource, commands, work, photos, idleLimit: idleLimit,
                passingLimit: passingLimit ?? CaptureLoop.passingMax, clock: clock, faults: faults, emit: onEvent
            ).run()
        }
    }

    private func order<Value: Sendable>(
        _ reply: @escaping Reply<Value>, _ work: @escaping @Sendable (CaptureLoop) throws(BrokerError) -> Value
    ) {
        commands.post { loop in reply(Result { () throws(BrokerError) in try work(loop) }) }
    }

    /// What the camera can do. A fault when it cannot be opened.
    public func describe(_ reply: @escaping Reply<CameraCapabilities>) {
        order(reply) { (loop) throws(BrokerError) in try loop.describe() }
    }

    /// Starts the camera for a grant; answers with the configuration in force when the first frame is there.
    public func open(_ grant: GrantID, _ configuration: Configuration, _ reply: @escaping Reply<Configuration>) {
        commands.post { $0.open(grant, configuration, reply) }
    }

    /// Applies a batch between two frames, as a whole or not at all; answers with all that is in force.
    public func configure(_ grant: GrantID, _ batch: Configuration, _ reply: @escaping Reply<Configuration>) {
        order(reply) { (loop) throws(BrokerError) in try loop.configure(grant, batch) }
    }

    /// One more preview stream; answers with the client's end of its socket, which the receiver owns.
    public func openStream(_ grant: GrantID, session: SessionID, _ reply: @escaping Reply<Int32>) {
        order(reply) { (loop) throws(BrokerError) in try loop.openStream(grant, session) }
    }

    /// Closes a session's streams, blanks their buffers, and gives up its photos that wait for a frame.
    public func closeStreams(_ grant: GrantID, session: SessionID, _ reply: @escaping Reply<Void>) {
        order(reply) { (loop) throws(BrokerError) in try loop.closeStreams(grant, session) }
    }

    /// Takes the next frame as a JPEG; `.photoCaptured` follows an answer without error.
    /// - Parameter file: an envelope (`camarb_open_envelope`), which only the process that writes the file opens. Owned by
    ///   the capture from here on.
    public func capturePhoto(
        _ grant: GrantID, session: SessionID, _ photo: PhotoID, file: Int32, _ reply: @escaping Reply<Void>
    ) {
        order(reply) { (loop) throws(BrokerError) in try loop.takePhotos(grant, session, [photo], [file]) }
    }

    /// Takes the next frames as JPEGs, one for each photo, all or none; `.photoCaptured` follows for each after an answer
    /// without error.
    /// - Parameter files: envelopes, as many as photos; owned by the capture from here on.
    public func capturePhotoBracket(
        _ grant: GrantID, session: SessionID, _ photos: [PhotoID], files: [Int32], _ bracket: PhotoBracket,
        _ reply: @escaping Reply<Void>
    ) {
        order(reply) { (loop) throws(BrokerError) in try loop.takePhotos(grant, session, photos, files, bracket) }
    }

    /// Records from the next frame on; `.recordingFinished` follows an answer without error.
    /// - Parameter file: an envelope, as of a photo; one whose file cannot be written to ends the recording with
    ///   `.writeError`. Owned by the capture from here on.
    public func startRecording(
        _ grant: GrantID, _ recording: RecordingID, file: Int32, options: RecordingOptions = RecordingOptions(),
        _ reply: @escaping Reply<Void>
    ) {
        order(reply) { (loop) throws(BrokerError) in try loop.startRecording(grant, recording, file, options) }
    }

    /// Finishes a recording. One that has ended already is passed over.
    /// - Parameter reason: why it is taken from its session, for the file.
    public func stopRecording(
        _ recording: RecordingID, why: RecordingEnd, reason: RecordingReason = .none, _ reply: @escaping Reply<Void>
    ) {
        order(reply) { $0.stopRecording(recording, why, reason) }
    }

    /// No frame and no sound that is captured after the answer gets into the file, until it is resumed. One that has ended is
    /// passed over.
    public func pauseRecording(_ recording: RecordingID, _ reply: @escaping Reply<Void>) {
        order(reply) { $0.setPaused(recording, true) }
    }

    /// The file goes on with the next frame, right behind its last one.
    public func resumeRecording(_ recording: RecordingID, _ reply: @escaping Reply<Void>) {
        order(reply) { $0.setPaused(recording, false) }
    }

    /// Adds items to a kind of metadata that the recording's options declare, in the form of its type.
    /// - Parameter time: from when on they count, in nanoseconds of CLOCK_MONOTONIC, until the next.
    public func appendMetadata(
        _ recording: RecordingID, kind: String, time: Int64, items: [String], _ reply: @escaping Reply<Void>
    ) {
        commands.post { $0.appendMetadata(recording, kind: kind, time: time, items: items, reply) }
    }

    /// The sound of the grant's recordings that begin from now on, and in the place of another one.
    /// - Parameter socket: an envelope with the client's end of a SOCK_SEQPACKET pair; owned by the capture from here on.
    public func attachMicrophone(
        _ grant: GrantID, socket: Int32, _ format: MicrophoneFormat, _ reply: @escaping Reply<Void>
    ) {
        order(reply) { (loop) throws(BrokerError) in try loop.attachMicrophone(grant, socket, format) }
    }

    /// Closes the grant's microphone, where it has one.
    public func detachMicrophone(_ grant: GrantID, _ reply: @escaping Reply<Void>) {
        order(reply) { (loop) throws(BrokerError) in try loop.detachMicrophone(grant) }
    }

    /// Whether a session's preview is black from the next frame on, counted on and marked as a slate.
    public func setSlate(_ grant: GrantID, session: SessionID, _ slate: Bool, _ reply: @escaping Reply<Void>) {
        order(reply) { (loop) throws(BrokerError) in try loop.setSlate(grant, session, slate) }
    }

    /// Ends a grant; answers with the capture time of its last frame (0: none). A recording is finished afterwards.
    /// - Parameter reason: why a recording is taken from its session, for the file.
    /// - Parameter passesOn: another grant is opened right after the answer. The device goes on until then where it can, for
    ///   a quarter of a second at most, and nobody gets what it captures meanwhile.
    public func cut(
        _ grant: GrantID, why: RecordingEnd, reason: RecordingReason = .none, passesOn: Bool = false,
        _ reply: @escaping Reply<Int64>
    ) {
        order(reply) { (loop) throws(BrokerError) in try loop.cut(grant, why, reason, passesOn: passesOn) }
    }

    /// Has the camera's node watched in an inotify queue; a fault where it has none, or this process may not read it.
    /// - Parameter queue: owned by the capture from here on.
    public func watchNode(_ queue: Int32, _ reply: @escaping Reply<Void>) {
        commands.post { loop in
            defer { close(queue) }
            reply(Result { () throws(BrokerError) in try loop.camera().watchNode(in: queue) })
        }
    }

    /// Looks whether a program outside the broker has the device, and answers with the one that has its node open, as far as
    /// that can be seen ("": it cannot); `.deviceChanged` comes before the answer. During a grant the device is left alone.
    public func look(_ reply: @escaping Reply<String>) {
        order(reply) { (loop) throws(BrokerError) in try loop.lookNow() }
    }

    /// Answers when the capture thread comes to it: at once, unless it hangs, or has said `.deviceStarts`.
    public func beat(_ reply: @escaping Reply<Void>) { order(reply) { $0.hasSaidThatDeviceStarts = false } }

    /// Completes a recording of a recorder core that was lost over it: cuts a frame that is not whole, and writes duration
    /// and index. Nothing waits for it; a file that is not as recordings are here, or that hangs, is left as it is.
    /// - Parameter file: the envelope that the lost one had, which its writer has opened. Owned by the capture from here on.
    public func complete(file: Int32, _ reply: @escaping Reply<CompletedRecording>) {
        // As long as that takes there is something to write.
        commands.post { $0.writing += 1 }
        completer.complete(file) { [commands] result in
            reply(result)
            commands.post { $0.writing -= 1 }
        }
    }

    /// Goes on with a grant for a session that has another number now: its streams and the recording as if nothing had
    /// been. Streams of other sessions are closed and their buffers blanked, and photos that wait for a frame are given up.
    /// Answers with the configuration in force.
    public func resume(
        _ grant: GrantID, from before: SessionID, to now: SessionID, _ reply: @escaping Reply<Configuration>
    ) {
        order(reply) { (loop) throws(BrokerError) in try loop.resume(grant, from: before, to: now) }
    }

    /// Ends whatever is open, finishes what is being written, and waits for it. Once, as the last call.
    public func shutDown() {
        commands.post { $0.stop() }
        captureThread.join()
        photoThread.join()
        writerThread.join()
        completer.shutDown()
    }
}

/// What a capture says by itself. Given on one of its own threads; the receiver must not block.
public enum RecorderEvent: Hashable, Sendable {
    case recordingFinished(Recording)
    case photoCaptured(PhotoCaptured)
    case rampFinished(grant: GrantID, videoZoomFactor: Double)
    /// What of the camera's state is not as it was told last.
    case cameraStateChanged(grant: GrantID, Configuration)
    /// `ok`, `error`: as `DeviceChanged` of `Recorder1`.
    case deviceChanged(state: String, message: String)
    case runtimeError(code: String, message: String)
    /// The capture thread begins what may take as long as to open the device, and answers no `beat` before it is done. Once
    /// until it has answered the next.
    case deviceStarts
    /// Nothing was open and nothing was being written for as long as the capture was told. Given again after as long.
    case idle
    /// Clients keep more memory of earlier grants than another one may be opened beside: an order to open was not carried
    /// out, nor answered, and another process is to be asked.
    case spent

    public struct Recording: Hashable, Sendable {
        public var id: RecordingID
        public var why: RecordingEnd
        public var frames: UInt64
        /// Nanoseconds, from the first frame's capture to the end of the last one's display.
        public var duration: Int64
        public var bytes: UInt64
        /// When the last frame was captured, in nanoseconds of CLOCK_MONOTONIC; 0: there is none.
        public var lastCapture: Int64
        /// Captured while it ran, and not in the file, because encoder or disk could not keep up.
        public var framesLeftOut: UInt64
    }
}
