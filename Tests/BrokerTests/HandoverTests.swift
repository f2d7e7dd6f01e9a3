import ArbiterProtocol
import Bus
import Glibc
import Testing

@Suite struct HandoverTests {
    /// Makes the winner the focused app, as desktop.toml wants it.
    private func focus(_ shell: TestClient, _ winner: String, over loser: String) throws {
        try shell.place(loser, "fullscreen", false)
        try shell.place(winner, "fullscreen", true)
    }

    @Test func aHandoverKeepsTheOrderOfTheContractUnderOneDecision() throws {
        let process = try BrokerProcess()
        let shell = try process.client(as: "shell")
        let photos = try process.client("photos").session()
        let call = try process.client("call").session()
        try focus(shell, "photos", over: "call")
        try photos.run()
        try photos.record()
        try call.call("StartRunning")
        try call.wait("WasInterrupted")
        try focus(shell, "call", over: "photos")
        try call.wait("DidStartRunning")
        try photos.wait("RecordingFinished")

        #expect(
            Array(photos.names.prefix(4)) == [
                "DidStartRunning", "RecordingStarted", "WasInterrupted", "DidStopRunning",
            ])
        for session in [photos, call] {
            #expect(session.events.map(\.sequence) == Array(1...UInt64(session.events.count)))
        }
        let cut = try #require(photos.events.first { $0.event.kind == .wasInterrupted })
        guard case .wasInterrupted(_, let causes, let interrupter, let recording, let rule) = cut.event else { return }
        #expect(causes.reason == .videoDeviceInUseByAnotherClient && interrupter == .app("call"))
        #expect(recording == 1 && !rule.isEmpty)
        #expect(call.events.first { $0.event.kind == .interruptionEnded }?.decision == cut.decision)

        // And back, by itself; the recording does not come back.
        try focus(shell, "photos", over: "call")
        try photos.wait("DidStartRunning", count: 2)
        #expect(photos.names.filter { $0 == "RecordingStarted" }.count == 1)
        let status = try shell.status()
        #expect(status.cameras.first?.holder == .app("photos"))
        #expect(status.sessions.map(\.state) == [.running, .interrupted])
        #expect(status.sessions.map(\.focused) == [true, false])
    }

    @Test func aDecisionIsExplainedAndAPlanChangesNothing() throws {
        let process = try BrokerProcess()
        let shell = try process.client(as: "shell")
        let photos = try process.client("photos").session()
        let call = try process.client("call").session()
        try focus(shell, "photos", over: "call")
        try photos.run()
        try call.call("StartRunning")
        try call.wait("WasInterrupted")
        let decision = try #require(call.events.first?.decision)
        let answer = try shell.broker("Explain", .uint64(decision))
        #expect(answer.first?.string?.contains("because") == true)
        let verdict = try #require(answer.last?.elements?.first?.dictionary)
        #expect(verdict["app"]?.string == "call")
        #expect(verdict["opponent"]?.string == "photos")
        #expect(verdict["changedBy"]?.strings?.isEmpty == false)

        let standing = try shell.broker("ExplainApp", .string("call"))
        let now = try #require(standing.last?.elements?.first?.dictionary)
        #expect(now["opponent"]?.string == "photos" && now["hasWon"]?.boolean == false)
        #expect((now["since"]?.int64 ?? 0) > 0)

        let planned = try #require(shell.broker("Plan", .string("stop photos")).first?.string)
        #expect(planned.contains("call interruptionEnded"))
        #expect(planned.contains("call didStartRunning"))
        #expect(photos.names == ["DidStartRunning"])
    }

    @Test func subscribersGetDecisionsAsScenarioLinesUntilTheyHaveEnough() throws {
        let process = try BrokerProcess()
        let watcher = try process.client()
        try watcher.broker("Watch", .boolean(true))
        let session = try process.client("photos").session()
        try session.run()
        try process.wait("a decision") {
            watcher.signals.contains { $0.member == "Decided" && $0.text.contains("photos didStartRunning") }
        }
        #expect(watcher.signals.contains { $0.member == "Decided" && $0.text.contains("start photos") })
        try watcher.broker("Watch", .boolean(false))
        let count = watcher.signals.filter { $0.member == "Decided" }.count
        try session.call("StopRunning")
        _ = try watcher.status()
        #expect(watcher.signals.filter { $0.member == "Decided" }.count == count)
    }

    @Test func aMicrophoneThatSeveralToldOfIsTakenUntilEachHasReleasedItOrIsGone() throws {
        let process = try BrokerProcess(policy: "ios9")
        let shell = try process.client(as: "shell")
        try shell.place("photos", "fullscreen", true)
        let session = try process.client("photos").session("front", ["usesAudio": .boolean(true)])
        try session.run()
        let agents = try ["one", "two", "three"].map { try process.client($0) }
        for agent in agents { try agent.shell("TakeMicrophone", .string("phone")) }
        try session.wait("WasInterrupted")
        agents[0].close()
        try agents[1].shell("ReleaseMicrophone", .string("phone"))
        try process.wait("the first one's end") {
            try !agents[2].apps().contains { $0["app"] == .string("one") }
        }
        #expect(!session.names.contains("InterruptionEnded"))
        agents[2].close()
        try session.wait("InterruptionEnded")
        try session.wait("DidStartRunning", count: 2)
    }

    @Test func noNewsComesBeforeTheAnswerToTheFirstCall() throws {
        let process = try BrokerProcess()
        let newcomer = try process.client()
        try process.wait("the newcomer to be let in") { newcomer.connection?.isReady == true }
        let session = try process.client("photos").session()
        try session.run()
        #expect(newcomer.signals.isEmpty)
        _ = try newcomer.call("/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello")
        try session.call("StopRunning")
        try process.wait("news") { newcomer.signals.contains { $0.member == "HolderChanged" } }
    }
}

extension TestClient.Signal {
    /// The lines of a `Decided`.
    fileprivate var text: String { arguments.dropFirst(2).first?.string ?? "" }
}
