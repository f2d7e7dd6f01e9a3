import ArbiterProtocol
import CameraFile
import FrameStream
import RecorderCore
import Testing

/// A camera of 240 frames a second, faster than a machine may be that tests run on: by a virtual clock none is late.
@Suite(.timeLimit(.minutes(10))) struct HighSpeedTests {
    @Test("Four seconds of 720p240 are 960 distinct frames, without a gap")
    func everyFrameOfFourSeconds() async throws {
        let clock = VirtualClock(beginningAt: 1_000_000_000)
        let test = CaptureUnderTest(simulating: try CameraFile.named("iphone6s-back"), by: clock)
        let inForce = try await test.open(
            1, Configuration([.activeFormat: .text("420v 1280x720@240 binned"), .frameRate: .number(240)]))
        #expect(inForce[.frameRate] == .number(240))
        let stream = try await test.stream(1)
        let interval = Int64(1e9 / 240.0)
        let (count, began) = (960, ContinuousClock.now)
        var marks: Set<BurntInMark> = []
        for index in 1...count {
            clock.advance(by: interval)
            let (record, mark) = try #require(try stream.mark())
            // The first frame of the grant was captured when it was opened, before the stream.
            try #require(record.sequence == UInt64(index + 1))
            try #require(record.timestamp == 1_000_000_000 + Int64(index) * interval)
            try #require(mark.captureTime == record.timestamp && UInt64(mark.frameNumber) == record.sequence)
            marks.insert(mark)
        }
        #expect(marks.count == count)
        // How fast this machine is, for people: the test holds on any.
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        print(
            "720p240: \(count) distinct frames, each read before the next, at \(Int(Double(count) / seconds)) a second")
    }
}
