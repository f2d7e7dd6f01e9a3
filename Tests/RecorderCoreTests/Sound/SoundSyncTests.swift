import ArbiterProtocol
import FrameStream
import Glibc
import RecorderCore
import Testing

/// Sound and picture of one moment are together in the file: frames carry their capture time, so the picture itself says which
/// moment it shows, and the microphone beeps at each full second.
@Suite(.timeLimit(.minutes(10))) struct SoundSyncTests {
    private static let layout = PictureLayout(width: 192, height: 144, pixelFormat: "420v")
    private static let interval: Int64 = 33_333_333
    private static let sampleRate = 16_000
    /// In nanoseconds.
    private static let beep: Int64 = 30_000_000
    private static let second: Int64 = 1_000_000_000

    /// Records so many seconds, with sound of a microphone whose clock is fast, whose packets' times jitter by 2 ms and come 60 ms
    /// late.
    private func record(seconds: Int64, fast: Double, into file: TemporaryFile) throws {
        let encoder = try SoundEncoder(sourceRate: Self.sampleRate, channels: 1)
        let recording = try RecordingFile(
            file, RecordingFile.Plan(layout: Self.layout, frameRate: 30, codec: .h264, sound: encoder.track))
        let begin: Int64 = 1000 * Self.second + 123_456_789
        var random = SeededRandom(5)
        var source = TestSource(sampleRate: Self.sampleRate, fast: fast, start: begin - 400_000_000)
        var timeline = SoundTimeline(
            sourceRate: Self.sampleRate, fileRate: encoder.sampleRate, channels: 1, beginningAt: begin)
        func write(_ packet: SoundEncoder.Packet) throws(MediaFault) {
            _ = try recording.appendSound(packet.bytes, at: packet.time, duration: packet.duration)
        }
        func put(_ pieces: [SoundTimeline.Piece]) throws(MediaFault) {
            for piece in pieces { try encoder.encode(piece) { (packet) throws(MediaFault) in try write(packet) } }
        }
        var captured = begin
        var number: UInt32 = 0
        while captured < begin + seconds * Self.second {
            let picture = Self.layout.marked(BurntInMark(captureTime: captured, frameNumber: number))
            try recording.append(picture, at: captured - begin, interval: Self.interval)
            while source.now + 60_000_000 <= captured {
                timeline.take(heard(&source, off: Int64.random(in: -2_000_000...2_000_000, using: &random)))
            }
            try put(timeline.advance(to: captured))
            captured += Self.interval
            number += 1
        }
        while source.now < captured { timeline.take(heard(&source, off: 0)) }
        try put(timeline.end(at: captured))
        try encoder.finish { (packet) throws(MediaFault) in try write(packet) }
        recording.finish()
        #expect(timeline.framesLate == 0)
    }

    /// The next packet: what is to be heard at the moments at which its frames are captured.
    private func heard(_ source: inout TestSource, off: Int64) -> SoundPacket {
        let first = source.frame
        var packet = source.packet(320, off: off)
        for place in packet.samples.indices {
            let moment = Int64(source.moment(of: Double(first + Int64(place)))) % Self.second
            let wave = sin(2 * .pi * 1000 * Double(moment) / 1e9)
            packet.samples[place] = moment < Self.beep ? Int16(20_000 * wave) : Int16(200 * wave)
        }
        return packet
    }

    @Test(
        "A flash and a beep of one moment are at most 40 ms apart, at the start and after ten minutes of a source 0.1 % fast"
    )
    func tenMinutes() throws {
        let file = try TemporaryFile(".mkv")
        let seconds: Int64 = 604
        try record(seconds: seconds, fast: 0.001, into: file)
        let sound = try DecodedSound(file.path)
        let beeps = sound.beeps(above: 0.2)
        // Which moment each picture shows, by its own word, and when it is shown.
        let reader = try VideoReader(path: file.path, loops: false)
        var shown: [(captured: Int64, time: Double)] = []
        while let time = try? reader.next() {
            let mark = try reader.mark()
            shown.append((try #require(mark).captureTime, sound.pictureStart + Double(time) / 1e9))
        }
        #expect(Int64(shown.count) == seconds * 30 + 1)
        #expect(beeps.count == Int(seconds), "\(beeps.count) beeps in \(seconds) seconds")
        var (worst, place) = (0.0, 0)
        for moment in (1001...1000 + seconds).map({ $0 * Self.second }) {
            while place + 1 < shown.count, shown[place + 1].captured <= moment { place += 1 }
            let flash = shown[place].time + Double(moment - shown[place].captured) / 1e9
            let beep = try #require(beeps.min { abs($0 - flash) < abs($1 - flash) })
            worst = max(worst, abs(beep - flash))
            #expect(abs(beep - flash) < 0.040, "\(beep - flash) s at \(flash) s")
        }
        let pictureEnd = try #require(shown.last).time + Double(Self.interval) / 1e9
        #expect(abs(sound.end - pictureEnd) < 0.1, "sound ends at \(sound.end) s, the picture at \(pictureEnd) s")
        print("flash and beep: at most \(worst * 1000) ms apart in \(seconds) seconds")
        withExtendedLifetime(file) {}
    }
}
