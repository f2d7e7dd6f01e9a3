public import ArbiterProtocol
import CLinux
import Glibc
import Synchronization

/// One camera: grants, preview streams, photos and recordings.
///
/// A capture thread owns the device and the streams, another one draws and encodes photos, a third has their files written, and
/// each recording that runs is encoded on a thread of its own; bounded queues join them.
/// Every method may be called from any thread and returns at once. Orders are methods of `CaptureLoop`, carried out in the
/// order of the calls; answers and events come on the capture's own threads, and their receivers must not block.
///
/// A grant is opened once, with a number higher than any before it; requests for another one are refused with
/// `.staleGrant`. After the answer to `cut`, no frame is captured for the grant any more, its streams are closed and
/// every buffer of theirs is blank. A recording never goes on in a later grant.
public final class Capture: Sendable {
    public typealias Reply<Value> = @Sendable (Result<Value, BrokerError>) -> Void

    /// Misbehaviour of a driver, for tests.
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

    private let commands = Mailbox<CaptureLoop>()
    private let captureThread, photoThread, writerThread: Worker
    private let completer: Completer

    /// - Parameter idleLimit: after each time this long without a grant or anything to write, `.idle` is given; `nil` for never.
    /// - Parameter patience: how many times as long as usual files are waited for; 1 but in tests.
    public convenience init(
        _ spec: CameraSpec, idleLimit: Duration? = nil, patience: Int64 = 1, faults: Set<Fault> = [],
        onEvent: @escaping @Sendable (RecorderEvent) -> Void
    ) {
        self.init(
            idleLimit: idleLimit, patience: patience, faults: faults, onEvent: onEvent,
            makingSource: { () throws(BrokerError) in try spec.makeSource() })
    }

    package init(
        idleLimit: Duration? = nil, passingLimit: Duration? = nil, patience: Int64 = 1,
        clock: CaptureClock = .real, faults: Set<Fault> = [], onEvent: @escaping @Sendable (RecorderEvent) -> Void,
        makingSource makeSource: @escaping @Sendable () throws(BrokerError) -> any CameraSource
    ) {
        camarb_ignore_write_signals()
        let (commands, work, photos) = (commands, Mailbox<WriterLoop>(), Mailbox<PhotoLab>())
        completer = Completer(patience: patience)
        let left = LeftWriters()
        writerThread = Worker {
            WriterLoop(
                work, lab: photos, in: FileWriters(patience: patience, sharing: left), emit: onEvent,
                done: { commands.post { $0.writing -= 1 } }
            ).run()
        }
        photoThread = Worker { PhotoLab(photos, writer: work).run() }
        captureThread = Worker {
            let recorders = RecordingThreads(left, patience: patience, emit: onEvent) { place in
                commands.post { $0.isFinished(onThread: place) }
            }
            CaptureLoop(
                makeSource, commands, recorders, photos, idleLimit: idleLimit,
                passingLimit: passingLimit ?? CaptureLoop.passingMax, clock: clock, faults: faults, emit: onEvent
            ).run()
        }
    }

    /// Runs a command on the capture thread, between two frames.
    package func post(_ command: @escaping @Sendable (CaptureLoop) -> Void) { commands.post(command) }

    /// The same, and answers with the method's result: `order(CaptureLoop.cut, grant, …) { … }`.
    package func order<Value: Sendable, each Argument: Sendable>(
        _ method: @escaping @Sendable (CaptureLoop) -> (repeat each Argument) throws(BrokerError) -> Value,
        _ argument: repeat each Argument, reply: @escaping Reply<Value>
    ) {
        post { loop in reply(Result { () throws(BrokerError) in try method(loop)(repeat each argument) }) }
    }

    /// Completes a recording whose recorder core was lost: cuts a frame that is not whole, and writes duration and index.
    /// Nothing waits for it; a file that is no recording of a recorder core, or that hangs, is left as it is.
    /// - Parameter file: the envelope of the lost recorder core, which its writer has opened. Owned by the capture from here on.
    package func complete(file: Int32, _ reply: @escaping Reply<CompletedRecording>) {
        post { $0.writing += 1 }
        completer.complete(file) { [commands] result in
            reply(result)
            commands.post { $0.writing -= 1 }
        }
    }

    /// Ends whatever is open, finishes what is being written, and waits for it. Once, as the last call.
    public func shutDown() {
        commands.post { $0.stop() }
        for thread in [captureThread, photoThread, writerThread] { thread.join() }
        completer.shutDown()
    }
}

/// A notice of a capture's. Given on one of its own threads; the receiver must not block.
public enum RecorderEvent: Hashable, Sendable {
    case recordingFinished(Recording)
    case photoCaptured(PhotoCaptured)
    case rampFinished(grant: GrantID, videoZoomFactor: Double)
    /// The changes of the camera's state since the last notice.
    case cameraStateChanged(grant: GrantID, Configuration)
    /// `ok`, `error`: as `DeviceChanged` of `Recorder1`.
    case deviceChanged(state: String, message: String)
    /// `recording` or `session`: whose error this is; where both are 0, the holder's.
    case runtimeError(code: String, message: String, recording: RecordingID = 0, session: SessionID = SessionID(0))
    /// The capture thread begins a step that may take as long as opening the device, and answers no `beat` before it is done.
    /// Once until it has answered the next.
    case deviceStarts
    /// Nothing was open and nothing was being written for the idle limit. Given again after as long.
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
