import ArbiterProtocol
import Bus
import BusTesting
import Glibc
import System
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RecorderFailureTests {
    @Test("A camera that passes on is cut by PassOn; a recorder core that does not know it is asked once, and gets Cut")
    func passesOn() throws {
        for knowsPassOn in [true, false] {
            let recorders = try FakeRecorders()
            if !knowsPassOn {
                recorders.when("PassOn") { _, message in
                    message.answer(BrokerError(.unknownMethod, "An earlier recorder core has no PassOn."))
                }
            }
            let process = try recorders.broker()
            let (photos, other) = (try recorders.session(process), try recorders.session(process, "call"))
            try photos.run()
            let recorder = try #require(recorders.all.last)
            func orders() -> [String] { recorder.calls.filter { ["Open", "Cut", "PassOn"].contains($0) } }
            // Each holds while it runs, and stops in favour of the next.
            for (holder, next, count) in [(photos, other, 1), (other, photos, 2)] {
                try next.call("StartRunning")
                try next.wait("WasInterrupted")
                try holder.call("StopRunning")
                try next.wait("DidStartRunning", count: count)
            }
            try photos.call("StopRunning")
            try process.wait("the last cut") { orders().last == "Cut" }
            #expect(
                orders()
                    == (knowsPassOn
                        ? ["Open", "PassOn", "Open", "PassOn", "Open", "Cut"]
                        : ["Open", "PassOn", "Cut", "Open", "Cut", "Open", "Cut"]))
        }
    }

    @Test(
        "A recorder core that closes its socket and lingers has cut nothing: what excludes it opens when its process ends"
    )
    func lingers() throws {
        let recorders = try FakeRecorders()
        let policy = try Scratch(
            """
            name = "one at a time"
            [[camera]]
            id = "front"
            conflicts = ["back"]

            """)
        let process = try recorders.broker(
            policy: policy.path, cameras: ["front=simulated", "back=simulated:iphone6-back"], patience: 1)
        try process.wait("the cameras to be described") { recorders.all.count { $0.count("Describe") > 0 } == 2 }
        let first = try process.client("photos").session("front")
        try first.run()
        let holder = try #require(recorders.all.first { $0.calls.contains("Open") })
        var isFree: [Bool] = []
        recorders.whenCalled = { _, message in
            if message.member == "Open" { isFree.append(!holder.isAlive) }
            return false
        }
        let second = try process.client("call").session("back")
        try second.call("StartRunning")
        try second.wait("WasInterrupted")
        holder.hangUp()
        try first.call("StopRunning")
        try second.wait("DidStartRunning")
        #expect(isFree == [true])
    }

    @Test("A hundred streams leave camarbd's descriptors as they were")
    func descriptorsOfStreams() throws {
        let process = try BrokerProcess()
        let session = try process.client("photos").session()
        try session.run()
        func open() throws { close(try #require(try session.call("OpenStream").first?.fileDescriptor)) }
        try open()
        let before = process.descriptors
        for _ in 0..<100 { try open() }
        // Fewer, where the start still had some in use.
        try process.wait("the descriptors to be given back") { process.descriptors <= before }
    }

    @Test("A recorder core that says nonsense about a recording it completed is killed, and not believed")
    func completedWithNonsense() throws {
        let recorders = try FakeRecorders()
        let process = try recorders.broker()
        let session = try recorders.session(process)
        try session.run()
        try session.record()
        let lost = try #require(recorders.all.last)
        try process.wait("the recording") { lost.count("StartRecording") > 0 }
        var liar: FakeRecorder?
        recorders.when("Complete") { recorder, message in
            liar = recorder
            message.answer([.uint64(.max), .int64(.min), .uint64(.max)])
        }
        lost.crash()
        try session.wait("RecordingFinished")
        let end = try #require(session.finished.first)
        #expect(session.finished.count == 1 && end.why == .recorderReset)
        #expect(end.frames == nil && end.duration ?? .zero > .zero && end.bytes == nil)
        try process.wait("its end") { liar !== lost && liar?.ending == .signalled(SIGKILL) }
    }
}
