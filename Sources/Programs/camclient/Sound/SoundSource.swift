import ArbiterProtocol
import CLinux
import Glibc

protocol SoundSource: Sendable {
    var format: MicrophoneFormat { get }

    /// Gives sound as it comes, interleaved and with the capture time of the first frame in nanoseconds of
    /// CLOCK_MONOTONIC, until
    /// `take` says no or it ends. Returns why it ended, as a sentence; nil: it has no more, or none is wanted.
    func play(_ take: (_ samples: [Int16], _ time: Int64) -> Bool) -> String?
}

/// Sound that is made, not captured: packets at the times at which a microphone would give them.
struct SoundPacing {
    /// Of a packet, in nanoseconds: as sound servers hand it out.
    private static let packet: Int64 = 20_000_000

    private let format: MicrophoneFormat
    /// Of the first frame, in nanoseconds of CLOCK_MONOTONIC.
    private let begin = camarb_monotonic_ns()
    private(set) var frames: Int64 = 0

    init(_ format: MicrophoneFormat) { self.format = format }

    var packetFrames: Int { Int(Int64(format.sampleRate) * Self.packet / 1_000_000_000) }

    /// When a frame is captured; by parts, since a day of frames times 10⁹ has no room.
    func time(of frame: Int64) -> Int64 {
        let rate = Int64(format.sampleRate)
        return begin + frame / rate * 1_000_000_000 + frame % rate * 1_000_000_000 / rate
    }

    mutating func give(_ samples: [Int16], to take: ([Int16], Int64) -> Bool) -> Bool {
        let first = frames
        frames += Int64(samples.count / Int(format.channels))
        _ = camarb_poll(nil, 0, max(0, time(of: frames) - camarb_monotonic_ns()))
        return take(samples, time(of: first))
    }
}

/// A quiet tone with a beep at each full second of CLOCK_MONOTONIC: 440 Hz, and from the second on for 50 ms 1,000 Hz, five
/// times as loud. Frames of the simulated cameras carry their capture time, so a recording of both says how far apart they are.
struct ToneSource: SoundSource {
    let format = MicrophoneFormat(sampleRate: 48_000, channels: 1)

    private static let beep: Int64 = 50_000_000
    private static let second: Int64 = 1_000_000_000

    func play(_ take: ([Int16], Int64) -> Bool) -> String? {
        var pacing = SoundPacing(format)
        while true {
            let packet = pacing.frames..<pacing.frames + Int64(pacing.packetFrames)
            let samples = packet.map { Self.sample(at: pacing.time(of: $0)) }
            guard pacing.give(samples, to: take) else { return nil }
        }
    }

    static func sample(at moment: Int64) -> Int16 {
        // Both have whole periods in a second, so that a day's moment need not be a floating number.
        let inSecond = moment % second
        let seconds = Double(inSecond) / 1e9
        return inSecond < beep
            ? Int16(15_000 * sin(2 * .pi * 1000 * seconds)) : Int16(3000 * sin(2 * .pi * 440 * seconds))
    }
}

/// A RIFF/WAVE file of signed 16-bit PCM, played once, from the moment at which it is attached.
struct WaveFile: SoundSource {
    let path: String
    let format: MicrophoneFormat
    private let begin: Int
    private let bytes: Int

    /// Formats' numbers (RFC 2361): PCM, and one that says its own number further on.
    private static let pcm = 1
    private static let extensible = 0xFFFE
    /// More chunks before the sound than any program writes.
    private static let chunksMax = 64

    init(_ path: String) throws(Failure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure.file(path, "cannot be read", errno) }
        defer { close(descriptor) }
        func wrong(_ what: String) -> Failure {
            Failure(
                .file,
                "\(path) \(what). --microphone reads WAV files of 16-bit PCM; ffmpeg -i FILE -c:a pcm_s16le OTHER.wav makes one."
            )
        }
        let head = Self.read(descriptor, at: 0, count: 12)
        guard head.count == 12, head.prefix(4).elementsEqual("RIFF".utf8), head.suffix(4).elementsEqual("WAVE".utf8)
        else { throw wrong("is no WAV file") }
        var format: MicrophoneFormat?
        var place = 12
        for _ in 0..<Self.chunksMax {
            let chunk = Self.read(descriptor, at: place, count: 8)
            guard chunk.count == 8 else { break }
            let length = Self.number(chunk, at: 4, bytes: 4)
            place += 8
            if chunk.prefix(4).elementsEqual("fmt ".utf8) {
                let words = Self.read(descriptor, at: place, count: min(length, 40))
                guard words.count >= 16 else { throw wrong("has a head that is cut off") }
                guard let found = Self.format(words) else { throw wrong("has sound in another form") }
                if let problem = found.problem {
                    throw Failure(.file, "\(path) is not a microphone's sound: \(problem)")
                }
                format = found
            } else if chunk.prefix(4).elementsEqual("data".utf8), let format {
                self.path = path
                self.format = format
                begin = place
                // Programs that write into a pipe say 0 or the greatest number there is: then it goes to the end.
                bytes = length == 0 ? Int(UInt32.max) : length
                return
            }
            // Chunks are padded to an even length.
            place += length + length % 2
        }
        throw wrong("has no sound in it")
    }

    func play(_ take: ([Int16], Int64) -> Bool) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "\(path) cannot be read any more." }
        defer { close(descriptor) }
        var pacing = SoundPacing(format)
        let frameBytes = 2 * Int(format.channels)
        var place = 0
        while place < bytes {
            let part = Self.read(
                descriptor, at: begin + place, count: min(pacing.packetFrames * frameBytes, bytes - place))
            let frames = part.count / frameBytes
            guard frames > 0 else { return nil }
            place += frames * frameBytes
            let samples = (0..<frames * Int(format.channels)).map {
                Int16(truncatingIfNeeded: Self.number(part, at: $0 * 2, bytes: 2))
            }
            guard pacing.give(samples, to: take) else { return nil }
        }
        return nil
    }

    private static func format(_ words: [UInt8]) -> MicrophoneFormat? {
        var kind = number(words, at: 0, bytes: 2)
        if kind == extensible, words.count >= 26 { kind = number(words, at: 24, bytes: 2) }
        guard kind == pcm, number(words, at: 14, bytes: 2) == 16 else { return nil }
        return MicrophoneFormat(
            sampleRate: UInt32(number(words, at: 4, bytes: 4)), channels: UInt32(number(words, at: 2, bytes: 2)))
    }

    private static func read(_ descriptor: Int32, at place: Int, count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = pread(descriptor, &bytes, count, place)
        return Array(bytes.prefix(max(0, got)))
    }

    private static func number(_ bytes: [UInt8], at place: Int, bytes count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
    }
}
