import ArbiterProtocol
import FrameStream
import Glibc
import PolicyFile
import RecorderCore
import System
import Testing

/// camrecorder as the broker meets it: a process at the other end of a socket.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ProcessTests {
    static let camera = ["--camera", "simulated:iphone5-back"]

    @Test func itDescribesItsCameraOpensStreamsAndIsCut() throws {
        let recorder = try RecorderProcess("camrecorder", Self.camera)
        let described = try #require(try recorder.call("Describe").first?.dictionary)
        let model = try CameraFile.named("iphone5-back")
        #expect(try CameraCapabilities(wire: described) == model.capabilities)
        #expect(try recorder.open(1)?["activeFormat"] == .string("420v 640x480@30 binned"))
        let stream = try recorder.stream(1)
        let frame = try #require(try stream.mark()).record
        #expect(try recorder.cut(1) >= frame.timestamp)
        stream.withEveryBuffer { _, bytes in #expect(bytes.allSatisfy { $0 == 0 }) }
    }

    @Test func errorsSayWhatWasWrong() throws {
        let recorder = try RecorderProcess("camrecorder", Self.camera)
        let stale = #expect(throws: BrokerError.self) { try recorder.cut(1) }
        #expect(stale == BrokerError(.staleGrant, "Grant 1 is over or never was: no grant is open."))
        let types = #expect(throws: BrokerError.self) { try recorder.call("Cut", [.string("x")]) }
        #expect(types?.message == "Cut takes “tsa{sv}”, not “s”.")
        let unknown = #expect(throws: BrokerError.self) { try recorder.call("Dance") }
        #expect(unknown?.kind == .unknownMethod)
        let word = #expect(throws: BrokerError.self) {
            try recorder.call("Cut", [.uint64(1), .string("bored"), .dictionary([:])])
        }
        #expect(word?.message.contains("“bored”") == true)
    }

    @Test(arguments: RecordingFileType.allCases)
    func aFileSizeLimitOfTheSystemEndsTheRecordingAsAFullDisk(_ fileType: RecordingFileType) throws {
        let recorder = try RecorderProcess("camrecorder", Self.camera, fileBlocksMax: 1000)
        let file = try TemporaryFile(".mkv")
        try recorder.open(1, .dictionary(["activeFormat": .string("420v 1920x1080")]))
        try recorder.record(4, into: file, ["fileType": .string(fileType.rawValue)])
        let finished = try recorder.signal("RecordingFinished")
        #expect(finished[1] == .string("disk-full"))
        let frames = try DecodedVideo(file.path).marks.count
        #expect(finished[2] == .uint64(UInt64(frames)) && frames > 0)
        // The grant goes on.
        #expect(try recorder.cut(1) > 0)
    }

    @Test("A recorder core that is asked something just as it wants to leave leaves a little later")
    func itGoesAlthoughItIsAskedJustThen() throws {
        // Four times 3 s: a machine that is busy for less does not make it idle.
        let idle: Int64 = 12_000_000_000
        let recorder = try RecorderProcess("camrecorder", Self.camera, patience: 4)
        try recorder.call("Look")
        // Both come to it at once: that it has had nothing to do for so long, and a question.
        #expect(recorder.child?.signal(SIGSTOP) == true)
        try recorder.pass(idle + 500_000_000)
        var isAnswered = false
        recorder.ask("Look") { isAnswered = true }
        #expect(recorder.child?.signal(SIGCONT) == true)
        #expect(try recorder.ended() == .exited(0))
        try recorder.wait("the answer, or the connection's end") { isAnswered }
    }

    @Test func aWrongCommandLineIsStatusTwo() throws {
        let recorder = try RecorderProcess("camrecorder", ["--camera", "nonsense"])
        #expect(try recorder.ended() == .exited(2))
    }

    @Test func anotherRecorderCoreCanTakeItsPlace() throws {
        let recorder = try RecorderProcess("tinyrecorder")
        let described = try #require(try recorder.call("Describe").first?.dictionary)
        #expect(try CameraCapabilities(wire: described).name == "Tiny camera")
        try recorder.open(1, .dictionary([:]))
        let stream = try recorder.stream(1)
        let (recording, photo) = (try TemporaryFile(), try TemporaryFile(".jpg"))
        try recorder.record(2, into: recording)
        let descriptor = try photo.open()
        defer { close(descriptor) }
        try recorder.call(
            "CapturePhoto", [.uint64(1), .uint64(3), .uint64(2), .fileDescriptor(descriptor), .dictionary([:])])
        #expect(try recorder.signal("PhotoCaptured")[0] == .uint64(2))
        #expect(try DecodedVideo(photo.path).width == 8)
        var last: Int64 = 0
        for _ in 0..<3 { last = try #require(try stream.mark()).record.timestamp }
        #expect(try recorder.cut(1) >= last)
        stream.withEveryBuffer { _, bytes in #expect(bytes.allSatisfy { $0 == 0 }) }
        let finished = try recorder.signal("RecordingFinished")
        let lines = try recording.bytes().split(separator: UInt8(ascii: "\n"))
        #expect(finished[1] == .string("interrupted") && finished[2] == .uint64(UInt64(lines.count)))
    }
}
