import ArbiterProtocol
import CameraFile
import FrameStream
import Glibc
import Loop
import RecorderCore
import Testing

/// camrecorder as the broker meets it: a process at the other end of a socket.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ProcessTests {
    static let camera = ["--camera", "simulated:iphone5-back"]
    static let small: WireValue = .dictionary(["activeFormat": .string("420v 640x480")])

    @Test func itDescribesItsCameraOpensStreamsAndIsCut() throws {
        let recorder = try RecorderProcess("camrecorder", Self.camera)
        let described = try #require(try recorder.call("Describe").first?.dictionary)
        let capabilities = try CameraCapabilities(wire: described)
        let model = try CameraFile.named("iphone5-back")
        #expect(capabilities == model.capabilities)
        let inForce = try recorder.call("Open", [.uint64(1), Self.small]).first?.dictionary
        #expect(inForce?["activeFormat"] == .string("420v 640x480@30 binned"))
        let stream = try recorder.stream(1)
        let frame = try #require(try stream.mark()).record
        let lastCapture = try #require(
            try recorder.call("Cut", [.uint64(1), .string("interrupted"), .dictionary([:])]).first?.int64)
        #expect(lastCapture >= frame.timestamp)
        stream.withEveryBuffer { _, bytes in #expect(bytes.allSatisfy { $0 == 0 }) }
    }

    @Test func errorsSayWhatWasWrong() throws {
        let recorder = try RecorderProcess("camrecorder", Self.camera)
        let stale = #expect(throws: BrokerError.self) {
            try recorder.call("Cut", [.uint64(1), .string("interrupted"), .dictionary([:])])
        }
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

    @Test func aKilledRecordingPlaysWithEveryFrameThatWasFlushed() throws {
        let recorder = try RecorderProcess("camrecorder", Self.camera)
        let file = try TemporaryFile(".mkv")
        try recorder.call("Open", [.uint64(1), Self.small])
        let stream = try recorder.stream(1)
        let descriptor = try file.open()
        try recorder.call("StartRecording", [.uint64(1), .uint64(4), .fileDescriptor(descriptor), .dictionary([:])])
        close(descriptor)
        var lastSeen: Int64 = 0
        for _ in 0..<15 { lastSeen = try #require(try stream.mark()).record.timestamp }
        // What is flushed by now cannot be lost any more. On a busy machine the preview is long ahead of the file.
        var flushed: [BurntInMark?] = []
        while flushed.isEmpty {
            lastSeen = try #require(try stream.mark()).record.timestamp
            flushed = (try? DecodedVideo(file.path).marks) ?? []
        }
        #expect(recorder.child?.signal(SIGKILL) == true)
        _ = try recorder.ended()
        let video = try DecodedVideo(file.path)
        #expect(video.marks.starts(with: flushed))
        let numbers = try video.marks.map { try #require($0).frameNumber }
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
        #expect(lastSeen > 0 && stream.hasEnded == false)
        while try stream.mark() != nil {}
        #expect(stream.hasEnded)
    }

    @Test(arguments: RecordingFileType.allCases)
    func aFileSizeLimitOfTheSystemEndsTheRecordingAsAFullDisk(_ fileType: RecordingFileType) throws {
        let recorder = try RecorderProcess("camrecorder", Self.camera, fileBlocksMax: 1000)
        let file = try TemporaryFile(".mkv")
        try recorder.call("Open", [.uint64(1), .dictionary(["activeFormat": .string("420v 1920x1080")])])
        let descriptor = try file.open()
        try recorder.call(
            "StartRecording",
            [
                .uint64(1), .uint64(4), .fileDescriptor(descriptor),
                .dictionary(["fileType": .string(fileType.rawValue)]),
            ])
        close(descriptor)
        let finished = try recorder.signal("RecordingFinished")
        #expect(finished[1] == .string("disk-full"))
        let frames = try DecodedVideo(file.path).marks.count
        #expect(finished[2] == .uint64(UInt64(frames)) && frames > 0)
        // The grant goes on.
        #expect(
            try #require(try recorder.call("Cut", [.uint64(1), .string("stopped"), .dictionary([:])]).first?.int64) > 0)
    }

    @Test func aRecordingIsFinishedAfterTheAnswerToTheCut() throws {
        let recorder = try RecorderProcess("camrecorder", Self.camera)
        let file = try TemporaryFile(".mkv")
        try recorder.call("Open", [.uint64(1), Self.small])
        let descriptor = try file.open()
        try recorder.call("StartRecording", [.uint64(1), .uint64(4), .fileDescriptor(descriptor), .dictionary([:])])
        close(descriptor)
        let stream = try recorder.stream(1)
        for _ in 0..<5 { _ = try stream.mark() }
        let lastCapture = try #require(
            try recorder.call("Cut", [.uint64(1), .string("interrupted"), .dictionary([:])]).first?.int64)
        let finished = try recorder.signal("RecordingFinished")
        #expect(finished[0] == .uint64(4) && finished[1] == .string("interrupted"))
        let video = try DecodedVideo(file.path)
        #expect(finished[2] == .uint64(UInt64(video.marks.count)))
        #expect(video.marks.last??.captureTime == lastCapture)
    }

    @Test func itFinishesARecordingWhenTheBrokerGoes() throws {
        let recorder = try RecorderProcess("camrecorder", Self.camera)
        let file = try TemporaryFile(".mkv")
        try recorder.call("Open", [.uint64(1), Self.small])
        let descriptor = try file.open()
        try recorder.call("StartRecording", [.uint64(1), .uint64(4), .fileDescriptor(descriptor), .dictionary([:])])
        close(descriptor)
        let stream = try recorder.stream(1)
        for _ in 0..<5 { _ = try stream.mark() }
        recorder.disconnect()
        #expect(try recorder.ended() == .exited(0))
        #expect(try DecodedVideo(file.path).marks.count > 0)
    }

    /// Four times 3 s: a machine that is busy for less does not make it idle.
    private static let idle: Int64 = 12_000_000_000

    @Test func itGoesWhenItIsIdle() throws {
        let recorder = try RecorderProcess("camrecorder", Self.camera, patience: 4)
        try recorder.call("Open", [.uint64(1), Self.small])
        let cut = EventLoop.now
        try recorder.call("Cut", [.uint64(1), .string("interrupted"), .dictionary([:])])
        #expect(try recorder.ended() == .exited(0))
        #expect(EventLoop.now - cut >= Self.idle)
    }

    @Test("A recorder core that is asked something just as it wants to leave leaves a little later")
    func itGoesAlthoughItIsAskedJustThen() throws {
        let recorder = try RecorderProcess("camrecorder", Self.camera, patience: 4)
        try recorder.call("Look")
        // Both come to it at once: that it has had nothing to do for so long, and a question.
        #expect(recorder.child?.signal(SIGSTOP) == true)
        try recorder.pass(Self.idle + 500_000_000)
        var isAnswered = false
        recorder.ask("Look") { isAnswered = true }
        #expect(recorder.child?.signal(SIGCONT) == true)
        #expect(try recorder.ended() == .exited(0))
        try recorder.wait("the answer, or the connection's end") { isAnswered }
    }

    @Test func aWedgedDriverNeverAnswersTheCut() throws {
        let recorder = try RecorderProcess("camrecorder", Self.camera + ["--fault", "cut-hangs"])
        try recorder.call("Open", [.uint64(1), Self.small])
        let stream = try recorder.stream(1)
        _ = try #require(try stream.mark())
        // The broker's way out: the process is killed, and takes the stream with it.
        #expect(recorder.child?.signal(SIGKILL) == true)
        while try stream.mark() != nil {}
        #expect(stream.hasEnded)
    }

    @Test func aWrongCommandLineIsStatusTwo() throws {
        let recorder = try RecorderProcess("camrecorder", ["--camera", "nonsense"])
        #expect(try recorder.ended() == .exited(2))
    }

    @Test func anotherRecorderCoreCanTakeItsPlace() throws {
        let recorder = try RecorderProcess("tinyrecorder")
        let described = try #require(try recorder.call("Describe").first?.dictionary)
        #expect(try CameraCapabilities(wire: described).name == "Tiny camera")
        try recorder.call("Open", [.uint64(1), .dictionary([:])])
        let stream = try recorder.stream(1)
        let recording = try TemporaryFile()
        let photo = try TemporaryFile(".jpg")
        let orders: [(String, [UInt64], TemporaryFile)] = [
            ("StartRecording", [1, 2], recording), ("CapturePhoto", [1, 3, 2], photo),
        ]
        for (member, ids, file) in orders {
            let descriptor = try file.open()
            try recorder.call(member, ids.map { .uint64($0) } + [.fileDescriptor(descriptor), .dictionary([:])])
            close(descriptor)
        }
        #expect(try recorder.signal("PhotoCaptured")[0] == .uint64(2))
        #expect(try DecodedVideo(photo.path).width == 8)
        var last: Int64 = 0
        for _ in 0..<3 { last = try #require(try stream.mark()).record.timestamp }
        let lastCapture = try #require(
            try recorder.call("Cut", [.uint64(1), .string("interrupted"), .dictionary([:])]).first?.int64)
        #expect(lastCapture >= last)
        stream.withEveryBuffer { _, bytes in #expect(bytes.allSatisfy { $0 == 0 }) }
        let finished = try recorder.signal("RecordingFinished")
        let lines = try recording.bytes().split(separator: UInt8(ascii: "\n"))
        #expect(finished[1] == .string("interrupted") && finished[2] == .uint64(UInt64(lines.count)))
    }
}
