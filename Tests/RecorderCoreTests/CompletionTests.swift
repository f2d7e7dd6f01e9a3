import CLinux
import FrameStream
import Glibc
import RecorderCore
import Testing

/// Recordings whose recorder core was lost over them, completed.
@Suite(.serialized, .timeLimit(.minutes(10))) struct CompletionTests {
    /// The duration that so many frames have, in the file's own milliseconds.
    private func duration(_ frames: Int) -> Int64 {
        frames == 0 ? 0 : TrackedRecording.time(frames - 1) / 1_000_000 * 1_000_000 + TrackedRecording.interval
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
        let killed = try KilledRecording(pictures: 40)
        let (bytes, lengths) = (killed.bytes, killed.lengths)
        #expect(bytes.count == lengths.last)
        let file = try TemporaryFile(".mkv")
        // Of nothing; behind a frame, in a cluster's id, size and first elements, in a picture, right before its end.
        var cuts = [0, lengths[0], lengths[1], lengths[40]]
        for frame in [0, 1, 2, 29, 30, 38, 39] {
            for more in [1, 3, 4, 6, 9, 13, 15, 18, 25, 60] { cuts.append(min(lengths[frame] + more, bytes.count)) }
            cuts.append(lengths[frame + 1] - 1)
        }
        for cut in cuts {
            try file.write(bytes.prefix(cut))
            let frames = killed.whole(in: cut)
            let completed = try complete(file)
            #expect(Int(completed.frames) == frames, "cut at \(cut)")
            #expect(completed.duration == duration(frames), "cut at \(cut)")
            let whole = try file.bytes()
            #expect(Int(completed.bytes) == whole.count && (frames == 0 || whole.count == lengths[frames]))
            if cut > 0 {
                #expect(try DecodedVideo(file.path).numbers == (0..<frames).map { UInt32($0 + 1) }, "cut at \(cut)")
            }
            if frames > 0 {
                let read = try #require(try VideoReader(path: file.path, loops: false).duration)
                #expect(abs(read - duration(frames)) < 1_000_000, "cut at \(cut): libav reads \(read) ns")
            }
            // Once more: nothing changes.
            #expect(try complete(file) == completed)
            #expect(try file.bytes() == whole)
        }
    }

    @Test("A file killed at any byte after its header plays with every flushed frame, before anybody completes it")
    func playsAsItIs() throws {
        let killed = try KilledRecording(pictures: 40)
        let (bytes, lengths) = (killed.bytes, killed.lengths)
        let file = try TemporaryFile(".mkv")
        for cut in lengths.flatMap({ [$0, $0 + 1, $0 - 1] }) + stride(from: lengths[1], to: bytes.count, by: 97)
        where cut >= lengths[1] && cut <= bytes.count {
            try file.write(bytes.prefix(cut))
            let whole = killed.whole(in: cut)
            #expect(
                try DecodedVideo(file.path, atMost: whole).numbers == (1...whole).map { UInt32($0) },
                "a file of \(cut) bytes has \(whole) whole frames")
        }
        try file.write(bytes)
        let read = try #require(try VideoReader(path: file.path, loops: false).duration)
        #expect(duration(40) - read < 1_000_000_000, "its duration is at most a second old")
    }

    @Test("A recording that was stopped is whole already, and not a byte of it changes")
    func stopped() throws {
        let made = try TrackedRecording(pictures: 35)
        made.recording.finish()
        let whole = try made.file.bytes()
        let found = try complete(made.file)
        #expect(found.frames == 35 && found.duration == duration(35) && found.bytes == Int64(whole.count))
        #expect(try made.file.bytes() == whole)
    }

    @Test("A completed recording is found in: its index names clusters, and its list of what is where names the index")
    func index() throws {
        let made = try KilledRecording(pictures: 65)
        let lengths = made.lengths
        let file = try TemporaryFile(".mkv")
        try file.write(made.bytes)
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
        let header = try KilledRecording(pictures: 0).bytes
        let file = try TemporaryFile(".mkv")
        var long = header
        // Key frames of one byte, a second apart, for three hours.
        let seconds = 10_800
        for second in 0..<seconds {
            let time = withUnsafeBytes(of: UInt32(second * 1000).bigEndian) { Array($0) }
            long += [0x1f, 0x43, 0xb6, 0x75, 0x8d, 0xe7, 0x84] + time + [0xa3, 0x85, 0x81, 0, 0, 0x80, 7]
        }
        try file.write(long)
        let completed = try complete(file)
        #expect(completed.frames == UInt64(seconds))
        #expect(completed.duration == Int64(seconds - 1) * 1_000_000_000 + TrackedRecording.interval)
        let whole = try file.bytes()
        #expect(whole.dropFirst(header.count).elementsEqual(long.dropFirst(header.count)))
        let cues = place(of: [0x1c, 0x53, 0xbb, 0x6b, 0x01], in: whole)
        #expect(cues != nil)
    }

    @Test("What is no recording of ours is left byte for byte")
    func foreign() throws {
        let killed = try KilledRecording(pictures: 3)
        let (bytes, lengths) = (killed.bytes, killed.lengths)
        let file = try TemporaryFile(".mkv")
        var other = bytes
        other[lengths[1]] = 0x55
        // Another text, something behind it or in it, and another recording's clusters behind these.
        var wrong: [(bytes: [UInt8], words: String)] = [
            (Array("A letter to my mother, and no recording.".utf8), "not a recording"),
            (bytes + Array("P.S. more".utf8), "not a recording"),
            (Array(bytes.prefix(lengths[2])) + [0x1f, 0x43, 0xff], "not a recording"),
            (other, "at byte \(lengths[1])"), (bytes + bytes[lengths[0]...], "a time that goes back"),
        ]
        // A header that is not whole.
        for cut in [4, 30, 50, 60, 300, lengths[0] - 1] { wrong.append((Array(bytes.prefix(cut)), "not a recording")) }
        for (bytes, words) in wrong {
            try file.write(bytes)
            try isLeft(file, words)
        }
    }

    @Test("A file that can be written only, that nobody has begun, or that is still written, is left as it is")
    func unfit() throws {
        let file = try TemporaryFile(".mkv")
        try file.write(try KilledRecording(pictures: 3).bytes)
        let before = try file.bytes()
        try isLeft(file, "open for writing only", O_WRONLY)
        // An earlier recording's, while this one's was never begun.
        let unopened = try envelope(file.open())
        let fault = #expect(throws: CompletionFault.self) { _ = try complete(unopened) }
        #expect(fault?.words == "nothing was written to it")
        // Somebody holds on to it: a writer that hangs.
        let (written, mark) = try openedEnvelope(file)
        defer { close(mark) }
        let held = #expect(throws: CompletionFault.self) { _ = try complete(written) }
        #expect(held?.words.contains("still being written") == true)
        #expect(try file.bytes() == before)
    }
}
