import ArbiterProtocol
import CLinux
import Glibc

/// A RIFF/WAVE file of signed 16-bit PCM, played once, from the moment at which it is attached.
struct WaveFile: SoundSource {
    let path: String
    let format: MicrophoneFormat
    /// Where the samples are in the file.
    private let begin: Int
    private let bytes: Int

    /// Formats' numbers (RFC 2361): PCM, and one that says its own number further on.
    private static let pcm = 1
    private static let extensible = 0xFFFE
    /// More chunks before the sound than any program writes.
    private static let chunksMax = 64

    /// - Throws: where the file cannot be read or has other sound than a microphone, with a sentence.
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
                var kind = Self.number(words, at: 0, bytes: 2)
                if kind == Self.extensible, words.count >= 26 { kind = Self.number(words, at: 24, bytes: 2) }
                guard kind == Self.pcm, Self.number(words, at: 14, bytes: 2) == 16 else {
                    throw wrong("has sound in another form")
                }
                let found = MicrophoneFormat(
                    sampleRate: UInt32(Self.number(words, at: 4, bytes: 4)),
                    channels: UInt32(Self.number(words, at: 2, bytes: 2)))
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
        var pacing = SoundPacing(sampleRate: format.sampleRate, begin: camarb_monotonic_ns())
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
            let (time, end) = pacing.next(frames: frames)
            _ = camarb_poll(nil, 0, max(0, end - camarb_monotonic_ns()))
            guard take(samples, time) else { return nil }
        }
        return nil
    }

    /// Fewer at the file's end.
    private static func read(_ descriptor: Int32, at place: Int, count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = pread(descriptor, &bytes, count, place)
        return Array(bytes.prefix(max(0, got)))
    }

    private static func number(_ bytes: [UInt8], at place: Int, bytes count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
    }
}
