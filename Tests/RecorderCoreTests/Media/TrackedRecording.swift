import ArbiterProtocol
import FrameStream
import Glibc
import RecorderCore
import Testing

/// A recording with sound and metadata that a test makes, thirty frames a second, without a camera.
final class TrackedRecording {
    static let layout = PictureLayout(width: 192, height: 144, pixelFormat: "420v")
    static let frameRate = 30
    static let sampleRate = 48_000

    let file: TemporaryFile
    let recording: RecordingFile
    private let encoder: SoundEncoder
    private var soundFrames = 0
    private(set) var frames = 0

    static func time(_ frame: Int) -> Int64 { Int64(frame) * 1_000_000_000 / Int64(frameRate) }

    init(
        fileType: RecordingFileType = .matroska, codec: VideoCodec? = nil, hasSound: Bool = true,
        metadata: [String] = ["location", "note"],
        orientation: Int? = nil, bytesMax: Int64? = nil
    ) throws {
        file = try TemporaryFile(".mkv")
        encoder = try SoundEncoder(sourceRate: Self.sampleRate, channels: 1)
        let sound = RecordingFile.SoundTrack(
            sampleRate: Int32(encoder.sampleRate), channels: 1, configuration: encoder.configuration,
            primingFrames: encoder.primingFrames, bitRate: encoder.bitRate)
        recording = try RecordingFile(
            file: OutputFile(try envelope(file.open()), in: .patient, bytesMax: bytesMax),
            RecordingFile.Plan(
                layout: Self.layout, frameRate: Double(Self.frameRate), fileType: fileType, codec: codec,
                sound: hasSound ? sound : nil,
                metadata: metadata, orientation: orientation))
    }

    /// The next picture: plain, with its mark.
    @discardableResult
    func picture(at time: Int64? = nil) throws -> Bool {
        let time = time ?? Self.time(frames)
        frames += 1
        var picture = [UInt8](repeating: 60, count: Self.layout.bytes)
        let mark = BurntInMark(captureTime: time, frameNumber: UInt32(frames))
        picture.withUnsafeMutableBytes { mark.draw(into: $0, layout: Self.layout) }
        return try picture.withUnsafeBytes {
            try recording.appendPicture($0, at: time, interval: 1_000_000_000 / Int64(Self.frameRate))
        }
    }

    /// The sound that belongs to one picture: silent, or at full swing.
    @discardableResult
    func sound(isLoud: Bool = false) throws -> Bool {
        let count = Self.sampleRate / Self.frameRate
        let samples = (0..<count).map { isLoud ? Int16(sin(Double($0) * 0.131) * 24_000) : 0 }
        soundFrames += count
        return try put { try encoder.encode(.sound(samples: samples, frames: Int64(count)), $0) }
    }

    /// The sound's last packets.
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
