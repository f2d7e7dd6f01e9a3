import ArbiterProtocol
import Bus
import CLinux
import FrameStream
import Glibc
import Loop
import Testing

/// camrecorder whose broker ends, and which another broker takes up.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SurvivalTests {
    /// A recorder core with an open grant that outlives the broker, and what there is to find it by.
    private final class Kept {
        let recorder: RecorderProcess
        let folder: String
        let path: String
        /// The holder: a process that lives until the test ends it.
        let client: ChildProcess
        private let clientsEnd: Int32

        /// - Parameter patience: by default no test waits until it goes for want of a broker.
        init(grant: UInt64 = 1, patience: Int = 60) throws {
            recorder = try RecorderProcess("camrecorder", ProcessTests.camera, patience: patience)
            var template = Array("/tmp/camarb-test-XXXXXX".utf8CString)
            folder = try #require(
                template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!).map { String(cString: $0) } })
            path = folder + "/kept"
            let (ours, theirs) = try UnixPair.make()
            clientsEnd = ours
            client = try ChildProcess(path: "/bin/sleep", arguments: ["600"], passing: theirs, on: recorder.loop) { _ in
            }
            close(theirs)
            try recorder.call("Open", [.uint64(grant), ProcessTests.small])
            try keep(grant)
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

        func record(_ number: UInt64, into file: TemporaryFile, on grant: UInt64 = 1) throws {
            let descriptor = try file.open()
            defer { close(descriptor) }
            try recorder.call(
                "StartRecording", [.uint64(grant), .uint64(number), .fileDescriptor(descriptor), .dictionary([:])])
        }

        /// The broker is another one from here on.
        func nextBroker() throws -> [WireValue] {
            recorder.disconnect()
            try recorder.connect(to: path)
            return try recorder.call("Survey")
        }
    }

    @Test(
        "A kept grant goes on without a broker: its stream goes on and no frame is missing in its recording when another takes it up"
    )
    func goesOn() throws {
        let kept = try Kept()
        let recorder = kept.recorder
        let file = try TemporaryFile(".mkv")
        let stream = try recorder.stream(1, session: 7)
        let watcher = try recorder.stream(1, session: 2)
        try kept.record(4, into: file)
        for _ in 0..<3 { _ = try stream.mark() }
        recorder.disconnect()
        var numbers: [UInt64] = []
        // Captured while there is no broker.
        for _ in 0..<5 { numbers.append(try #require(try stream.mark()).record.sequence) }
        try recorder.connect(to: kept.path)
        let survey = try recorder.call("Survey")
        let process = try #require(survey[0].fileDescriptor)
        defer { close(process) }
        #expect(ProcessHandle.process(behind: process) == recorder.child?.pid)
        #expect(survey[1] == .uint64(1))
        #expect(survey[2] == .array(type: "t", [.uint64(4)]))
        let inForce = try recorder.call("Resume", [.uint64(1), .uint64(7), .uint64(2)])
        #expect(inForce.first?.dictionary?["activeFormat"] == .string("420v 640x480@30 binned"))
        for _ in 0..<5 { numbers.append(try #require(try stream.mark()).record.sequence) }
        // Numbers count captured frames, and nothing begins anew. A stream leaves frames out while this test reads none, which
        // on a busy machine may be so during the calls above.
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "\(numbers)")
        // The number is the holder's now, and whoever had it before has nothing any more.
        try watcher.drain()
        watcher.withEveryBuffer { _, bytes in #expect(bytes.allSatisfy { $0 == 0 }) }
        try recorder.call("StopRecording", [.uint64(4), .string("stopped"), .dictionary([:])])
        let finished = try recorder.signal("RecordingFinished")
        let marks = try DecodedVideo(file.path).marks.map { try #require($0).frameNumber }
        #expect(finished[2] == .uint64(UInt64(marks.count)))
        // On a busy machine the encoder leaves frames out, and says how many.
        let leftOut = try #require(finished[6].uint64)
        #expect(numbers.count { !marks.contains(UInt32($0)) } <= leftOut, "what was streamed was recorded, too")
        #expect(zip(marks, marks.dropFirst()).allSatisfy { $0 < $1 })
        #expect(
            UInt64(marks[marks.count - 1] - marks[0]) + 1 <= UInt64(marks.count) + leftOut, "no other frame is missing")
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
        let error = #expect(throws: BrokerError.self) { try kept.record(5, into: file) }
        #expect(error?.kind == .staleGrant)
        #expect(
            try #require(try recorder.call(order, [.uint64(1), .string("interrupted"), .dictionary([:])]).first?.int64)
                > 0)
        // Then it is a recorder core as any other.
        try recorder.call("Open", [.uint64(2), ProcessTests.small])
    }

    @Test("A kept grant ends with its client, without any broker, and its recording is whole")
    func endsWithItsClient() throws {
        let kept = try Kept()
        let file = try TemporaryFile(".mkv")
        let stream = try kept.recorder.stream(1, session: 7)
        try kept.record(4, into: file)
        for _ in 0..<3 { _ = try stream.mark() }
        kept.recorder.disconnect()
        _ = try stream.mark()
        kept.client.signal(SIGKILL)
        #expect(try kept.recorder.ended() == .exited(0))
        #expect(try DecodedVideo(file.path).marks.count > 0)
    }

    @Test("A grant that no broker takes up ends by itself after its time, and one that was never kept does so at once")
    func endsByItself() throws {
        let kept = try Kept(patience: 4)
        let alone = EventLoop.now
        kept.recorder.disconnect()
        #expect(try kept.recorder.ended() == .exited(0))
        #expect(EventLoop.now - alone >= 12_000_000_000)
        let other = try Kept()
        try other.recorder.call("Cut", [.uint64(1), .string("interrupted"), .dictionary([:])])
        try other.recorder.call("Open", [.uint64(2), ProcessTests.small])
        other.recorder.disconnect()
        #expect(try other.recorder.ended() == .exited(0))
    }

    @Test(
        "What a recorder core says while nobody hears it is told to the next broker, and the last recording's end again"
    )
    func tellsLater() throws {
        let kept = try Kept()
        let recorder = kept.recorder
        let file = try TemporaryFile(".mkv")
        try kept.record(4, into: file)
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
