import ArbiterProtocol
import Bus
import CLinux
import FrameStream
import Glibc
import System
import Testing

/// camrecorder whose broker ends, and which another broker takes up.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SurvivalTests {
    /// A recorder core with an open grant that outlives the broker, and what there is to find it by.
    private final class Kept {
        let recorder: RecorderProcess
        private let folder: String
        let path: String
        /// The holder: a process that lives until the test ends it.
        let client: ChildProcess
        private let clientsEnd: Int32

        init() throws {
            recorder = try RecorderProcess()
            folder = try temporaryFolder()
            path = folder + "/kept"
            let (ours, theirs) = try UnixPair.make()
            clientsEnd = ours
            client = try ChildProcess(path: "/bin/sleep", arguments: ["600"], passing: theirs, on: recorder.loop) { _ in
            }
            close(theirs)
            try recorder.open(1)
            try keep(1)
        }

        deinit {
            client.signal(SIGKILL)
            close(clientsEnd)
            unlink(path)
            rmdir(folder)
        }

        func keep(_ grant: UInt64) throws {
            unlink(path)
            let listener = camarb_unix_listen(path, 4)
            try #require(listener >= 0)
            defer { close(listener) }
            try recorder.callWithDescriptors(
                "Keep", [.uint64(grant), .fileDescriptor(client.handle.descriptor), .fileDescriptor(listener)])
        }

        /// The broker is another one from here on.
        func nextBroker() throws -> [WireValue] {
            recorder.disconnect()
            try recorder.connect(to: path)
            return try recorder.call("Survey")
        }
    }

    @Test("A kept grant goes on without a broker: its stream and its recording go on when another takes it up")
    func goesOn() throws {
        let kept = try Kept()
        let recorder = kept.recorder
        let stream = try recorder.stream(1, session: 7)
        let watcher = try recorder.stream(1, session: 2)
        let file = try TemporaryFile(".mkv")
        try recorder.record(4, into: file)
        for _ in 0..<3 { _ = try stream.mark() }
        recorder.disconnect()
        // Captured while there is no broker.
        let alone = try (0..<5).map { _ in try #require(try stream.mark()).record.sequence }
        try recorder.connect(to: kept.path)
        let survey = try recorder.call("Survey")
        let process = try #require(survey[0].fileDescriptor)
        defer { close(process) }
        #expect(ProcessHandle.process(behind: process) == recorder.child?.pid)
        #expect(survey[1] == .uint64(1))
        #expect(survey[2] == .array(type: "t", [.uint64(4)]))
        let inForce = try recorder.call("Resume", [.uint64(1), .uint64(7), .uint64(2)])
        #expect(inForce.first?.dictionary?["activeFormat"] == .string("420v 640x480@30 binned"))
        // Numbers count captured frames, and nothing begins anew.
        let numbers = try alone + (0..<5).map { _ in try #require(try stream.mark()).record.sequence }
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "\(numbers)")
        // The number is the holder's now, and whoever had it before has nothing any more.
        try watcher.drain()
        watcher.withEveryBuffer { _, bytes in #expect(bytes.allSatisfy { $0 == 0 }) }
        try recorder.call("StopRecording", [.uint64(4), .string("stopped"), .dictionary([:])])
        let finished = try recorder.signal("RecordingFinished")
        #expect(try finished[2] == .uint64(UInt64(DecodedVideo(file.path).marks.count)))
    }

    @Test("Of recordings that outlive their broker, that of the session that goes on does, and others are finished")
    func recordingsOfSessions() throws {
        let kept = try Kept()
        let recorder = kept.recorder
        let picture: WireValue = .dictionary(["activeFormat": .string("420v 192x144"), "frameRate": .double(30)])
        try recorder.call("SetPicture", [.uint64(1), .uint64(7), picture])
        let stream = try recorder.stream(1, session: 7)
        let files = [try TemporaryFile(".mkv"), try TemporaryFile(".mkv")]
        for (file, session) in zip(files, [UInt64(7), 2]) {
            try recorder.call("ActFor", [.uint64(1), .uint64(session)])
            try recorder.record(session, into: file)
        }
        for _ in 0..<8 { _ = try stream.mark() }
        let survey = try kept.nextBroker()
        #expect(survey[2] == .array(type: "t", [.uint64(7), .uint64(2)]))
        try recorder.call("Resume", [.uint64(1), .uint64(7), .uint64(2)])
        let lost = try recorder.signal("RecordingFinished")
        #expect(lost[0] == .uint64(2) && lost[1] == .string("interrupted"))
        #expect(try lost[2] == .uint64(UInt64(DecodedVideo(files[1].path).marks.count)))
        for _ in 0..<3 { _ = try stream.mark() }
        try recorder.call("StopRecording", [.uint64(7), .string("stopped"), .dictionary([:])])
        #expect(try recorder.signal("RecordingFinished")[0] == .uint64(7))
        #expect(try DecodedVideo(files[0].path).width == 192)
        let frame = try recorder.stream(1, session: 2).frame()
        #expect(frame.layout.width == 192, "the picture is that of the number now")
        withExtendedLifetime(files) {}
    }

    @Test(
        "Before it is resumed a kept grant can be cut, for another one or for nobody, and nothing can begin for it",
        arguments: ["Cut", "PassOn"])
    func beginsNothing(_ order: String) throws {
        let kept = try Kept()
        let recorder = kept.recorder
        _ = try kept.nextBroker()
        for (member, arguments) in [
            ("OpenStream", [WireValue.uint64(1), .uint64(7)]), ("Configure", [.uint64(1), .dictionary([:])]),
            ("Open", [.uint64(2), .dictionary([:])]),
        ] {
            let error = #expect(throws: BrokerError.self) { try recorder.call(member, arguments) }
            #expect(error?.kind == .staleGrant, "\(member)")
        }
        let file = try TemporaryFile(".mkv")
        let error = #expect(throws: BrokerError.self) { try recorder.record(5, into: file) }
        #expect(error?.kind == .staleGrant)
        #expect(try recorder.cut(1, order) > 0)
        // Then it is a recorder core as any other.
        try recorder.open(2)
    }

    @Test(
        "What a recorder core says while nobody hears it is told to the next broker, and the last recording's end again"
    )
    func tellsLater() throws {
        let kept = try Kept()
        let recorder = kept.recorder
        let file = try TemporaryFile(".mkv")
        try recorder.record(4, into: file)
        let stream = try recorder.stream(1, session: 7)
        for _ in 0..<3 { _ = try stream.mark() }
        try recorder.call("StopRecording", [.uint64(4), .string("stopped"), .dictionary([:])])
        let told = try recorder.signal("RecordingFinished")
        let survey = try kept.nextBroker()
        #expect(survey[2] == .array(type: "t", [.uint64(4)]))
        #expect(try recorder.signal("RecordingFinished") == told)
    }

    @Test("A broker that dies before it has taken a grant up leaves it to the next")
    func twice() throws {
        let kept = try Kept()
        let stream = try kept.recorder.stream(1, session: 7)
        _ = try kept.nextBroker()
        _ = try kept.nextBroker()
        try kept.recorder.call("Resume", [.uint64(1), .uint64(7), .uint64(1)])
        _ = try #require(try stream.mark())
        // It was taken up: now it is as any grant that nobody keeps.
        kept.recorder.disconnect()
        #expect(try kept.recorder.ended() == .exited(0))
    }

    @Test("Only a grant that is open can be kept, for a client that lives, on a socket that listens")
    func keepsWhatIsOpen() throws {
        let kept = try Kept()
        #expect(throws: BrokerError.self) { try kept.keep(2) }
        let recorder = kept.recorder
        let (one, another) = try UnixPair.make()
        defer {
            close(one)
            close(another)
        }
        let mistake = #expect(throws: BrokerError.self) {
            try recorder.callWithDescriptors(
                "Keep", [.uint64(1), .fileDescriptor(kept.client.handle.descriptor), .fileDescriptor(one)])
        }
        #expect(mistake?.kind == .recorderFault)
    }
}
