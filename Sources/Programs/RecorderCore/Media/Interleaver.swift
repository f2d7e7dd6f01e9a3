/// Brings the packets of a recording's tracks into the order of time.
///
/// A picture is there as soon as it is encoded, the sound up to it a little later; an early packet waits here. Where the other
/// track does not come, the packet that waits longest goes on alone: a file out of order by a moment plays, a picture that is
/// still in memory when the process is killed does not.
///
/// A pure value: times are the file's, in nanoseconds.
package struct Interleaver<Item> {
    package enum Track: Int {
        // In the order in which packets of one time are written: a picture ends a cluster.
        case text, sound, picture
    }
    private struct Waiting {
        let item: Item
        let track: Track
        let time: Int64
        let bytes: Int
    }
    /// In the order of time; of one time in that of the tracks; of one track as they came.
    private var waiting: [Waiting] = []
    private var bytesWaiting = 0
    /// No picture will come from before this, and no sound.
    private var picturesKnown: Int64 = -1
    private var soundKnown: Int64

    /// Nanoseconds between the first and the last that wait: more than sound may be late (250 ms) with its encoder's delay, and
    /// well under the second that a killed recording may lose.
    package static var spanMax: Int64 { 400_000_000 }
    /// Items that wait: 400 ms of 240 pictures, of the shortest sound packets, and of eight kinds of metadata at 100 a second
    /// are 460.
    package static var itemsMax: Int { 512 }
    /// Bytes that wait: 400 ms of the largest pictures (4K at 30 a second, 2 MiB each).
    package static var bytesMax: Int { 32 << 20 }

    /// - Parameter hasSound: otherwise no picture waits.
    package init(hasSound: Bool) { soundKnown = hasSound ? -1 : .max }

    /// - Parameter time: never before that of the same track's last.
    /// - Parameter until: the end of a sound; up to there the sound is known.
    package mutating func add(_ item: Item, _ track: Track, at time: Int64, bytes: Int, until: Int64 = 0) {
        var place = waiting.count
        while place > 0, (waiting[place - 1].time, waiting[place - 1].track.rawValue) > (time, track.rawValue) {
            place -= 1
        }
        waiting.insert(Waiting(item: item, track: track, time: time, bytes: bytes), at: place)
        bytesWaiting += bytes
        switch track {
        case .picture: picturesKnown = max(picturesKnown, time)
        case .sound: soundKnown = max(soundKnown, until)
        case .text: break
        }
    }

    package mutating func soundIsComplete(upTo time: Int64) { soundKnown = max(soundKnown, time) }

    /// The next that may be written.
    package mutating func next() -> Item? {
        guard let first = waiting.first, let last = waiting.last else { return nil }
        let isKnown =
            switch first.track {
            case .picture: soundKnown >= first.time
            case .sound: picturesKnown >= first.time
            case .text: min(picturesKnown, soundKnown) >= first.time
            }
        guard
            isKnown || last.time - first.time > Self.spanMax || waiting.count > Self.itemsMax
                || bytesWaiting > Self.bytesMax
        else { return nil }
        return removeFirst()
    }

    /// The next that is left, whether or not an earlier one may come.
    package mutating func rest() -> Item? { waiting.isEmpty ? nil : removeFirst() }

    private mutating func removeFirst() -> Item {
        let first = waiting.removeFirst()
        bytesWaiting -= first.bytes
        return first.item
    }
}
