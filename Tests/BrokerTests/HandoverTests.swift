import ArbiterProtocol
import Bus
import Glibc
import Testing

@Suite struct HandoverTests {
    /// `presence` makes the winner the focused app, as desktop.toml wants it.
    private func focus(_ shell: TestClient, _ winner: String, over loser: String) throws {
        try shell.shell("PlaceApp", .string(loser), .string("fullscreen"), .boolean(false))
        try shell.shell("PlaceApp", .string(winner), .string("fullscreen"), .boolean(true))
    }

    private func shell(_ process: BrokerProcess) throws -> TestClient {
        let shell = try process.client()
        try shell.shell("Attach", .string("shell"))
        return shell
    }

    @Test func aHandoverKeepsTheOrderOfTheContractUnderOneDecision() throws {
        let process = try BrokerProcess()
        let shell = try shell(process)
        let photos = try process.client("photos").session()
        let call = try process.client("call").session()
        try focus(shell, "photos", over: "call")
        try photos.run()
        let file = try process.file("a")
        try photos.call("StartRecording", .fileDescriptor(file), .dictionary([:]))
        close(file)
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
        let cut = try #require(
            photos.events.first { if case .wasInterrupted = $0.event { true } else { false } })
        guard case .wasInterrupted(_, let causes, let interrupter, let recording, let rule) = cut.event else { return }
        #expect(causes.reason == .videoDeviceInUseByAnotherClient)
        #expect(interrupter == .app("call"))
        #expect(recording == 1)
        #expect(!rule.isEmpty)
        let ended = try #require(call.events.first { if case .interruptionEnded = $0.event { true } else { false } })
        #expect(ended.decision == cut.decision)

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
        let shell = try shell(process)
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
        let decisions = watcher.signals.filter { $0.member == "Decided" }
        #expect(decisions.contains { $0.text.contains("start photos") })
        // The same as data, a part for each line that says something.
        for decision in decisions {
            let parts = decision.arguments.last?.elements?.compactMap(\.dictionary) ?? []
            #expect(parts.count == decision.text.split(separator: "\n").count, "\(decision.text)")
            #expect(parts.first?["event"]?.string != nil)
        }
        let parts = decisions.flatMap { $0.arguments.last?.elements?.compactMap(\.dictionary) ?? [] }
        #expect(parts.contains { $0["event"]?.string == "startRunning" && $0["name"]?.string == "photos" })
        #expect(
            parts.contains {
                $0["notice"]?.string == "DidStartRunning" && $0["grant"]?.uint64 != nil
                    && $0["name"]?.string == "photos"
            })
        try watcher.broker("Watch", .boolean(false))
        let count = watcher.signals.filter { $0.member == "Decided" }.count
        try session.call("StopRunning")
        _ = try watcher.status()
        #expect(watcher.signals.filter { $0.member == "Decided" }.count == count)
    }

    @Test func aClientThatGoesAtAnyPointFreesTheCamera() throws {
        let process = try BrokerProcess()
        for point in 0..<5 {
            let client = try process.client("photos")
            let heir = try process.client("heir")
            let session = try client.session()
            let waiting = try heir.session()
            if point >= 1 { try session.call("StartRunning") }
            if point >= 2 { try session.wait("DidStartRunning") }
            if point >= 3 {
                let file = try process.file("a")
                try session.call("StartRecording", .fileDescriptor(file), .dictionary([:]))
                close(file)
            }
            if point >= 4 { try session.call("BeginConfiguration") }
            try waiting.call("StartRunning")
            client.close()
            try waiting.wait("DidStartRunning")
            heir.close()
        }
    }

    @Test func aHolderIsShownToAllAndACameraThatIsFreeIsToo() throws {
        let process = try BrokerProcess()
        let onlooker = try process.client()
        _ = try onlooker.status()
        let session = try process.client("photos").session()
        try session.run()
        func holders() -> [String] {
            onlooker.signals.filter { $0.member == "HolderChanged" }.compactMap { $0.arguments.last?.string }
        }
        try process.wait("the holder") { holders() == ["photos"] }
        #expect(
            try onlooker.property("/org/camarb/camera/front", InterfaceName.camera, "Holder") == .string("photos"))
        try session.call("Close")
        try process.wait("no holder") { holders() == ["photos", ""] }
    }

    @Test func aRecorderThatIsKilledIsReplacedAndItsRecordingEndsForGood() throws {
        let process = try BrokerProcess()
        let session = try process.client("photos").session()
        try session.run()
        let file = try process.file("a")
        try session.call("StartRecording", .fileDescriptor(file), .dictionary([:]))
        close(file)
        let recorder = try #require(process.recorders.first)
        #expect(kill(recorder, SIGKILL) == 0)
        try session.wait("DidStartRunning", count: 2)
        try session.wait("RecordingFinished")
        // The next grant does not wait for the file to be completed.
        #expect(
            session.names.filter { $0 != "RecordingFinished" } == [
                "DidStartRunning", "RecordingStarted", "WasInterrupted", "DidStopRunning", "InterruptionEnded",
                "DidStartRunning",
            ])
        let ends = session.events.compactMap { signal -> RecordingEnd? in
            if case .recordingFinished(let finished) = signal.event { finished.why } else { nil }
        }
        #expect(ends == [.recorderReset])
    }

    @Test func aCameraIsUnpluggedAndComesBackAsTheNextGeneration() throws {
        let process = try BrokerProcess()
        let shell = try shell(process)
        let session = try process.client("photos").session()
        try focus(shell, "photos", over: "nobody")
        try session.run()
        let path = "/org/camarb/camera/front"
        #expect(try shell.property(path, InterfaceName.camera, "Generation") == .uint64(1))
        try shell.shell("Plug", .string("front"), .boolean(false))
        try session.wait("WasInterrupted")
        #expect(try shell.property(path, InterfaceName.camera, "Present") == .boolean(false))
        try shell.shell("Plug", .string("front"), .boolean(true))
        try session.wait("DidStartRunning", count: 2)
        #expect(try shell.property(path, InterfaceName.camera, "Generation") == .uint64(2))
    }

    @Test func aMicrophoneIsGivenBackWhenWhoTookItGoes() throws {
        let process = try BrokerProcess(policy: "ios9")
        let shell = try shell(process)
        try shell.shell("PlaceApp", .string("photos"), .string("fullscreen"), .boolean(true))
        let session = try process.client("photos").session("front", ["usesAudio": .boolean(true)])
        try session.run()
        let phone = try process.client()
        try phone.shell("TakeMicrophone", .string("phone"))
        try session.wait("WasInterrupted")
        phone.close()
        try session.wait("InterruptionEnded")
        try session.wait("DidStartRunning", count: 2)
    }

    @Test func aMicrophoneThatTwoToldOfIsTakenUntilBothSayOtherwise() throws {
        let process = try BrokerProcess(policy: "ios9")
        let shell = try shell(process)
        try shell.shell("PlaceApp", .string("photos"), .string("fullscreen"), .boolean(true))
        let session = try process.client("photos").session("front", ["usesAudio": .boolean(true)])
        try session.run()
        let agents = try ["one", "two", "three"].map { try process.client($0) }
        for agent in agents { try agent.shell("TakeMicrophone", .string("phone")) }
        try session.wait("WasInterrupted")
        agents[0].close()
        try agents[1].shell("ReleaseMicrophone", .string("phone"))
        try process.wait("the first one's end") {
            guard case .array(_, let listed)? = try agents[2].shell("ListClients").first else { return false }
            return !listed.contains { $0.dictionary?["app"] == .string("one") }
        }
        #expect(!session.names.contains("InterruptionEnded"))
        try agents[2].shell("ReleaseMicrophone", .string("phone"))
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
