import RecorderCore
import Testing

private let ms: Int64 = 1_000_000

/// Sound stays beside the picture of its moment, whatever its source's clock does, and for as long as a recording goes on.
@Suite struct SoundSyncTests {
    /// Plays a source into a timeline, at 30 pictures a second.
    /// - Parameter packets: gives the next packet of the source, with what it wants of jitter and gaps.
    private func play(
        _ source: TestSource, seconds: Int, delay: Int64 = 40_000_000, fileRate: Int? = nil,
        _ packets: (inout TestSource) -> SoundPacket
    ) -> Placement {
        var source = source
        let fileRate = fileRate ?? source.sampleRate
        var timeline = SoundTimeline(
            sourceRate: source.sampleRate, fileRate: fileRate, channels: 1, beginningAt: source.start)
        var placement = Placement()
        var picture = source.start
        let end = source.start + Int64(seconds) * 1_000_000_000
        while picture < end {
            // A packet comes when its last frame was captured, and a little later.
            while source.now + delay <= picture { timeline.take(packets(&source)) }
            placement.add(timeline.advance(to: picture), of: source, fileRate: fileRate)
            picture += 33_333_333
        }
        while source.now < end { timeline.take(packets(&source)) }
        placement.add(timeline.end(at: end), of: source, fileRate: fileRate)
        #expect(timeline.frames == Int64(seconds) * Int64(fileRate), "sound is as long as the picture")
        #expect(placement.frames == timeline.frames)
        return placement
    }

    @Test(
        "A source 0.1 % fast is never more than 5 ms from its place in ten minutes, and one 1 % fast or slow 10 ms in one",
        arguments: [
            (0.001, 600, 0.005), (-0.001, 600, 0.005), (0.01, 60, 0.010), (-0.01, 60, 0.010), (0.003, 60, 0.010),
            (0.0, 60, 0.010),
        ])
    func fast(_ fast: Double, _ seconds: Int, _ most: Double) {
        // A packet has 20 ms.
        let rate = seconds > 60 ? 8000 : 48_000
        let placement = play(TestSource(sampleRate: rate, fast: fast, start: 7_000_000_000), seconds: seconds) {
            $0.packet(rate / 50)
        }
        #expect(abs(placement.worst) < most, "\(placement.worst * 1000) ms at \(placement.worstAt) s")
        #expect(placement.silence == 0)
    }

    @Test func jitterOfSomeMillisecondsIsNotHeard() {
        var random = SeededRandom(1)
        for length in [96, 480, 1024, 4800] {
            let placement = play(TestSource(start: 7_000_000_000), seconds: 60) { source in
                source.packet(length, off: Int64.random(in: -4 * ms...4 * ms, using: &random))
            }
            // The first packet may say that it was later than the file's first moment, and the last that it was earlier.
            let edge: Int64 = 48 * 4
            #expect(
                placement.silences.allSatisfy { $0.upperBound <= edge || $0.lowerBound >= placement.frames - edge },
                "no gap: \(placement.silences)")
            #expect(abs(placement.worst) < 0.006, "\(placement.worst * 1000) ms at \(placement.worstAt) s")
            // A semitone is 5.9 %; what ears hear at best is 0.3 %.
            #expect(placement.stretch < 0.003, "\(length): \(placement.stretch)")
            #expect(placement.stretchAtFirst < 0.01, "\(length): \(placement.stretchAtFirst)")
        }
    }

    @Test func anotherRateOfTheFileIsKeptAsExactly() {
        let source = TestSource(sampleRate: 50_000, fast: 0.002, start: 7_000_000_000)
        let placement = play(source, seconds: 30, fileRate: 48_000) { $0.packet(1000) }
        #expect(abs(placement.worst) < 0.005 && placement.silence == 0, "\(placement.worst)")
    }

    @Test(
        "Whatever a source does, sound is as long as the picture and within 25 ms of its place",
        arguments: 1...40 as ClosedRange<UInt64>)
    func anySource(_ seed: UInt64) {
        var random = SeededRandom(seed)
        let rate = [8000, 16_000, 44_100, 48_000].randomElement(using: &random) ?? 8000
        let fast = Double.random(in: -0.01...0.01, using: &random)
        let jitter = Int64.random(in: 0...3 * ms, using: &random)
        let longest = Int.random(in: 50...rate / 10, using: &random)
        var missing = 0.0
        let source = TestSource(sampleRate: rate, fast: fast, start: Int64.random(in: 0...1 << 50, using: &random))
        let placement = play(source, seconds: 20, delay: Int64.random(in: 0...100, using: &random) * ms) { source in
            switch Int.random(in: 0..<200, using: &random) {
            case 0:
                // A gap.
                let count = Int.random(in: rate / 40...rate, using: &random)
                missing += Double(count) / Double(rate)
                source.skip(count)
            case 1:
                // The same again: the last half second, of which all is there already.
                source.frame = max(0, source.frame - Int64.random(in: 1...Int64(rate / 2), using: &random))
            default: break
            }
            return source.packet(
                Int.random(in: 1...longest, using: &random), off: Int64.random(in: -jitter...jitter, using: &random))
        }
        #expect(abs(placement.worst) < 0.025, "\(placement.worst * 1000) ms at \(placement.worstAt) s")
        let silence = Double(placement.silence) / Double(rate)
        #expect(silence < missing + 0.3, "\(silence) s of silence, \(missing) s missing")
    }
}
