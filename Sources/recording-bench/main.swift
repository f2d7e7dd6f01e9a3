import CLinux
import CTurboJPEG
import FrameStream
import Glibc
import RecorderCore
import RecordingFootage

/// How large recordings of noisy footage become, and what a picture of them costs: the recording rows of `make bench`.
///
///     recording-bench sizes SECONDS
///     recording-bench steps SECONDS
///     recording-bench preview SECONDS
///
/// The first records so many seconds of each size that has a rule, and prints what a minute of it has, beside the rule. It
/// fails where one is not met. The second records 4K30, and prints what each step of a picture costs, in milliseconds of
/// processor time; the process that writes the file is not in it. The third records a simulated camera's 4K30 while its
/// preview is looked at, and prints how many frames a second each got.

func fail(_ sentence: String) -> Never {
    let line = "recording-bench: \(sentence)\n"
    _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    exit(1)
}

/// Nanoseconds of processor time of this process, its threads included.
func processorTime() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// A number with one decimal, in at least so many places.
func text(_ number: Double, _ places: Int = 8) -> String {
    let tenths = Int((number * 10).rounded())
    let text = "\(tenths / 10).\(tenths % 10)"
    return String(repeating: " ", count: max(0, places - text.utf8.count)) + text
}

/// A size of pictures, and what is published for a minute of it.
struct SizeRule {
    var name: String
    var layout: PictureLayout
    var frameRate: Int
    /// Megabytes a minute.
    var least: Double
    var most: Double

    init(_ name: String, _ width: Int, _ height: Int, _ frameRate: Int, _ megabytes: ClosedRange<Double>) {
        self.name = name
        layout = PictureLayout(width: width, height: height, pixelFormat: "420v")
        self.frameRate = frameRate
        (least, most) = (megabytes.lowerBound, megabytes.upperBound)
    }

    /// docs/capture.md: H.264 within 15 % of what is published, JPEGs below twice of it.
    static let all = [
        SizeRule("720p30", 1280, 720, 30, 79 * 0.85...79 * 1.15),
        SizeRule("1080p30", 1920, 1080, 30, 130 * 0.85...130 * 1.15),
        SizeRule("1080p60", 1920, 1080, 60, 260 * 0.85...260 * 1.15),
        SizeRule("4K30", 3840, 2160, 30, 0...750),
    ]
}

/// Records footage into a file without a name.
/// - Returns: megabytes a minute, and nanoseconds of processor time for each picture.
func record(_ rule: SizeRule, seconds: Int) throws -> (megabytes: Double, spent: Int64) {
    var path = Array("/tmp/recording-bench-XXXXXX".utf8CString)
    let file = mkstemp(&path)
    guard file >= 0 else { fail("no file in /tmp") }
    unlink(path)
    let envelope = camarb_new_envelope(file)
    close(file)
    let recording = try RecordingFile(
        file: OutputFile(envelope, in: FileWriters(), bytesMax: nil),
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
        if !(rule.least...rule.most ~= megabytes) { missed.append(rule.name) }
        let name = rule.name + String(repeating: " ", count: 10 - rule.name.utf8.count)
        print("\(name) \(text(megabytes, 11))  \(text(rule.least, 0)) to \(text(rule.most, 0))")
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

let words = CommandLine.arguments
guard words.count == 3, let seconds = Int(words[2]), 1...600 ~= seconds,
    ["sizes", "steps", "preview"].contains(words[1])
else {
    fail("usage: recording-bench sizes|steps|preview SECONDS")
}
do {
    switch words[1] {
    case "sizes": try sizes(seconds)
    case "steps": try steps(seconds)
    default: try preview(seconds)
    }
} catch {
    fail("\(error)")
}
