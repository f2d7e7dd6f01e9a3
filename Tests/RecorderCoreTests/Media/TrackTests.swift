import ArbiterProtocol
import FrameStream
import Glibc
import RecorderCore
import Testing

/// A recording's file with sound, metadata and tags, as libav reads it.
@Suite(.timeLimit(.minutes(10))) struct TrackTests {
    @Test("A file has one picture, one sound, and a track with its title for each kind of metadata, which nobody plays")
    func tracks() throws {
        let made = try TrackedRecording()
        try made.finish(after: 10)
        let read = try ReadRecording(made.file.path)
        #expect(read.tracks.map(\.codec) == ["h264", "aac", "subrip", "subrip"])
        #expect(read.tracks.map(\.title) == [nil, nil, "location", "note"])
        #expect(read.tracks.map(\.isDefault) == [true, true, false, false])
        #expect(read.tracks[1].sampleRate == 48_000 && read.tracks[1].channels == 1)
        #expect(made.recording.frames == 10 && read.times(0).count == 10)
        #expect(read.duration.map { abs($0 - made.recording.duration / 1_000_000) <= 1 } == true)
    }

    @Test("A picture waits for the sound up to it, and for no longer than 400 ms; without sound none waits")
    func waiting() throws {
        let made = try TrackedRecording(metadata: [])
        for _ in 0..<12 { try made.picture() }
        #expect(made.recording.frames == 0)
        // 400 ms and a frame.
        for _ in 0..<2 { try made.picture() }
        #expect(made.recording.frames == 1)
        #expect(try made.recording.soundIsComplete(upTo: TrackedRecording.time(6)))
        #expect(made.recording.frames == 7)
        for _ in 0..<14 { try made.sound() }
        // The encoder keeps the last two packets back.
        #expect((12...14).contains(made.recording.frames))
        made.recording.finish()
        #expect(made.recording.frames == 14)
        #expect(try DecodedVideo(made.file.path).numbers == (1...14).map { UInt32($0) })
        #expect(try TrackedRecording(pictures: 5).recording.frames == 5)
    }

    @Test("Samples of metadata have exactly their times, also where they come late, and a file that is killed has them")
    func metadata() throws {
        let made = try TrackedRecording()
        for frame in 0..<60 {
            if frame == 3 { try made.note(#"{"items":["a"]}"#, at: TrackedRecording.time(3) + 5_000_000) }
            if frame == 40 { try made.note(#"{"items":[]}"#, at: TrackedRecording.time(10)) }
            if frame == 50 { try made.note(#"{"items":["+48+016/"]}"#, at: 1_600_000_000, kind: "location") }
            try made.sound()
            try made.picture()
        }
        // Of a kind that was not declared.
        try made.note("nothing", at: 1_700_000_000, kind: "nose")
        // As it is when the process is killed.
        for isFinished in [false, true] {
            if isFinished { made.recording.finish() }
            let read = try ReadRecording(made.file.path)
            #expect(read.samples(2) == [#"1600 {"items":["+48+016/"]}"#])
            #expect(read.samples(3) == [#"105 {"items":["a"]}"#, #"333 {"items":[]}"#])
            #expect(read.times(0).count >= 57)
        }
    }

    @Test("A file's tags are written anew while it grows, and are there when it is killed, stopped, and cut")
    func tags() throws {
        let made = try TrackedRecording(orientation: 6)
        made.recording.setTags([.firstCapture: "1000", .pauses: "[]"])
        for _ in 0..<4 {
            try made.sound()
            try made.picture()
        }
        var read = try ReadRecording(made.file.path)
        #expect(read.tags["ORIENTATION"] == "6" && read.tags["creation_time"] != nil)
        #expect(read.tags["FIRST_CAPTURE"] == "1000" && read.tags["PAUSES"] == "[]" && read.tags["ENDED"] == nil)
        try made.sound()
        try made.picture()
        made.recording.finish()
        made.recording.setTags([.firstCapture: "1000", .ended: "interrupted", .interrupter: "Telefon “ä”"])
        read = try ReadRecording(made.file.path)
        #expect(read.tags["ENDED"] == "interrupted" && read.tags["INTERRUPTER"] == "Telefon “ä”")
        #expect(read.tags["PAUSES"] == nil && read.tags["ORIENTATION"] == "6")
        #expect(read.times(0).count == 5)
    }

    @Test("Tags that do not fit into their room leave the longest out, and the others are there")
    func longTags() throws {
        let made = try TrackedRecording(hasSound: false)
        try made.picture()
        let pauses = "[" + Array(repeating: "[123456789012,1234567890]", count: 400).joined(separator: ",") + "]"
        made.recording.setTags([.firstCapture: "1", .pauses: pauses, .ended: "stopped"])
        let read = try ReadRecording(made.file.path)
        #expect(read.tags["FIRST_CAPTURE"] == "1" && read.tags["ENDED"] == "stopped" && read.tags["PAUSES"] == nil)
    }

    @Test("Primaries, transfer and matrix are written, for H.264 and for JPEGs", arguments: VideoCodec.allCases)
    func colours(_ codec: VideoCodec) throws {
        let made = try TrackedRecording(codec: codec, hasSound: false, metadata: [])
        for _ in 0..<3 { try made.picture() }
        made.recording.finish()
        let track = try #require(try ReadRecording(made.file.path).tracks.first)
        #expect(track.codec == codec.rawValue)
        #expect(track.colour.dropFirst().allSatisfy { $0 == "bt709" } && track.colour[0] != "unknown")
        if codec == .h264 { #expect(track.colour[0] == "bt709") }
    }

    @Test(
        "A full disk ends sound and picture within 100 ms of each other, and the file plays to its end",
        arguments: RecordingFileType.allCases)
    func fullDisk(_ fileType: RecordingFileType) throws {
        let made = try TrackedRecording(fileType: fileType, bytesMax: 300_000)
        var isOpen = true
        while isOpen {
            isOpen = try made.sound(isLoud: true)
            if isOpen { isOpen = try made.picture() }
        }
        made.recording.setTags([.ended: "disk-full"])
        made.recording.finish()
        let read = try ReadRecording(made.file.path)
        let (picture, sound) = (try #require(read.times(0).last), try #require(read.times(1).last))
        #expect(abs(picture + 33 - (sound + 21)) < 100)
        #expect(read.times(0).count == Int(made.recording.frames) && made.recording.frames > 0)
        if fileType.keepsMetadata { #expect(read.tags["ENDED"] == "disk-full") }
        #expect(try made.file.bytes().count == Int(made.recording.bytes) && made.recording.bytes <= 300_000)
        #expect(made.recording.file.failure == .sizeLimit)
        #expect(try DecodedVideo(made.file.path).numbers == (0..<made.recording.frames).map { UInt32($0 + 1) })
    }

    @Test("However much metadata there is, the index has the pictures: a reader that goes to a time is there at once")
    func index() throws {
        let made = try TrackedRecording(hasSound: false, metadata: ["note"])
        for frame in 0..<300 {
            for part in 0..<10 { try made.note(#"{"items":[]}"#, at: TrackedRecording.time(frame) + Int64(part)) }
            try made.picture()
        }
        made.recording.finish()
        let bytes = try made.file.bytes()
        // Ten seconds with a key frame each: entries of a time, and a track and a cluster.
        var entries = 0
        for place in 0..<5_000 where bytes[place] == 0xbb && bytes[place + 2] == 0xb3 { entries += 1 }
        #expect(entries == 10)
        #expect(try ReadRecording(made.file.path).times(1).count == 3_000)
    }
}
