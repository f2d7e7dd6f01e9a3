import FrameStream
import RecorderCore
import RecordingFootage
import Testing

/// The bytes of a minute of noisy footage. A few seconds of it are enough: footage and encoders do the same on every run.
@Suite(.timeLimit(.minutes(10))) struct RecordingSizeTests {
    @Test(
        "Noisy footage is within 15 % of the published sizes, 60 frames a second of 1080p, too, and in 4K below twice that",
        arguments: [
            (1280, 720, 30, 79 * 0.85...79 * 1.15), (1920, 1080, 30, 130 * 0.85...130 * 1.15),
            (1920, 1080, 60, 260 * 0.85...260 * 1.15), (3840, 2160, 30, 1...749.9),
        ] as [(Int, Int, Int, ClosedRange<Double>)])
    func megabytes(_ width: Int, _ height: Int, _ frameRate: Int, _ published: ClosedRange<Double>) throws {
        let layout = PictureLayout(width: width, height: height, pixelFormat: "420v")
        let file = try TemporaryFile(".mkv")
        let recording = try RecordingFile(file, RecordingFile.Plan(layout: layout, frameRate: Double(frameRate)))
        var footage = NoisyFootage(layout)
        let (interval, seconds) = (1_000_000_000 / Int64(frameRate), width > 1920 ? 3 : 2)
        for number in 0..<(frameRate * seconds) {
            try recording.append(footage.next(), at: Int64(number) * interval, interval: interval)
        }
        let megabytes = Double(recording.bytes) / 1e6 / Double(seconds) * 60
        #expect(published.contains(megabytes), "\(megabytes) MB a minute")
    }
}
