import ArbiterProtocol
import RecorderCore
import Testing

/// Recordings with sound and metadata whose recorder core was lost over them, completed.
@Suite(.serialized, .timeLimit(.minutes(10))) struct TrackCompletionTests {
    @Test(
        "A recording that is lost after any picture has in MP4 and QuickTime all that it has in Matroska: each picture that was given",
        arguments: VideoCodec.allCases, [true, false])
    func lostAfterAnyPicture(_ codec: VideoCodec, hasSound: Bool) throws {
        for fileType in RecordingFileType.allCases {
            let made = try TrackedRecording(fileType: fileType, codec: codec, hasSound: hasSound, metadata: [])
            var lost: [Int] = []
            for picture in 1...20 {
                // Enough of it that no picture waits for the sound up to it.
                if hasSound { for _ in 0..<(picture == 1 ? 5 : 1) { try made.sound(isLoud: true) } }
                try made.picture()
                let copy = try TemporaryFile(".mkv")
                try copy.write(try made.file.bytes()[...])
                let completed = try complete(copy)
                let read = try ReadRecording(copy.path)
                #expect(read.times(0).count == Int(completed.frames), "\(fileType) after \(picture)")
                lost.append(picture - read.times(0).count)
            }
            #expect(lost == Array(repeating: 0, count: 20), "\(fileType)")
        }
    }

    @Test("What is in a file in fragments and was not written by a recorder leaves it as it is")
    func foreignFragments() throws {
        let killed = try KilledRecording(tracked: 5, .mp4)
        let (bytes, lengths) = (killed.bytes, killed.lengths)
        let file = try TemporaryFile(".mp4")
        // Another kind of box in the place of a fragment, a size that leaves the file's sense, and a cut in the header.
        var (kind, size) = (bytes, bytes)
        kind.replaceSubrange(lengths[2] + 4..<lengths[2] + 8, with: Array("free".utf8))
        size.replaceSubrange(lengths[2]..<lengths[2] + 4, with: [0, 0, 0, 1] as [UInt8])
        // A million pictures of a hundred years each, of a clock that ticks once a second.
        var long = bytes
        for (box, from, offset, number) in [
            ("mdhd", 0, 12, [0, 0, 0, 1]), ("tfhd", lengths[2], 8, [255, 255, 255, 255]),
            ("trun", lengths[2], 0, [0, 0, 0, 0]), ("trun", lengths[2], 4, [0, 16, 0, 0]),
        ] as [(String, Int, Int, [UInt8])] {
            let name = try #require(long[from...].indices.first { long[$0...].starts(with: box.utf8) })
            long.replaceSubrange(name + 4 + offset..<name + 8 + offset, with: number)
        }
        for bytes in [kind, size, long, Array(bytes.prefix(lengths[0] - 1))] {
            try file.write(bytes[...])
            #expect(throws: CompletionFault.self) { try complete(file) }
            #expect(try file.bytes() == bytes)
        }
    }

    @Test(
        "A recording of three kinds of tracks, or in fragments, that is cut at any byte has all whole pictures, and ends with the last",
        arguments: RecordingFileType.allCases)
    func cuts(_ fileType: RecordingFileType) throws {
        let killed = try KilledRecording(tracked: 9, fileType)
        let (bytes, lengths) = (killed.bytes, killed.lengths)
        let file = try TemporaryFile(".mkv")
        try #require(lengths.count > 5 && bytes.count >= lengths[lengths.count - 1])
        for cut in killed.cuts {
            try file.write(bytes.prefix(cut))
            let whole = killed.whole(in: cut)
            let completed = try complete(file)
            let after = try file.bytes()
            #expect(Int(completed.frames) == whole, "cut at \(cut)")
            if fileType == .matroska {
                let ticks = KilledRecording.time(max(0, whole - 1)) / 1_000_000 * 1_000_000
                // The fourth picture is the first behind the pause.
                let capture = KilledRecording.firstCapture + ticks + (whole >= 4 ? 2_000_000_000 : 0)
                #expect(completed.lastCapture == (whole == 0 ? nil : capture), "cut at \(cut)")
            } else {
                // A tick is a microsecond, of the time and of how long it is.
                let end = whole == 0 ? 0 : KilledRecording.time(whole - 1) + TrackedRecording.time(1)
                #expect(abs(completed.duration - end) <= 2_000, "cut at \(cut)")
                #expect(after == Array(bytes.prefix(lengths[whole])), "cut at \(cut)")
            }
            guard cut % 31 == 0 else { continue }
            // Once more: nothing changes.
            #expect(try complete(file) == completed)
            #expect(try file.bytes() == after)
        }
    }

    @Test("A completed recording says that it ended with its recorder core, and keeps what else it said")
    func tags() throws {
        let killed = try KilledRecording(tracked: 40)
        let file = try TemporaryFile(".mkv")
        try file.write(killed.bytes.dropLast(3))
        let completed = try complete(file)
        let read = try ReadRecording(file.path)
        #expect(read.tags["ENDED"] == "recorder-reset" && read.tags["LOCATION"] == "+48+016/")
        #expect(read.tags["FIRST_CAPTURE"] == String(KilledRecording.firstCapture))
        #expect(read.tags["PAUSES"] == "[[100000000, 2000000000]]")
        #expect(read.tags["LAST_CAPTURE"] == completed.lastCapture.map { String($0) })
        #expect(read.times(0).count == Int(completed.frames) && Int(completed.frames) >= killed.lengths.count - 2)
        #expect(read.samples(3).first == #"33 {"items":["x"]}"#)
        // Sound and picture end together.
        let (picture, sound) = (try #require(read.times(0).last), try #require(read.times(1).last))
        #expect(abs(picture - sound) < 60)
    }

    @Test(
        "Whatever is wrong in such a file, it is either left byte for byte, or all its pictures are still there",
        arguments: [true, false])
    func mutations(hasTracks: Bool) throws {
        let killed = try hasTracks ? KilledRecording(tracked: 9) : KilledRecording(pictures: 4)
        let (bytes, lengths) = (killed.bytes, killed.lengths)
        let file = try TemporaryFile(".mkv")
        var random = SeededRandom(hasTracks ? 13 : 9)
        func next(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
        // The header without the index's room of 64 KiB, the tags' room, and the heads of clusters and of what is in them.
        let head = hasTracks ? 60 : 24
        let places = Array(0..<(hasTracks ? 1800 : 560)) + lengths.flatMap { Array($0..<min($0 + head, bytes.count)) }
        var completedCount = 0
        for _ in 0..<(hasTracks ? 300 : 400) {
            var other = bytes
            for _ in 0...next(3) { other[places[next(places.count)]] = UInt8(next(256)) }
            if next(3) == 0 { other.removeLast(next(hasTracks ? 400 : 2000)) }
            try file.write(other)
            do {
                let completed = try complete(file)
                completedCount += 1
                let after = try file.bytes()
                let whole = lengths.last { $0 <= other.count } ?? 0
                #expect(after.count == Int(completed.bytes) && after.count >= whole, "a whole picture was cut off")
                if whole > lengths[0] {
                    #expect(after[lengths[0]..<whole].elementsEqual(other[lengths[0]..<whole]))
                }
            } catch is CompletionFault {
                #expect(try file.bytes() == other)
            }
        }
        if hasTracks { #expect(completedCount > 30) }
    }
}
