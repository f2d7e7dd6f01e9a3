import RecorderCore
import Testing

@Suite("What a recording's tracks give, in one order") struct InterleaverTests {
    private typealias Tracks = Interleaver<String>
    private static let ms: Int64 = 1_000_000

    /// All that may be written now.
    private func written(_ tracks: inout Tracks) -> [String] {
        var all: [String] = []
        while let item = tracks.next() { all.append(item) }
        return all
    }

    /// The order of writing, by sorting everything anew after each item.
    private struct Naive {
        var waiting: [(name: String, track: Tracks.Track, time: Int64, bytes: Int, order: Int)] = []
        var (pictures, sound): (Int64, Int64) = (-1, -1)
        var count = 0

        mutating func written() -> [String] {
            var all: [String] = []
            waiting.sort { ($0.time, $0.track.rawValue, $0.order) < ($1.time, $1.track.rawValue, $1.order) }
            while let first = waiting.first, let last = waiting.last {
                let isKnown =
                    (first.track == .picture || pictures >= first.time)
                    && (first.track == .sound || sound >= first.time)
                let isLate = last.time - first.time > 400 * ms
                let isMuch = waiting.count > 512 || waiting.map(\.bytes).reduce(0, +) > 32 * 1024 * 1024
                guard isKnown || isLate || isMuch else { return all }
                all.append(waiting.removeFirst().name)
            }
            return all
        }
    }

    /// Beyond forty there is no sound.
    @Test("It writes what sorting everything anew would, at the same moment", arguments: 1...44 as ClosedRange<UInt64>)
    func likeSorting(seed: UInt64) {
        var random = SeededRandom(seed)
        let hasSound = seed <= 40
        var (tracks, naive) = (Tracks(hasSound: hasSound), Naive())
        if !hasSound { naive.sound = .max }
        // Of a track's times each is at or after the one before. Some recordings have large pictures, some tiny packets.
        var times: [Int64] = [0, 0, 0]
        let (sizes, steps) = (seed % 4 == 0 ? 1...(4 << 20) : 1...1000, seed % 3 == 0 ? 0...1 : 0...(40 * Self.ms))
        for count in 0..<1500 {
            let track = [Tracks.Track.text, .sound, .picture][Int.random(in: 0...2, using: &random)]
            if track == .sound, !hasSound { continue }
            // Now and then a track is silent for long.
            if track.rawValue == Int(count / 500), Int.random(in: 0...50, using: &random) > 0 { continue }
            if track == .sound, Int.random(in: 0..<8, using: &random) == 0 {
                // A silence, which may end before the sound that is known.
                let time = times[1] + Int64.random(in: -steps.upperBound...steps.upperBound, using: &random)
                tracks.soundIsComplete(upTo: time)
                naive.sound = max(naive.sound, time)
                times[1] = max(times[1], time)
            } else {
                times[track.rawValue] += Int64.random(in: steps, using: &random)
                let (time, name, size) = (times[track.rawValue], "\(count)", Int.random(in: sizes, using: &random))
                let until = time + Int64.random(in: 0...min(20 * Self.ms, steps.upperBound), using: &random)
                tracks.add(name, track, at: time, bytes: size, until: until)
                naive.waiting.append((name, track, time, size, count))
                if track == .picture { naive.pictures = time }
                if track == .sound { (naive.sound, times[1]) = (max(naive.sound, until), until) }
            }
            let (found, due) = (written(&tracks), naive.written())
            #expect(found == due, "after \(count) things")
            if found != due { return }
        }
        var rest: [String] = []
        while let item = tracks.rest() { rest.append(item) }
        #expect(rest == naive.waiting.map(\.name))
    }
}
