import ArbiterProtocol
import CLinux
import Glibc
import RecorderCore
import Testing

/// Recordings with sound and metadata whose recorder core was lost over them, completed.
@Suite(.serialized, .timeLimit(.minutes(10))) struct TrackCompletionTests {
    private static let first: Int64 = 5_000_000_000_000

    /// A recording that nobody finished, with a pause of two seconds at 100 ms of the file; and how long its file was after its
    /// header and after each picture.
    private func killed(
        frames: Int, _ fileType: RecordingFileType = .matroska
    ) throws -> (bytes: [UInt8], lengths: [Int]) {
        let made = try TrackedRecording(
            fileType: fileType, metadata: fileType.keepsMetadata ? ["location", "note"] : [])
        made.recording.setTags([
            .firstCapture: String(Self.first), .pauses: "[[100000000, 2000000000]]", .location: "+48+016/",
        ])
        var lengths = [Int(made.recording.bytes)]
        for frame in 0..<frames {
            if frame % 3 == 1, fileType.keepsMetadata {
                try made.note(#"{"items":["x"]}"#, at: TrackedRecording.time(frame))
            }
            try made.sound(isLoud: frame % 2 == 0)
            try made.picture(at: Self.time(frame))
            while lengths.count <= Int(made.recording.frames) { lengths.append(Int(made.recording.bytes)) }
        }
        return (try made.file.bytes(), lengths)
    }

    /// Every second picture comes early: in the time that was the one's before it.
    private static func time(_ frame: Int) -> Int64 {
        TrackedRecording.time(frame) - (frame == 0 || frame % 2 == 1 ? 0 : 8_000_000)
    }

    private func complete(_ file: TemporaryFile) throws -> RecordingCompletion.Result {
        let envelope = try envelope(file.open())
        var mark: Int32 = -1
        let written = camarb_open_envelope(envelope, &mark)
        try #require(written >= 0 && mark >= 0)
        close(written)
        close(mark)
        return try RecordingCompletion.complete(FileWriters.patient.start(envelope, again: true), until: .max)
    }

    @Test(
        "A recording in fragments that is cut at any byte has all whole pictures, and ends with the last of them",
        arguments: [RecordingFileType.mp4, .mov])
    func cutFragments(_ fileType: RecordingFileType) throws {
        let (bytes, lengths) = try killed(frames: 9, fileType)
        let file = try TemporaryFile(".mp4")
        let frames = lengths.count - 1
        try #require(frames >= 5 && bytes.count == lengths[frames])
        // Each byte of a fragment with sound in it, and every 31st of the others.
        let dense = lengths[3]...lengths[4]
        for cut in lengths[0]...bytes.count where dense.contains(cut) || cut % 31 == 0 || cut == bytes.count {
            try file.write(bytes.prefix(cut))
            let whole = lengths.dropFirst().count { $0 <= cut }
            let completed = try complete(file)
            #expect(Int(completed.frames) == whole, "cut at \(cut)")
            // A tick is a microsecond, of the time and of how long it is.
            let end = whole == 0 ? 0 : Self.time(whole - 1) + TrackedRecording.time(1)
            #expect(abs(completed.duration - end) <= 2_000, "cut at \(cut)")
            #expect(try file.bytes() == Array(bytes.prefix(lengths[whole])), "cut at \(cut)")
            // Once more: nothing changes.
            if cut % 31 == 0 { #expect(try complete(file) == completed) }
        }
    }

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
        let (bytes, lengths) = try killed(frames: 5, .mp4)
        let file = try TemporaryFile(".mp4")
        // Another kind of box in the place of a fragment, a size that leaves the file's sense, and a cut in the header.
        var (kind, size) = (bytes, bytes)
        kind.replaceSubrange(lengths[2] + 4..<lengths[2] + 8, with: Array("free".utf8))
        size.replaceSubrange(lengths[2]..<lengths[2] + 4, with: [0, 0, 0, 1] as [UInt8])
        // A million pictures of a hundred years each, of a clock that ticks once a second.
        var long = bytes
        for (box, from, offset, number) in [
            ("mdhd", 0, 12, [0, 0, 0, 1]), ("tfhd", lengths[2], 8, [255, 255, 255, 255]),
            ("trun", lengths[2], 0, [0, 0, 0, 0]),
            ("trun", lengths[2], 4, [0, 16, 0, 0]),
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
        "A recording of three kinds of tracks that is cut at any byte has all whole pictures, and says when the last was captured"
    )
    func cuts() throws {
        let (bytes, lengths) = try killed(frames: 9)
        let file = try TemporaryFile(".mkv")
        let frames = lengths.count - 1
        try #require(frames >= 5 && bytes.count >= lengths[frames])
        // Each byte of a cluster with everything in it, and every 31st of the others.
        let dense = lengths[3]...lengths[4]
        let cuts = (lengths[0]...bytes.count).filter { dense.contains($0) || $0 % 31 == 0 || $0 == bytes.count }
        for cut in cuts {
            try file.write(bytes.prefix(cut))
            let whole = lengths.dropFirst().count { $0 <= cut }
            let completed = try complete(file)
            #expect(Int(completed.frames) == whole, "cut at \(cut)")
            let ticks = Self.time(max(0, whole - 1)) / 1_000_000 * 1_000_000
            // The fourth picture is the first behind the pause.
            let capture = Self.first + ticks + (whole >= 4 ? 2_000_000_000 : 0)
            #expect(completed.lastCapture == (whole == 0 ? nil : capture), "cut at \(cut)")
            guard cut % 31 == 0 else { continue }
            // Once more: nothing changes.
            let after = try file.bytes()
            #expect(try complete(file) == completed)
            #expect(try file.bytes() == after)
        }
    }

    @Test("A completed recording says that it ended with its recorder core, and keeps what else it said")
    func tags() throws {
        let (bytes, lengths) = try killed(frames: 40)
        let file = try TemporaryFile(".mkv")
        try file.write(bytes.dropLast(3))
        let completed = try complete(file)
        let read = try ReadRecording(file.path)
        #expect(read.tags["ENDED"] == "recorder-reset" && read.tags["LOCATION"] == "+48+016/")
        #expect(read.tags["FIRST_CAPTURE"] == String(Self.first) && read.tags["PAUSES"] == "[[100000000, 2000000000]]")
        #expect(read.tags["LAST_CAPTURE"] == completed.lastCapture.map { String($0) })
        #expect(read.times(0).count == Int(completed.frames) && Int(completed.frames) >= lengths.count - 2)
        #expect(read.samples(3).first == #"33 {"items":["x"]}"#)
        // Sound and picture end together.
        let (picture, sound) = (try #require(read.times(0).last), try #require(read.times(1).last))
        #expect(abs(picture - sound) < 60)
    }

    @Test("Whatever is wrong in such a file, it is either left byte for byte, or all its pictures are still there")
    func mutations() throws {
        let (bytes, lengths) = try killed(frames: 9)
        let file = try TemporaryFile(".mkv")
        var state: UInt64 = 13
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        // The header without its rooms, the tags' room, and the heads of clusters and of what is in them.
        let header = Array(0..<1800) + lengths.flatMap { Array($0..<min($0 + 60, bytes.count)) }
        var completedCount = 0
        for _ in 0..<300 {
            var other = bytes
            for _ in 0...next(3) { other[header[next(header.count)]] = UInt8(next(256)) }
            if next(3) == 0 { other.removeLast(next(400)) }
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
        #expect(completedCount > 30)
    }
}
