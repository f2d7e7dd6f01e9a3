import ArbiterProtocol
import Bus
import BusTesting
import Glibc
import System
import Testing

/// Recorder cores that die or hang at the worst moment.
@Suite(.timeLimit(.minutes(10)))
struct RecorderFailureTests {
    @Test("A privacy switch that nobody watches any more keeps nobody waiting: whoever wants the camera finds out")
    func privacyOfADeadRecorder() throws {
        let recorders = try FakeRecorders()
        recorders.when("Open") { recorder, message in
            recorder.say("DeviceChanged", "privacy-on", "The camera's privacy switch is on.")
            message.answer(BrokerError(.deviceFault, "The privacy switch of fake is on."))
        }
        let session = try recorders.session(try recorders.broker())
        try session.call("StartRunning")
        try session.wait("WasInterrupted")
        recorders.asUsual()
        let first = try #require(recorders.all.last)
        first.crash()
        try session.wait("DidStartRunning")
        #expect(recorders.all.last !== first)
    }

    @Test("A switch that was switched back while the camera was unplugged is off")
    func privacyOverReplugging() throws {
        let recorders = try FakeRecorders()
        let session = try recorders.session(try recorders.broker())
        try session.run()
        let recorder = try #require(recorders.all.last)
        recorder.say("DeviceChanged", "privacy-on", "")
        try session.wait("WasInterrupted")
        recorder.say("DeviceChanged", "disconnected", "")
        recorder.say("DeviceChanged", "ok", "")
        try session.wait("DidStartRunning", count: 2)
    }

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
            let photos = try recorders.session(process)
            let other = try recorders.session(process, "call")
            try photos.run()
            let recorder = try #require(recorders.all.last)
            func orders() -> [String] { recorder.calls.filter { ["Open", "Cut", "PassOn"].contains($0) } }
            // Each is wanted by the other one while it runs, and stops in its favour.
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
        func open() throws {
            guard case .fileDescriptor(let stream)? = try session.call("OpenStream").first else {
                Issue.record("OpenStream gave no descriptor.")
                return
            }
            close(stream)
        }
        try open()
        let before = process.descriptors
        for _ in 0..<100 { try open() }
        // Fewer, where the start still had some in use.
        try process.wait("the descriptors to be given back") { process.descriptors <= before }
    }

    @Test("A recorder core that hangs in its driver while it is asked about its camera is killed, and another is asked")
    func hangsInDescribe() throws {
        let recorders = try FakeRecorders()
        recorders.when("Describe") { _, _ in }
        let process = try recorders.broker()
        try process.wait("the question") { recorders.all.contains { $0.count("Describe") > 0 } }
        let stuck = try #require(recorders.all.last)
        recorders.asUsual()
        try process.wait("its end") { stuck.ending == .signalled(SIGKILL) }
        try process.wait("another") {
            recorders.all.last.map { $0 !== stuck && $0.count("Describe") > 0 } ?? false
        }
        try recorders.session(process).run()
    }

    // MARK: Recordings of a recorder core that was lost

    /// A session that records with a fake recorder core, which then crashes; the next does what it is told with `Complete`.
    private func end(
        ofRecordingCompletedBy complete: @escaping (FakeRecorder, BusMessage) -> Void, patience: Int = 20,
        _ body: (BrokerProcess, FakeRecorders, TestSession) throws -> Void = { _, _, _ in }
    ) throws -> RecordingFinished {
        let recorders = try FakeRecorders()
        let process = try recorders.broker(patience: patience)
        let session = try recorders.session(process)
        try session.run()
        try session.record()
        let lost = try #require(recorders.all.last)
        try process.wait("the recording") { lost.count("StartRecording") > 0 }
        recorders.when("Complete") { recorder, message in
            #expect(recorder !== lost)
            complete(recorder, message)
        }
        lost.crash()
        try body(process, recorders, session)
        try session.wait("RecordingFinished")
        #expect(session.finished.count == 1)
        return try #require(session.finished.first)
    }

    @Test("The end of a lost recorder core's recording says what the next one has found in its file")
    func completed() throws {
        let end = try end(ofRecordingCompletedBy: { _, message in
            message.answer([.uint64(7), .int64(233_333_333), .uint64(70_000)])
        })
        #expect(end.why == .recorderReset && end.frames == 7 && end.bytes == 70_000)
        #expect(end.duration == .nanoseconds(233_333_333))
    }

    @Test("A recording that is not completed has ended after the time it ran, and its frames are not known")
    func notCompleted() throws {
        let end = try end(ofRecordingCompletedBy: { _, message in
            message.answer(BrokerError(.unsuitableFile, "It is none of mine."))
        })
        #expect(end.why == .recorderReset && end.frames == nil && end.bytes == nil && end.duration ?? .zero > .zero)
    }

    @Test("A completion that is never answered keeps neither the camera, nor its client without an end")
    func neverCompleted() throws {
        let begun = EventLoop.now
        let end = try end(
            // Ten seconds: less than any answer may take (`RecorderLife.answerTimeMax`).
            ofRecordingCompletedBy: { _, _ in }, patience: 2,
            { process, recorders, session in
                try session.wait("DidStartRunning", count: 2)
                #expect(!session.names.contains("RecordingFinished"))
            })
        #expect(end.why == .recorderReset && end.frames == nil)
        #expect(EventLoop.now - begun >= 10_000_000_000)
    }

    @Test("A recorder core that says nonsense about a recording it completed is killed, and not believed")
    func completedWithNonsense() throws {
        var liar: FakeRecorder?
        var process: BrokerProcess?
        let end = try end(
            ofRecordingCompletedBy: { recorder, message in
                liar = recorder
                message.answer([.uint64(.max), .int64(.min), .uint64(.max)])
            }, { broker, _, _ in process = broker })
        #expect(end.frames == nil && end.duration ?? .zero > .zero && end.bytes == nil)
        try process?.wait("its end") { liar?.ending == .signalled(SIGKILL) }
    }

    @Test("Envelopes of recordings leave camarbd's descriptors as they were")
    func envelopesOfRecordings() throws {
        let process = try BrokerProcess()
        let session = try process.client("photos").session()
        try session.run()
        func record(_ count: Int) throws {
            try session.record()
            try session.call("StopRecording")
            try session.wait("RecordingFinished", count: count)
        }
        try record(1)
        let before = process.descriptors
        // More than the two that each further keeper (`DescriptorKeepers.workingMax`) costs.
        for count in 2...40 { try record(count) }
        try process.wait("the descriptors to be given back") { process.descriptors <= before + 2 * 8 }
    }
}
