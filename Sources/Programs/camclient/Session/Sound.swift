import ArgumentParser
import CLinux
import CPipeWire
import Camarb
import Glibc
import Synchronization
import System
import WorkbenchCommands

enum MicrophoneArgument: ExpressibleByArgument {
    case tone, pipewire
    case file(String)

    init?(argument: String) {
        switch argument {
        case "": return nil
        case "tone": self = .tone
        case "pipewire": self = .pipewire
        default: self = .file(argument)
        }
    }

    func open() throws(Failure) -> RecordingMicrophone {
        switch self {
        case .tone: RecordingMicrophone(ToneSource())
        case .pipewire: RecordingMicrophone(try PipeWireSource())
        case .file(let path): RecordingMicrophone(try WaveFile(path))
        }
    }
}

/// The sound of a command's recordings: a source that plays from the first recording on, and the microphone of the present one.
final class RecordingMicrophone: Sendable {
    private let source: any SoundSource
    private let state = Mutex(State())

    private struct State {
        var writer: MicrophoneWriter?
        var hasBegun = false
        var isOver = false
    }

    init(_ source: any SoundSource) { self.source = source }

    func attach(to session: SessionHandle) async throws(BrokerError) {
        let writer = try MicrophoneWriter(source.format)
        try await writer.attach(to: session)
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            state.writer = writer
            return !state.hasBegun
        }
        guard isFirst, !startThread({ [self] in play() }) else { return }
        throw BrokerError(.outOfResources, "No thread could be started for the microphone.")
    }

    func end() {
        state.withLock { state in
            state.isOver = true
            state.writer?.close()
            state.writer = nil
        }
    }

    private func play() {
        var source = source
        do throws(Failure) {
            while let (samples, time) = try source.next() {
                let (writer, isOver) = state.withLock { ($0.writer, $0.isOver) }
                if isOver { return }
                // Between two recordings the sound is lost.
                if writer?.write(samples, capturedAt: time) == .closed {
                    state.withLock { state in if state.writer === writer { state.writer = nil } }
                }
            }
        } catch { Output.notice("camclient: \(error.message)") }
    }
}

protocol SoundSource: Sendable {
    var format: MicrophoneFormat { get }
    /// Waits for the next packet: interleaved samples, and the capture time of the first frame in nanoseconds of
    /// CLOCK_MONOTONIC; nil at the end. The source plays from the first call on.
    mutating func next() throws(Failure) -> (samples: [Int16], time: Int64)?
}

/// The clock of sound that is made, not captured: packets of 20 ms, as sound servers give them.
struct SoundPacing {
    let format: MicrophoneFormat
    /// The capture time of the first frame, in nanoseconds of CLOCK_MONOTONIC.
    private lazy var begin = camarb_monotonic_ns()
    private(set) var frames: Int64 = 0

    init(_ format: MicrophoneFormat) { self.format = format }

    var packetFrames: Int { Int(format.sampleRate) / 50 }

    /// A frame's capture time; by parts, since a day of frames times 10⁹ has no room.
    mutating func time(of frame: Int64) -> Int64 {
        let rate = Int64(format.sampleRate)
        return begin + frame / rate * 1_000_000_000 + frame % rate * 1_000_000_000 / rate
    }

    mutating func packet(_ samples: [Int16]) -> (samples: [Int16], time: Int64) {
        let first = frames
        frames += Int64(samples.count / Int(format.channels))
        _ = camarb_poll(nil, 0, max(0, time(of: frames) - camarb_monotonic_ns()))
        return (samples, time(of: first))
    }
}

/// A quiet tone with a beep at each full second of CLOCK_MONOTONIC: 440 Hz, and from the second on for 50 ms 1,000 Hz, five
/// times as loud. Frames of the simulated cameras carry their capture time, so a recording of both shows how far apart they are.
struct ToneSource: SoundSource {
    private var pacing = SoundPacing(MicrophoneFormat(sampleRate: 48_000, channels: 1))
    var format: MicrophoneFormat { pacing.format }

    mutating func next() -> (samples: [Int16], time: Int64)? {
        let packet = pacing.frames..<pacing.frames + Int64(pacing.packetFrames)
        return pacing.packet(packet.map { Self.sample(at: pacing.time(of: $0)) })
    }

    private static func sample(at moment: Int64) -> Int16 {
        let inSecond = moment % 1_000_000_000
        let seconds = Double(inSecond) / 1e9
        return inSecond < 50_000_000
            ? Int16(15_000 * sin(2 * .pi * 1000 * seconds)) : Int16(3000 * sin(2 * .pi * 440 * seconds))
    }
}

/// The usual source of the PipeWire that runs in this login session; `next` may be on another thread than `init`.
final class PipeWireSource: SoundSource, @unchecked Sendable {
    let format: MicrophoneFormat
    // Used by `init`, then by one thread, then by `deinit`.
    private let microphone: OpaquePointer
    private var hasBegun = false

    /// From the connection until sound comes, in nanoseconds: a sound card that slept takes a second.
    private static let startMax: Int64 = 5_000_000_000

    private static func failure(_ sentence: String) -> Failure {
        Failure(.answerIsNo, "\(sentence). --microphone also takes tone, or a WAV file.")
    }

    private static func error(of microphone: OpaquePointer) -> String {
        String(cString: camarb_pipewire_microphone_error(microphone)).printable
    }

    /// Connects, and waits until PipeWire gives a rate and channels.
    init() throws(Failure) {
        var opened: OpaquePointer?
        let fault = camarb_pipewire_fault(rawValue: UInt32(camarb_pipewire_microphone_open(&opened)))
        if fault == camarb_pipewire_no_library {
            throw Self.failure("PipeWire's library (libpipewire-0.3.so.0) is not installed, or older than 0.3.50")
        }
        guard fault == camarb_pipewire_good, let opened else {
            throw Self.failure("PipeWire does not run in this session")
        }
        let deadline = camarb_monotonic_ns() + Self.startMax
        while camarb_pipewire_microphone_rate(opened) == 0 {
            let left = deadline - camarb_monotonic_ns()
            guard left > 0, camarb_pipewire_microphone_turn(opened, left) >= 0 else {
                let error = Self.error(of: opened)
                camarb_pipewire_microphone_close(opened)
                throw Self.failure("PipeWire gives no sound: \(error.isEmpty ? "it has no microphone" : error)")
            }
        }
        microphone = opened
        format = MicrophoneFormat(
            sampleRate: camarb_pipewire_microphone_rate(opened), channels: camarb_pipewire_microphone_channels(opened))
    }

    deinit { camarb_pipewire_microphone_close(microphone) }

    func next() throws(Failure) -> (samples: [Int16], time: Int64)? {
        // Sound from before the first recording is not part of it.
        while !hasBegun, camarb_pipewire_microphone_peek(microphone) != nil {
            camarb_pipewire_microphone_taken(microphone)
        }
        hasBegun = true
        while true {
            if let packet = camarb_pipewire_microphone_peek(microphone)?.pointee {
                defer { camarb_pipewire_microphone_taken(microphone) }
                let count = Int(packet.frames) * Int(format.channels)
                return (Array(UnsafeBufferPointer(start: packet.samples, count: count)), packet.captured)
            }
            guard camarb_pipewire_microphone_turn(microphone, 1_000_000_000) >= 0 else {
                throw Failure(.answerIsNo, "PipeWire's microphone has gone: \(Self.error(of: microphone)).")
            }
        }
    }
}

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
