import ArbiterProtocol
import CLinux
import FrameStream
import Glibc
import RecorderCore
import Synchronization

/// Waits for a capture's answer.
private func answer<Value: Sendable>(_ ask: (@escaping Capture.Reply<Value>) -> Void) throws -> Value {
    let given = Mutex<Result<Value, BrokerError>?>(nil)
    let wake = camarb_eventfd()
    defer { close(wake) }
    ask { result in
        given.withLock { $0 = result }
        _ = camarb_eventfd_signal(wake)
    }
    var waited = pollfd(fd: wake, events: Int16(POLLIN), revents: 0)
    guard camarb_poll(&waited, 1, 60_000_000_000) == 1, let result = given.withLock({ $0 }) else {
        fail("the capture gave no answer in a minute")
    }
    return try result.get()
}

/// Records a simulated camera's 4K30 while somebody looks at each frame of its preview, and prints what of 30 frames a second
/// each of the two got.
func preview(_ seconds: Int) throws {
    let finished = Mutex<RecorderEvent.Recording?>(nil)
    let capture = Capture(try CameraSpec(parsing: "simulated:iphone6s-back")) { event in
        if case .recordingFinished(let recording) = event { finished.withLock { $0 = recording } }
    }
    let format = Configuration([.activeFormat: .text("420v 3840x2160@30")])
    _ = try answer { capture.open(GrantID(1), format, $0) }
    let receiver = FrameReceiver(adopting: try answer { capture.openStream(GrantID(1), session: SessionID(1), $0) })
    var path = Array("/tmp/recording-bench-XXXXXX".utf8CString)
    let file = mkstemp(&path)
    guard file >= 0 else { fail("no file in /tmp") }
    unlink(path)
    let envelope = camarb_new_envelope(file)
    close(file)
    let spentBefore = processorTime()
    try answer { capture.startRecording(GrantID(1), 1, file: envelope, $0) }
    var seen: (first: FrameRecord.Frame?, last: FrameRecord.Frame?, count: Int) = (nil, nil, 0)
    while seen.count < seconds * 60 {
        guard case .frame(let frame) = try receiver.next(within: Duration.seconds(10)) else { break }
        seen.first = seen.first ?? frame.record
        (seen.last, seen.count) = (frame.record, seen.count + 1)
        receiver.release(frame)
        if let first = seen.first, frame.record.timestamp - first.timestamp >= Int64(seconds) * 1_000_000_000 { break }
    }
    try answer { capture.stopRecording(1, why: .stopped, $0) }
    capture.shutDown()
    let spent = processorTime() - spentBefore
    guard let recording = finished.withLock({ $0 }), let first = seen.first, let last = seen.last else {
        fail("nothing was recorded")
    }
    let time = Double(last.timestamp - first.timestamp) / 1e9
    let captured = Double(last.sequence - first.sequence)
    print("4K30 recorded and previewed    a second")
    print("captured                       \(text(captured / time))")
    print("seen in the preview            \(text(Double(seen.count - 1) / time))")
    print("in the file                    \(text(Double(recording.frames) * 1e9 / Double(max(1, recording.duration))))")
    print("left out of the file, in all   \(text(Double(recording.framesLeftOut)))")
    print("ms of processor a frame        \(text(Double(spent) / 1e6 / max(1, captured)))")
}
