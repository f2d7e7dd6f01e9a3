import Camarb
import Glibc
import WorkbenchCommands

/// A RIFF/WAVE file of signed 16-bit PCM, played once, from the moment at which it is attached.
struct WaveFile: SoundSource {
    private let file: FileBytes
    private var pacing: SoundPacing
    private var place: UInt64
    private let end: UInt64
    var format: MicrophoneFormat { pacing.format }

    init(_ path: String) throws(Failure) {
        guard let file = FileBytes(path) else { throw Failure.file(path, "cannot be read", errno) }
        func wrong(_ what: String) -> Failure {
            Failure(
                .file,
                "\(path) \(what). --microphone reads WAV files of 16-bit PCM; ffmpeg -i FILE -c:a pcm_s16le OTHER.wav makes one."
            )
        }
        let head = file.read(at: 0, 12)
        guard head.starts(with: "RIFF".utf8), head.dropFirst(8).elementsEqual("WAVE".utf8) else {
            throw wrong("is not a WAV file")
        }
        var format: MicrophoneFormat?
        var place: UInt64 = 12
        // No program writes more chunks before the sound.
        for _ in 0..<64 {
            let chunk = file.read(at: place, 8)
            guard chunk.count == 8 else { break }
            let length = chunk.number(at: 4, 4)
            place += 8
            if chunk.starts(with: "fmt ".utf8) {
                let words = file.read(at: place, Int(min(length, 40)))
                guard words.count >= 16 else { throw wrong("has a head that is cut off") }
                guard let found = Self.format(words) else { throw wrong("has sound in another form") }
                if let problem = found.problem {
                    throw Failure(.file, "\(path) is not a microphone's sound: \(problem)")
                }
                format = found
            } else if chunk.starts(with: "data".utf8), let format {
                (self.file, self.place, pacing) = (file, place, SoundPacing(format))
                // Programs that write into a pipe leave 0, or the greatest number: the sound lasts until the file's end.
                end = place + (length == 0 ? UInt64(UInt32.max) : length)
                return
            }
            place += length + length % 2
        }
        throw wrong("has no sound in it")
    }

    /// A `fmt ` chunk (RFC 2361): its kind is PCM, or 0xFFFE with the kind further on.
    private static func format(_ words: [UInt8]) -> MicrophoneFormat? {
        let kind = words.number(at: 0, 2)
        guard (kind == 0xFFFE && words.count >= 26 ? words.number(at: 24, 2) : kind) == 1, words.number(at: 14, 2) == 16
        else { return nil }
        return MicrophoneFormat(
            sampleRate: UInt32(words.number(at: 4, 4)), channels: UInt32(words.number(at: 2, 2)))
    }

    mutating func next() -> (samples: [Int16], time: Int64)? {
        let frameBytes = 2 * Int(format.channels)
        let part = file.read(at: place, min(pacing.packetFrames * frameBytes, Int(clamping: end - place)))
        let bytes = part.count / frameBytes * frameBytes
        guard bytes > 0 else { return nil }
        place += UInt64(bytes)
        return pacing.packet(
            stride(from: 0, to: bytes, by: 2).map { Int16(truncatingIfNeeded: part.number(at: $0, 2)) })
    }
}
