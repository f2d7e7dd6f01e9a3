import CLinux
import FrameStream
import Glibc
import RecorderCore
import Testing

/// Recordings whose recorder core was lost over them, completed.
@Suite(.serialized, .timeLimit(.minutes(10))) struct CompletionTests {
    private static let interval: Int64 = 33_333_333
    private static let layout = PictureLayout(width: 192, height: 144, pixelFormat: "420v")

    /// A recording that nobody finished, and how long its file was after its header and after each frame.
    private func killed(frames: Int) throws -> (bytes: [UInt8], lengths: [Int]) {
        let file = try TemporaryFile(".mkv")
        let recording = try RecordingFile(
            file: OutputFile(try envelope(file.open()), in: .patient, bytesMax: nil),
            RecordingFile.Plan(layout: Self.layout, frameRate: 30))
        var lengths = [Int(recording.file.committed)]
        for number in 0..<frames {
            try append(number, to: recording)
            lengths.append(Int(recording.file.committed))
        }
        return (try file.bytes(), lengths)
    }

    private func append(_ number: Int, to recording: RecordingFile) throws {
        var picture = [UInt8](repeating: UInt8(truncatingIfNeeded: 40 + number), count: Self.layout.bytes)
        let time = Int64(number) * Self.interval
        let mark = BurntInMark(captureTime: time, frameNumber: UInt32(number + 1))
        picture.withUnsafeMutableBytes { mark.draw(into: $0, layout: Self.layout) }
        let fits = try picture.withUnsafeBytes {
            try recording.appendPicture($0, at: time, interval: Self.interval)
        }
        #expect(fits)
    }

    /// The duration that so many frames have, in the file's own milliseconds.
    private func duration(_ frames: Int) -> Int64 {
        frames == 0 ? 0 : Int64(frames - 1) * Self.interval / 1_000_000 * 1_000_000 + Self.interval
    }

    /// An envelope whose writer has opened it and ended, or holds on to it with the mark that is returned.
    private func opened(_ file: TemporaryFile, _ flags: Int32 = O_RDWR) throws -> (envelope: Int32, mark: Int32) {
        let envelope = try envelope(file.open(flags))
        var mark: Int32 = -1
        let written = camarb_open_envelope(envelope, &mark)
        try #require(written >= 0 && mark >= 0)
        close(written)
        return (envelope, mark)
    }

    private func complete(_ file: TemporaryFile, _ flags: Int32 = O_RDWR) throws -> RecordingCompletion.Result {
        let (envelope, mark) = try opened(file, flags)
        close(mark)
        return try complete(envelope)
    }

    private func complete(_ envelope: Int32) throws -> RecordingCompletion.Result {
        try RecordingCompletion.complete(FileWriters.patient.start(envelope, again: true), until: .max)
    }

    /// The file is left as it was, with a sentence that has these words.
    private func isLeft(_ file: TemporaryFile, _ words: String, _ flags: Int32 = O_RDWR) throws {
        let before = try file.bytes()
        let fault = #expect(throws: CompletionFault.self) { _ = try complete(file, flags) }
        #expect(fault?.words.contains(words) == true, "“\(fault?.words ?? "")” has not “\(words)”")
        #expect(try file.bytes() == before)
    }

    @Test("A recording that was cut at any place is completed: libav reads its duration and all whole frames")
    func cuts() throws {
        let (bytes, lengths) = try killed(frames: 40)
        #expect(bytes.count == lengths.last)
        let file = try TemporaryFile(".mkv")
        // Behind a frame, in a cluster's id, its size, its first elements, a frame's picture, right before its end.
        var cuts = [lengths[0], lengths[1], lengths[40]]
        for frame in [0, 1, 2, 29, 30, 38, 39] {
            for more in [1, 3, 4, 6, 9, 13, 15, 18, 25, 60] { cuts.append(min(lengths[frame] + more, bytes.count)) }
            cuts.append(lengths[frame + 1] - 1)
        }
        for cut in cuts {
            try file.write(bytes.prefix(cut))
            let frames = lengths.dropFirst().count { $0 <= cut }
            let completed = try complete(file)
            #expect(Int(completed.frames) == frames, "cut at \(cut)")
            #expect(completed.duration == duration(frames), "cut at \(cut)")
            let whole = try file.bytes()
            #expect(Int(completed.bytes) == whole.count && (frames == 0 || whole.count == lengths[frames]))
            #expect(
                try DecodedVideo(file.path).marks.map { $0?.frameNumber } == (0..<frames).map { UInt32($0 + 1) },
                "cut at \(cut)")
            if frames > 0 {
                let read = try #require(try VideoReader(path: file.path, loops: false).duration)
                #expect(abs(read - duration(frames)) < 1_000_000, "cut at \(cut): libav reads \(read) ns")
            }
            // Once more: nothing changes.
            #expect(try complete(file) == completed)
            #expect(try file.bytes() == whole)
        }
    }

    @Test("A recording that was cut before its header has nothing in it, and stays so")
    func nothing() throws {
        let file = try TemporaryFile(".mkv")
        let found = try complete(file)
        #expect(found.frames == 0 && found.duration == 0 && found.bytes == 0)
        #expect(try file.bytes().isEmpty)
    }

    @Test("A recording has a duration before it is completed, too: it is at most a second old")
    func durationOfAKilledOne() throws {
        let file = try TemporaryFile(".mkv")
        try file.write(try killed(frames: 40).bytes)
        let read = try #require(try VideoReader(path: file.path, loops: false).duration)
        #expect(duration(40) - read < 1_000_000_000)
    }

    @Test("A recording that was stopped is whole already, and not a byte of it changes")
    func stopped() throws {
        let file = try TemporaryFile(".mkv")
        let recording = try RecordingFile(
            file: OutputFile(try envelope(file.open()), in: .patient, bytesMax: nil),
            RecordingFile.Plan(layout: Self.layout, frameRate: 30))
        for number in 0..<35 { try append(number, to: recording) }
        recording.finish()
        let whole = try file.bytes()
        let found = try complete(file)
        #expect(found.frames == 35 && found.duration == duration(35) && found.bytes == Int64(whole.count))
        #expect(try file.bytes() == whole)
    }

    @Test("A completed recording is found in: its index names clusters, and its list of what is where names the index")
    func index() throws {
        let file = try TemporaryFile(".mkv")
        let (bytes, lengths) = try killed(frames: 65)
        try file.write(bytes)
        _ = try complete(file)
        let whole = try file.bytes()
        // From the segment's body on, which begins 12 bytes behind the header of 40.
        let cuesAt = place(of: [0x1c, 0x53, 0xbb, 0x6b, 0x01], in: whole)
        let cues = try #require(cuesAt)
        // A key frame every thirty.
        for cluster in [lengths[0], lengths[30], lengths[60]] {
            let position = withUnsafeBytes(of: UInt32(cluster - 52).bigEndian) { Array($0) }.drop { $0 == 0 }
            let entry = [0xf7, 0x81, 0x01, 0xf1, 0x80 | UInt8(position.count)] + position
            let found = place(of: entry, in: Array(whole.prefix(lengths[0]))) ?? 0
            #expect(found > cues, "no entry for the cluster at \(cluster)")
        }
        let named = withUnsafeBytes(of: UInt16(cues - 52).bigEndian) { Array($0) }
        let entry = place(of: [0x53, 0xab, 0x84, 0x1c, 0x53, 0xbb, 0x6b, 0x53, 0xac, 0x82] + named, in: whole)
        #expect(entry != nil)
    }

    private func place(of bytes: [UInt8], in whole: [UInt8]) -> Int? {
        guard whole.count >= bytes.count else { return nil }
        return (0...(whole.count - bytes.count)).first { whole[$0..<($0 + bytes.count)].elementsEqual(bytes) }
    }

    @Test("The index of a long recording keeps to its room: there are as many seconds between its entries as it takes")
    func longIndex() throws {
        let (bytes, lengths) = try killed(frames: 0)
        let file = try TemporaryFile(".mkv")
        var long = bytes
        // Key frames of one byte, a second apart, for three hours.
        let seconds = 10_800
        for second in 0..<seconds {
            let time = withUnsafeBytes(of: UInt32(second * 1000).bigEndian) { Array($0) }
            long += [0x1f, 0x43, 0xb6, 0x75, 0x8d, 0xe7, 0x84] + time + [0xa3, 0x85, 0x81, 0, 0, 0x80, 7]
        }
        try file.write(long)
        let completed = try complete(file)
        #expect(completed.frames == UInt64(seconds))
        #expect(completed.duration == Int64(seconds - 1) * 1_000_000_000 + Self.interval)
        let whole = try file.bytes()
        #expect(whole.dropFirst(lengths[0]).elementsEqual(long.dropFirst(lengths[0])))
        let cues = place(of: [0x1c, 0x53, 0xbb, 0x6b, 0x01], in: whole)
        #expect(cues != nil)
    }

    @Test("What is no recording of ours is left byte for byte")
    func foreign() throws {
        let file = try TemporaryFile(".mkv")
        let (bytes, lengths) = try killed(frames: 3)
        try file.write(Array("A letter to my mother, and no recording.".utf8))
        try isLeft(file, "no recording")
        // A header that is not whole.
        for cut in [4, 30, 50, 60, 300, lengths[0] - 1] {
            try file.write(bytes.prefix(cut))
            try isLeft(file, "no recording")
        }
        // Somebody wrote behind it, or into it.
        try file.write(bytes + Array("P.S. more".utf8))
        try isLeft(file, "no recording")
        try file.write(bytes.prefix(lengths[2]) + [0x1f, 0x43, 0xff])
        try isLeft(file, "no recording")
        var other = bytes
        other[lengths[1]] = 0x55
        try file.write(other)
        try isLeft(file, "at byte \(lengths[1])")
        // Times that go back: another recording's clusters behind these.
        try file.write(bytes + bytes[lengths[0]...])
        try isLeft(file, "a time that goes back")
    }

    @Test("Whatever is wrong in a file, it is either left byte for byte, or all its frames are still there")
    func mutations() throws {
        let (bytes, lengths) = try killed(frames: 4)
        let file = try TemporaryFile(".mkv")
        var state: UInt64 = 9
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        // The index's room is 64 KiB of nothing: most changes go to what is in front of it, and to the clusters' heads.
        let heads = Array(0..<560) + lengths.flatMap { Array($0..<min($0 + 24, bytes.count)) }
        for _ in 0..<400 {
            var other = bytes
            for _ in 0...next(3) { other[heads[next(heads.count)]] = UInt8(next(256)) }
            if next(3) == 0 { other.removeLast(next(2000)) }
            try file.write(other)
            do {
                let completed = try complete(file)
                let after = try file.bytes()
                let whole = lengths.last { $0 <= other.count } ?? 0
                #expect(after.count == Int(completed.bytes) && after.count >= whole, "a whole frame was cut off")
                if whole > lengths[0] {
                    #expect(after[lengths[0]..<whole].elementsEqual(other[lengths[0]..<whole]))
                }
            } catch is CompletionFault {
                #expect(try file.bytes() == other)
            }
        }
    }

    @Test("A file that can be written only, that nobody has begun, or that is still written, is left as it is")
    func unfit() throws {
        let file = try TemporaryFile(".mkv")
        try file.write(try killed(frames: 3).bytes)
        let before = try file.bytes()
        try isLeft(file, "open for writing only", O_WRONLY)
        // An earlier recording's, while this one's was never begun.
        let unopened = try envelope(file.open())
        let fault = #expect(throws: CompletionFault.self) { _ = try complete(unopened) }
        #expect(fault?.words == "nothing was written to it")
        // Somebody holds on to it: a writer that hangs.
        let (written, mark) = try opened(file)
        defer { close(mark) }
        let held = #expect(throws: CompletionFault.self) { _ = try complete(written) }
        #expect(held?.words.contains("still being written") == true)
        #expect(try file.bytes() == before)
    }

    /// With a clock that goes on by one whenever it is looked at.
    /// - Returns: how often that was.
    private func complete(
        _ file: TemporaryFile, until deadline: Int64
    ) throws -> (result: Result<RecordingCompletion.Result, CompletionFault>, looks: Int64) {
        let (envelope, mark) = try opened(file)
        close(mark)
        var looks: Int64 = 0
        let writer = try FileWriters.patient.start(envelope, again: true)
        let result = Result { () throws(CompletionFault) in
            try RecordingCompletion.complete(writer, until: deadline) {
                looks += 1
                return looks
            }
        }
        return (result, looks)
    }

    @Test("A completion that takes too long leaves the file as it is")
    func late() throws {
        let file = try TemporaryFile(".mkv")
        try file.write(try killed(frames: 3).bytes)
        let before = try file.bytes()
        #expect(try complete(file, until: 1).result == .failure(.late))
        #expect(try file.bytes() == before)
    }

    @Test("A completion looks at its clock within a cluster, too, and once more before it writes its first byte")
    func lateWithinACluster() throws {
        let file = try TemporaryFile(".mkv")
        // One cluster: a time, many elements of two bytes with nothing in them, and a frame.
        let voids = 64 << 10
        let empty = Array(repeating: [0xec, 0x80] as [UInt8], count: voids / 2).joined()
        let children: [UInt8] = [0xe7, 0x81, 0] + empty + [0xa3, 0x85, 0x81, 0, 0, 0x80, 7]
        let size = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: (children.count | 1 << 28) >> $0) }
        let cluster = [0x1f, 0x43, 0xb6, 0x75] + size + children
        let bytes = try killed(frames: 0).bytes + cluster
        try file.write(bytes)
        let (inTime, looks) = try complete(file, until: .max)
        #expect(try inTime.get().frames == 1)
        #expect(looks >= voids / Int(CAMARB_WRITER_READ_MAX), "\(looks) looks at \(voids) bytes")
        // In the midst of the cluster, and right before the first byte.
        for deadline in [looks / 2, looks] {
            try file.write(bytes)
            let (result, seen) = try complete(file, until: deadline)
            #expect(result == .failure(.late) && seen == deadline)
            #expect(try file.bytes() == bytes)
        }
        // The last look was in time: the rest is done.
        try file.write(bytes)
        #expect(try complete(file, until: looks + 1).result == inTime)
        #expect(try file.bytes() != bytes)
    }
}
