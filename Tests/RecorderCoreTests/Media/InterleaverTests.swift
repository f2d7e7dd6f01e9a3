import RecorderCore
import Testing

/// Times are in milliseconds here, but for one nanosecond that makes a difference.
@Suite("What a recording's tracks give, in one order") struct InterleaverTests {
    private typealias Tracks = Interleaver<String>
    private static let ms: Int64 = 1_000_000

    /// All that may be written now.
    private func written(_ tracks: inout Tracks) -> [String] {
        var all: [String] = []
        while let item = tracks.next() { all.append(item) }
        return all
    }

    @Test("A picture waits for the sound up to it, a sound for the pictures up to it, and a text for both")
    func waitingForEachOther() {
        var tracks = Tracks(hasSound: true)
        tracks.add("picture 0", .picture, at: 0, bytes: 1)
        #expect(written(&tracks) == [])
        tracks.add("sound 0", .sound, at: 0, bytes: 1, until: 20)
        #expect(written(&tracks) == ["sound 0", "picture 0"])
        tracks.add("sound 20", .sound, at: 20, bytes: 1, until: 40)
        #expect(written(&tracks) == [])
        tracks.add("picture 40", .picture, at: 40, bytes: 1)
        #expect(written(&tracks) == ["sound 20", "picture 40"], "sound ends where the picture is")
        tracks.add("picture 41", .picture, at: 41, bytes: 1)
        #expect(written(&tracks) == [])
        tracks.soundIsComplete(upTo: 40)
        #expect(written(&tracks) == [])
        tracks.soundIsComplete(upTo: 41)
        #expect(written(&tracks) == ["picture 41"])
        tracks.add("text 50", .text, at: 50, bytes: 1)
        tracks.soundIsComplete(upTo: 60)
        #expect(written(&tracks) == [])
        tracks.add("picture 49", .picture, at: 49, bytes: 1)
        #expect(written(&tracks) == ["picture 49"])
        tracks.add("picture 50", .picture, at: 50, bytes: 1)
        #expect(written(&tracks) == ["text 50", "picture 50"])
        // What is known is not forgotten over something older.
        tracks.soundIsComplete(upTo: 55)
        tracks.add("picture 60", .picture, at: 60, bytes: 1)
        #expect(written(&tracks) == ["picture 60"] && tracks.rest() == nil)
    }

    @Test("Without sound no picture waits, and a text waits for pictures alone")
    func withoutSound() {
        var tracks = Tracks(hasSound: false)
        tracks.add("text 5", .text, at: 5, bytes: 1)
        #expect(written(&tracks) == [])
        tracks.add("picture 0", .picture, at: 0, bytes: 1)
        #expect(written(&tracks) == ["picture 0"])
        tracks.add("picture 5", .picture, at: 5, bytes: 1)
        #expect(written(&tracks) == ["text 5", "picture 5"])
    }

    @Test("Of one and the same time are texts first, then sound, then pictures, each as they came")
    func sameTime() {
        var tracks = Tracks(hasSound: true)
        for name in ["a", "b"] { tracks.add("picture \(name)", .picture, at: 7, bytes: 1) }
        for name in ["a", "b"] { tracks.add("text \(name)", .text, at: 7, bytes: 1) }
        for name in ["a", "b"] { tracks.add("sound \(name)", .sound, at: 7, bytes: 1, until: 7) }
        #expect(written(&tracks) == ["text a", "text b", "sound a", "sound b", "picture a", "picture b"])
    }

    @Test("What waits for longer than its span goes on alone, and what is left waits on")
    func span() {
        for isSound in [false, true] {
            var tracks = Tracks(hasSound: true)
            func add(_ name: String, at time: Int64) {
                tracks.add(name, isSound ? .sound : .picture, at: time, bytes: 1, until: time + 1)
            }
            add("first", at: 5)
            add("second", at: 6)
            add("third", at: 5 + Tracks.spanMax)
            #expect(written(&tracks) == [])
            add("fourth", at: 6 + Tracks.spanMax)
            #expect(written(&tracks) == ["first"])
            add("fifth", at: 6 + 2 * Tracks.spanMax)
            #expect(written(&tracks) == ["second", "third"])
            #expect([tracks.rest(), tracks.rest(), tracks.rest()] == ["fourth", "fifth", nil])
        }
    }

    @Test("As many things wait as its bound says, and each further one lets the first go")
    func items() {
        var tracks = Tracks(hasSound: true)
        for index in 0..<Tracks.itemsMax { tracks.add("\(index)", .picture, at: Int64(index), bytes: 1) }
        #expect(written(&tracks) == [])
        for index in 0..<3 {
            tracks.add("more", .picture, at: Int64(Tracks.itemsMax + index), bytes: 1)
            #expect(written(&tracks) == ["\(index)"])
        }
    }

    @Test(
        "Bytes wait up to their bound, those that are written no more: what came after 32 MiB waits as what came before"
    )
    func bytes() {
        var tracks = Tracks(hasSound: true)
        let picture = Tracks.bytesMax / 4
        // Ten times the bound, with sound that keeps up.
        for index in 0..<40 as Range<Int64> {
            tracks.add("\(index)", .picture, at: index * Self.ms, bytes: picture)
            #expect(written(&tracks) == [])
            tracks.soundIsComplete(upTo: index * Self.ms)
            #expect(written(&tracks) == ["\(index)"])
        }
        // And without it.
        for index in 40..<44 as Range<Int64> { tracks.add("\(index)", .picture, at: index * Self.ms, bytes: picture) }
        #expect(written(&tracks) == [], "exactly as many as may wait")
        tracks.add("44", .picture, at: 44 * Self.ms, bytes: 1)
        #expect(written(&tracks) == ["40"])
        tracks.add("45", .picture, at: 45 * Self.ms, bytes: picture)
        #expect(written(&tracks) == ["41"])
        #expect((42...46).map { _ in tracks.rest() } == ["42", "43", "44", "45", nil])
        for index in 46..<50 as Range<Int64> { tracks.add("\(index)", .picture, at: index * Self.ms, bytes: picture) }
        #expect(written(&tracks) == [], "what was taken as the rest waits no more either")
    }

    /// What is written, when, by sorting everything anew after each thing that comes.
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

    @Test("It writes what sorting everything anew would, at the same moment", arguments: 1...40 as ClosedRange<UInt64>)
    func likeSorting(seed: UInt64) {
        var random = SeededRandom(seed)
        var (tracks, naive) = (Tracks(hasSound: true), Naive())
        // Of a track's times each is at or after the one before. Some recordings have large pictures, some tiny packets.
        var times: [Int64] = [0, 0, 0]
        let (sizes, steps) = (seed % 4 == 0 ? 1...(4 << 20) : 1...1000, seed % 3 == 0 ? 0...1 : 0...(40 * Self.ms))
        for count in 0..<1500 {
            let track = [Tracks.Track.text, .sound, .picture][Int.random(in: 0...2, using: &random)]
            // Now and then a track is silent for long.
            if track.rawValue == Int(count / 500), Int.random(in: 0...50, using: &random) > 0 { continue }
            times[track.rawValue] += Int64.random(in: steps, using: &random)
            let (time, name, size) = (times[track.rawValue], "\(count)", Int.random(in: sizes, using: &random))
            let until = time + Int64.random(in: 0...(20 * Self.ms), using: &random)
            tracks.add(name, track, at: time, bytes: size, until: until)
            naive.waiting.append((name, track, time, size, count))
            if track == .picture { naive.pictures = time }
            if track == .sound { naive.sound = max(naive.sound, until) }
            let (found, due) = (written(&tracks), naive.written())
            #expect(found == due, "after \(count) things")
            if found != due { return }
            if track == .sound { times[1] = until }
        }
        var rest: [String] = []
        while let item = tracks.rest() { rest.append(item) }
        #expect(rest == naive.waiting.map(\.name))
    }
}
