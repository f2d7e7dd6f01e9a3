import ArbiterProtocol
import CLinux
import CMedia
import FrameStream
import Glibc
import RecorderCore
import RecordingFootage
import Synchronization

/// The recording rows of `make bench`.
///
/// `sizes` records so many seconds of noisy footage at each size with a rule, prints the megabytes of a minute, and fails where a rule
/// is not met. `steps` prints the milliseconds of processor time of each step of a 4K30 picture, without the process that writes the
/// file. `preview` records a simulated camera's 4K30 beside its preview, and prints the frames a second of both.

func fail(_ sentence: String) -> Never {
    let line = "recording-bench: \(sentence)\n"
    _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    exit(1)
}

/// Nanoseconds of processor time of this process.
func processorTime() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// With one decimal, in at least so many places.
func text(_ number: Double, _ places: Int = 8) -> String {
    let tenths = Int((number * 10).rounded())
    let text = "\(tenths / 10).\(tenths % 10)"
    return String(repeating: " ", count: max(0, places - text.utf8.count)) + text
}

struct SizeRule {
    var name: String
    var width: Int
    var height: Int
    var frameRate: Int
    /// Megabytes a minute.
    var allowed: ClosedRange<Double>

    var layout: PictureLayout { PictureLayout(width: width, height: height, pixelFormat: "420v") }

    /// docs/capture.md: H.264 within 15 % of the published size, JPEGs below twice of it.
    static let all = [
        SizeRule(name: "720p30", width: 1280, height: 720, frameRate: 30, allowed: 79 * 0.85...79 * 1.15),
        SizeRule(name: "1080p30", width: 1920, height: 1080, frameRate: 30, allowed: 130 * 0.85...130 * 1.15),
        SizeRule(name: "1080p60", width: 1920, height: 1080, frameRate: 60, allowed: 260 * 0.85...260 * 1.15),
        SizeRule(name: "4K30", width: 3840, height: 2160, frameRate: 30, allowed: 0...750),
    ]
}

/// In an envelope.
func namelessFile() -> Int32 {
    var path = Array("/tmp/recording-bench-XXXXXX".utf8CString)
    let file = mkstemp(&path)
    guard file >= 0 else { fail("no file in /tmp") }
    defer { close(file) }
    unlink(path)
    return camarb_new_envelope(file)
}

/// Records footage into a file without a name.
/// - Returns: megabytes a minute, and nanoseconds of processor time for each picture.
func record(_ rule: SizeRule, seconds: Int) throws -> (megabytes: Double, spent: Int64) {
    let recording = try RecordingFile(
        file: OutputFile(namelessFile(), in: FileWriters(), bytesMax: nil),
        RecordingFile.Plan(layout: rule.layout, frameRate: Double(rule.frameRate)))
    var footage = NoisyFootage(rule.layout)
    let interval = 1_000_000_000 / Int64(rule.frameRate)
    let pictures = rule.frameRate * seconds
    var spent: Int64 = 0
    for number in 0..<pictures {
        let picture = footage.next()
        let before = processorTime()
        let fits = try picture.withUnsafeBytes {
            try recording.appendPicture($0, at: Int64(number) * interval, interval: interval)
        }
        spent += processorTime() - before
        guard fits else { fail("the file came to its end") }
    }
    return (Double(recording.bytes) / 1e6 / Double(seconds) * 60, spent / Int64(pictures))
}

func sizes(_ seconds: Int) throws {
    print("size       MB a minute  allowed")
    var missed: [String] = []
    for rule in SizeRule.all {
        let (megabytes, _) = try record(rule, seconds: seconds)
        if !rule.allowed.contains(megabytes) { missed.append(rule.name) }
        let name = rule.name + String(repeating: " ", count: 10 - rule.name.utf8.count)
        let (least, most) = (text(rule.allowed.lowerBound, 0), text(rule.allowed.upperBound, 0))
        print("\(name) \(text(megabytes, 11))  \(least) to \(most)")
    }
    if !missed.isEmpty { fail("not as published: \(missed.joined(separator: ", "))") }
}

func steps(_ seconds: Int) throws {
    let rule = SizeRule.all[3]
    let layout = rule.layout
    let pictures = rule.frameRate * seconds
    var footage = NoisyFootage(layout)
    let encoder = JPEGEncoder()
    var planar = [UInt8](repeating: 0, count: layout.width * layout.height * 3 / 2)
    var (converting, encoding): (Int64, Int64) = (0, 0)
    for _ in 0..<pictures {
        let picture = footage.next()
        try picture.withUnsafeBytes { bytes in
            var before = processorTime()
            planar.withUnsafeMutableBufferPointer { planar in
                if let from = bytes.bindMemory(to: UInt8.self).baseAddress, let to = planar.baseAddress {
                    camarb_nv12_to_jfif(from, Int32(layout.stride), Int32(layout.width), Int32(layout.height), 0, to)
                }
            }
            converting += processorTime() - before
            before = processorTime()
            try encoder.encode(bytes, layout, quality: JPEGQuality.least) { _ in }
            encoding += processorTime() - before
        }
    }
    let all = Double(try record(rule, seconds: seconds).spent) / 1e6
    let (convert, encode) = (Double(converting) / Double(pictures) / 1e6, Double(encoding) / Double(pictures) / 1e6)
    print("step of a 4K30 picture     ms of processor")
    print("to full-range planes       \(text(convert))")
    print("JPEG of quality \(JPEGQuality.least)         \(text(encode - convert))")
    print("into the file              \(text(max(0, all - encode)))")
    print("all                        \(text(all))")
}

func answer<Value: Sendable>(_ ask: (@escaping Capture.Reply<Value>) -> Void) throws -> Value {
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

func preview(_ seconds: Int) throws {
    let finished = Mutex<RecorderEvent.Recording?>(nil)
    let capture = Capture(try CameraSpec(parsing: "simulated:iphone6s-back")) { event in
        if case .recordingFinished(let recording) = event { finished.withLock { $0 = recording } }
    }
    let format = Configuration([.activeFormat: .text("420v 3840x2160@30")])
    _ = try answer { reply in capture.post { $0.open(GrantID(1), format, reply) } }
    let receiver = FrameReceiver(
        adopting: try answer { capture.order(CaptureLoop.openStream, GrantID(1), SessionID(1), reply: $0) })
    let spentBefore = processorTime()
    try answer {
        capture.order(CaptureLoop.startRecording, GrantID(1), 1, namelessFile(), RecordingOptions(), reply: $0)
    }
    var seen: (first: FrameRecord.Frame?, last: FrameRecord.Frame?, count: Int) = (nil, nil, 0)
    while seen.count < seconds * 60 {
        guard case .frame(let frame) = try receiver.next(within: Duration.seconds(10)) else { break }
        seen.first = seen.first ?? frame.record
        (seen.last, seen.count) = (frame.record, seen.count + 1)
        receiver.release(frame)
        if let first = seen.first, frame.record.timestamp - first.timestamp >= Int64(seconds) * 1_000_000_000 { break }
    }
    try answer { capture.order(CaptureLoop.stopRecording, 1, .stopped, .none, reply: $0) }
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

let words = CommandLine.arguments
guard words.count == 3, let seconds = Int(words[2]), 1...600 ~= seconds,
    ["sizes", "steps", "preview"].contains(words[1])
else { fail("usage: recording-bench sizes|steps|preview SECONDS") }
do {
    switch words[1] {
    case "sizes": try sizes(seconds)
    case "steps": try steps(seconds)
    default: try preview(seconds)
    }
} catch { fail("\(error)") }
