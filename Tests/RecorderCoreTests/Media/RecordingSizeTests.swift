import FrameStream
import RecorderCore
import RecordingFootage
import Testing

/// What a minute of noisy footage has. A few seconds of it are enough: footage and encoders do the same on every run.
@Suite(.timeLimit(.minutes(10))) struct RecordingSizeTests {
    private func megabytes(_ width: Int, _ height: Int, _ frameRate: Int, seconds: Int) throws -> Double {
        let layout = PictureLayout(width: width, height: height, pixelFormat: "420v")
        let file = try TemporaryFile(".mkv")
        let recording = try RecordingFile(
            file: OutputFile(try envelope(file.open()), in: .patient, bytesMax: nil),
            RecordingFile.Plan(layout: layout, frameRate: Double(frameRate)))
        var footage = NoisyFootage(layout)
        let interval = 1_000_000_000 / Int64(frameRate)
        for number in 0..<(frameRate * seconds) {
            let fits = try footage.next().withUnsafeBytes {
                try recording.appendPicture($0, at: Int64(number) * interval, interval: interval)
            }
            #expect(fits)
        }
        return Double(recording.bytes) / 1e6 / Double(seconds) * 60
    }

    @Test(
        "Noisy footage is within 15 % of the published sizes, 60 frames a second of 1080p as H.264, too",
        arguments: [(1280, 720, 30, 79.0), (1920, 1080, 30, 130), (1920, 1080, 60, 260)])
    func published(_ width: Int, _ height: Int, _ frameRate: Int, _ published: Double) throws {
        let megabytes = try megabytes(width, height, frameRate, seconds: 2)
        #expect(abs(megabytes / published - 1) <= 0.15, "\(megabytes) MB a minute")
    }

    @Test("Noisy footage in 4K is below twice the published size")
    func fourK() throws {
        let megabytes = try megabytes(3840, 2160, 30, seconds: 3)
        #expect(megabytes < 750, "\(megabytes) MB a minute")
    }
}
