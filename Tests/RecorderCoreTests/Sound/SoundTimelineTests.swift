import RecorderCore
import Testing

private let ms: Int64 = 1_000_000

private func packet(_ time: Int64, _ count: Int, _ sample: Int16 = 1) -> SoundPacket {
    SoundPacket(time: time * ms, samples: [Int16](repeating: sample, count: count))
}

@Suite struct SoundTimelineTests {
    /// One channel at 1,000 Hz would be below what a microphone has, but makes a frame a millisecond.
    private func timeline(from start: Int64 = 10_000) -> SoundTimeline {
        SoundTimeline(sourceRate: 1000, fileRate: 1000, channels: 1, beginningAt: start * ms)
    }

    /// Equal frames in a row, as `5x1` for five frames with sample 1, and `7-` for seven silent ones.
    private func text(_ pieces: [SoundTimeline.Piece]) -> String {
        var runs: [(sample: Int16?, count: Int64)] = []
        func add(_ sample: Int16?, _ count: Int64) {
            if let last = runs.last, last.sample == sample {
                runs[runs.count - 1].count += count
            } else {
                runs.append((sample, count))
            }
        }
        for piece in pieces {
            switch piece {
            case .silence(let frames): add(nil, frames)
            case .sound(let samples, let frames):
                #expect(frames == Int64(samples.count), "nothing is stretched here")
                for sample in samples { add(sample, 1) }
            }
        }
        return runs.map { run in "\(run.count)" + (run.sample.map { "x\($0)" } ?? "-") }.joined(separator: " ")
    }

    /// Packets, and what a recording from 10 s to 11 s has of them.
    private static let seconds: [([SoundPacket], String)] = [
        ([], "1000-"), ([packet(10_000, 1000)], "1000x1"),
        // Sound before and behind the file is not in it, nor sound that ended as it began, or began as it ended.
        ([packet(9_500, 2000)], "1000x1"), ([packet(9_000, 1000)], "1000-"), ([packet(11_000, 1000)], "1000-"),
        ([packet(10_100, 100)], "100- 100x1 800-"), ([packet(9_000, 500), packet(10_900, 500, 2)], "900- 100x2"),
        // Gaps of more than 20 ms.
        ([packet(10_000, 500), packet(10_600, 400, 2)], "500x1 100- 400x2"),
        ([packet(10_000, 500), packet(10_521, 479, 2)], "500x1 21- 479x2"),
        // Overlaps; the last lies within another.
        ([packet(10_000, 600), packet(10_500, 500, 2)], "600x1 400x2"),
        ([packet(10_000, 600), packet(10_000, 600, 2), packet(10_600, 400, 3)], "600x1 400x3"),
        ([packet(10_000, 600), packet(10_300, 100, 2), packet(10_600, 400, 3)], "600x1 400x3"),
        // Packets that came in time are put in order.
        ([packet(10_500, 100), packet(10_000, 100, 2), packet(10_600, 100, 3)], "100x2 400- 100x1 100x3 300-"),
    ]

    @Test("Sound is where its times say, gaps become silence, and overlaps are dropped", arguments: seconds)
    func inASecond(_ packets: [SoundPacket], _ expected: String) {
        var timeline = timeline()
        for packet in packets { timeline.take(packet) }
        #expect(text(timeline.end(at: 11_000 * ms)) == expected)
        #expect(timeline.frames == 1000)
    }

    @Test func timesThatRunBackAreOverlaps() {
        var timeline = timeline()
        timeline.take(packet(10_000, 200))
        var pieces = timeline.advance(to: 10_200 * ms)
        timeline.take(packet(10_050, 100, 2))
        timeline.take(packet(10_200, 100, 3))
        pieces += timeline.end(at: 10_300 * ms)
        #expect(text(pieces) == "200x1 100x3")
    }

    @Test func whatHasNotComeWhenThePictureIs250MillisecondsFurtherIsSilence() {
        var timeline = timeline()
        timeline.take(packet(10_000, 100))
        var pieces = timeline.advance(to: 10_340 * ms)
        #expect(text(pieces) == "100x1")
        pieces += timeline.advance(to: 10_400 * ms)
        #expect(text(pieces) == "100x1 50-")
        // 20 frames of it are too late.
        timeline.take(packet(10_130, 200, 2))
        pieces += timeline.advance(to: 10_401 * ms)
        #expect(text(pieces) == "100x1 50- 180x2")
        #expect(timeline.framesLate == 20)
    }

    @Test func aTimeAheadSilencesNothingBeforeIt() {
        var timeline = timeline()
        timeline.take(packet(10_000, 100))
        timeline.take(packet(19_000, 100, 9))
        timeline.take(packet(10_100, 100, 2))
        #expect(text(timeline.advance(to: 10_200 * ms)) == "100x1 100x2")
        timeline.take(packet(10_200, 100, 3))
        #expect(text(timeline.end(at: 10_300 * ms)) == "100x3")
    }

    @Test func whatIsAheadOfThePictureIsBounded() {
        var timeline = timeline()
        for second in 0..<100 { timeline.take(packet(20_000 + Int64(second) * 1000, 1000)) }
        #expect(text(timeline.end(at: 120_000 * ms)) == "10000- 4000x1 96000-")
    }

    @Test func aPauseIsNotInTheFileAndTimesRunOn() {
        var timeline = timeline()
        timeline.take(packet(10_000, 400))
        timeline.take(packet(10_400, 600, 2))
        timeline.take(packet(11_000, 500, 3))
        timeline.pause(at: 10_500 * ms)
        #expect(text(timeline.advance(to: 10_600 * ms)) == "400x1", "a packet that may reach beyond the pause waits")
        timeline.resume(at: 11_200 * ms)
        var pieces = timeline.advance(to: 11_300 * ms)
        pieces += timeline.end(at: 11_600 * ms)
        #expect(text(pieces) == "100x2 300x3 100-")
        #expect(timeline.frames == 900)
    }

    @Test func aPacketMayReachOverAWholePause() {
        var timeline = timeline()
        timeline.pause(at: 10_100 * ms)
        timeline.resume(at: 10_300 * ms)
        timeline.pause(at: 10_400 * ms)
        timeline.resume(at: 10_600 * ms)
        timeline.take(SoundPacket(time: 10_000 * ms, samples: (0..<1000).map { Int16($0) }))
        var samples: [Int16] = []
        for piece in timeline.end(at: 10_700 * ms) {
            if case .sound(let some, _) = piece { samples += some } else { Issue.record("silence: \(piece)") }
        }
        #expect(samples == Array(0..<100) + Array(300..<400) + Array(600..<700))
    }

    @Test func aFileThatEndsInAPauseEndsWhereThatBegan() {
        var timeline = timeline()
        timeline.take(packet(10_000, 1000))
        timeline.pause(at: 10_300 * ms)
        #expect(text(timeline.end(at: 10_900 * ms)) == "300x1")
    }

    @Test func stereoStaysTogether() {
        var timeline = SoundTimeline(sourceRate: 1000, fileRate: 1000, channels: 2, beginningAt: 10_050 * ms)
        timeline.take(SoundPacket(time: 10_000 * ms, samples: (0..<200).map { Int16($0) }))
        let pieces = timeline.end(at: 10_080 * ms)
        #expect(pieces == [.sound(samples: (100..<160).map { Int16($0) }, frames: 30)])
    }
}
