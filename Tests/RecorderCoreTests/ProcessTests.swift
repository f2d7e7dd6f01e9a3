import ArbiterProtocol
import FrameStream
import Glibc
import RecorderCore
import System
import Testing

/// camrecorder as the broker meets it: a process at the other end of a socket.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ProcessTests {
    @Test func errorsSayWhatWasWrong() throws {
        let recorder = try RecorderProcess()
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
        let recorder = try RecorderProcess(fileBlocksMax: 1000)
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

    @Test func aWrongCommandLineIsStatusTwo() throws {
        let recorder = try RecorderProcess(camera: "nonsense")
        #expect(try recorder.ended() == .exited(2))
    }
}
