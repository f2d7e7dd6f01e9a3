import ArbiterProtocol
import CLinux
import FrameStream
import Glibc
import RecorderCore
import Testing

/// A recording that a test makes without a camera, thirty frames a second: with sound and metadata, or pictures alone.
final class TrackedRecording {
    static let layout = PictureLayout(width: 192, height: 144, pixelFormat: "420v")
    static let frameRate = 30
    static let interval = 1_000_000_000 / Int64(frameRate)
    static let sampleRate = 48_000

    let file: TemporaryFile
    let recording: RecordingFile
    private let encoder: SoundEncoder
    private(set) var frames = 0

    static func time(_ frame: Int) -> Int64 { Int64(frame) * 1_000_000_000 / Int64(frameRate) }

    init(
        fileType: RecordingFileType = .matroska, codec: VideoCodec? = nil, hasSound: Bool = true,
        metadata: [String] = ["location", "note"], orientation: Int? = nil, bytesMax: Int64? = nil
    ) throws {
        file = try TemporaryFile(".mkv")
        encoder = try SoundEncoder(sourceRate: Self.sampleRate, channels: 1)
        recording = try RecordingFile(
            file,
            RecordingFile.Plan(
                layout: Self.layout, frameRate: Double(Self.frameRate), fileType: fileType, codec: codec,
                sound: hasSound ? encoder.track : nil, metadata: fileType.keepsMetadata ? metadata : [],
                orientation: orientation),
            bytesMax: bytesMax)
    }

    convenience init(pictures: Int) throws {
        try self.init(hasSound: false, metadata: [])
        for _ in 0..<pictures { try picture() }
    }

    /// The next picture: plain, with its mark.
    @discardableResult
    func picture(at time: Int64? = nil) throws -> Bool {
        let time = time ?? Self.time(frames)
        frames += 1
        let mark = BurntInMark(captureTime: time, frameNumber: UInt32(frames))
        return try Self.layout.marked(mark, luma: 60).withUnsafeBytes {
            try recording.appendPicture($0, at: time, interval: Self.interval)
        }
    }

    /// The sound that belongs to one picture: silent, or at full swing.
    @discardableResult
    func sound(isLoud: Bool = false) throws -> Bool {
        let count = Self.sampleRate / Self.frameRate
        let samples = (0..<count).map { isLoud ? Int16(sin(Double($0) * 0.131) * 24_000) : 0 }
        return try put { try encoder.encode(.sound(samples: samples, frames: Int64(count)), $0) }
    }

    /// So many pictures, each with its sound, and the end of both.
    func finish(after count: Int) throws {
        for _ in 0..<count {
            try sound()
            try picture()
        }
        try endSound()
        recording.finish()
    }

    func endSound() throws { _ = try put { try encoder.finish($0) } }

    private func put(_ encode: ((SoundEncoder.Packet) throws(MediaFault) -> Void) throws -> Void) throws -> Bool {
        var isOpen = true
        try encode { (packet) throws(MediaFault) in
            isOpen = try recording.appendSound(packet.bytes, at: packet.time, duration: packet.duration) && isOpen
        }
        return isOpen
    }

    func note(_ text: String, at time: Int64, kind: String = "note") throws {
        let fits = try recording.appendMetadata(kind: kind, text, at: time)
        #expect(fits)
    }
}

/// A recording that nobody finished, and how long its file was after its header and after each picture.
struct KilledRecording {
    private(set) var bytes: [UInt8] = []
    private(set) var lengths: [Int]

    init(pictures: Int) throws {
        let made = try TrackedRecording(pictures: 0)
        lengths = [Int(made.recording.bytes)]
        for _ in 0..<pictures {
            try made.picture()
            lengths.append(Int(made.recording.bytes))
        }
        bytes = try made.file.bytes()
    }

    static let firstCapture: Int64 = 5_000_000_000_000

    /// With sound and metadata, and a pause of two seconds at 100 ms of the file.
    init(tracked frames: Int, _ fileType: RecordingFileType = .matroska) throws {
        let made = try TrackedRecording(fileType: fileType)
        made.recording.setTags([
            .firstCapture: String(Self.firstCapture), .pauses: "[[100000000, 2000000000]]", .location: "+48+016/",
        ])
        lengths = [Int(made.recording.bytes)]
        for frame in 0..<frames {
            if frame % 3 == 1, fileType.keepsMetadata {
                try made.note(#"{"items":["x"]}"#, at: TrackedRecording.time(frame))
            }
            try made.sound(isLoud: frame % 2 == 0)
            try made.picture(at: Self.time(frame))
            while lengths.count <= Int(made.recording.frames) { lengths.append(Int(made.recording.bytes)) }
        }
        bytes = try made.file.bytes()
    }

    /// Every second picture comes early: in the time that was the one's before it.
    static func time(_ frame: Int) -> Int64 {
        TrackedRecording.time(frame) - (frame == 0 || frame % 2 == 1 ? 0 : 8_000_000)
    }

    /// How many pictures are whole in so many bytes.
    func whole(in count: Int) -> Int { lengths.dropFirst().count { $0 <= count } }

    /// Every byte between the third picture's end and the fourth's, and every 31st of the others.
    var cuts: [Int] {
        let dense = lengths[3]...lengths[4]
        return (lengths[0]...bytes.count).filter { dense.contains($0) || $0 % 31 == 0 || $0 == bytes.count }
    }
}

/// An envelope whose writer has opened it and ended, or holds on to it with the mark that is returned.
func openedEnvelope(_ file: TemporaryFile, _ flags: Int32 = O_RDWR) throws -> (envelope: Int32, mark: Int32) {
    let envelope = try envelope(file.open(flags))
    var mark: Int32 = -1
    let written = camarb_open_envelope(envelope, &mark)
    try #require(written >= 0 && mark >= 0)
    close(written)
    return (envelope, mark)
}

func complete(_ file: TemporaryFile, _ flags: Int32 = O_RDWR) throws -> CompletedRecording {
    let (envelope, mark) = try openedEnvelope(file, flags)
    close(mark)
    return try complete(envelope)
}

func complete(_ envelope: Int32) throws -> CompletedRecording {
    try RecordingCompletion.complete(FileWriters.patient.start(envelope, again: true), until: .max)
}
