import RecorderCore
import Testing

@Suite struct FileClockTests {
    private let frame: Int64 = 40

    /// Frames at these moments, each shown for 40.
    private func clock(_ moments: [Int64]) -> FileClock {
        var clock = FileClock()
        for moment in moments { _ = clock.frame(captured: moment, interval: frame) }
        return clock
    }

    @Test func aFileBeginsWithItsFirstFrameAndAPauseBeforeThatIsNone() {
        var clock = FileClock()
        clock.pause()
        clock.resume()
        #expect(!clock.hasBegun && clock.place(of: 1_000) == nil && clock.fileEnd == 0)
        #expect(clock.frame(captured: 1_000, interval: frame) == 0)
        #expect(clock.frame(captured: 1_045, interval: frame) == 45)
        #expect(clock.fileEnd == 85 && clock.firstCapture == 1_000 && clock.pauses.isEmpty)
        #expect(clock.place(of: 999) == nil)
        #expect(clock.place(of: 1_020) == 20)
    }

    @Test func timesRunOnBehindAPause() {
        var clock = clock([1_000, 1_040])
        clock.pause()
        clock.resume()
        #expect(clock.frame(captured: 5_000, interval: frame) == 80, "the first frame follows the last one")
        #expect(clock.frame(captured: 5_040, interval: frame) == 120)
        #expect(clock.fileEnd == 160)
        #expect(clock.pauses.map(\.at) == [80] && clock.pauses.map(\.length) == [5_000 - 1_080])
        for (moment, place): (Int64, Int64?) in [
            (1_079, 79), (1_080, nil), (3_000, nil), (4_999, nil), (5_000, 80), (5_050, 130),
        ] { #expect(clock.place(of: moment) == place, "\(moment)") }
    }

    @Test func aPauseThatNoFrameFollowsEndsTheFile() {
        var clock = clock([0, 40])
        clock.pause()
        #expect(clock.fileEnd == 80)
        clock.resume()
        #expect(clock.fileEnd == 80 && clock.pauses.isEmpty)
    }

    @Test func ofMorePausesThanAreWrittenDownTheLastCountAsOne() {
        var clock = FileClock()
        for turn in 0..<Int64(FileClock.pausesMax + 10) {
            _ = clock.frame(captured: turn * 1_000, interval: frame)
            clock.pause()
            clock.resume()
        }
        #expect(clock.pauses.count == FileClock.pausesMax)
        #expect(clock.pauses.map(\.length).reduce(0, +) == Int64(FileClock.pausesMax + 9) * (1_000 - frame))
        #expect(clock.fileEnd == Int64(FileClock.pausesMax + 10) * frame)
    }
}
