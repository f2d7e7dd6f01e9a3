import ArbiterProtocol
import Bus
import Testing

@Suite struct HandoverTests {
    @Test func aHandoverKeepsTheOrderOfTheContractUnderOneDecision() throws {
        let process = try BrokerProcess()
        let shell = try process.client(as: "shell")
        let photos = try process.client("photos").session()
        let call = try process.client("call").session()
        try shell.place("call", "fullscreen", false)
        try shell.place("photos", "fullscreen", true)
        try photos.run()
        try photos.record()
        try call.call("StartRunning")
        try call.wait("WasInterrupted")
        try shell.place("photos", "fullscreen", false)
        try shell.place("call", "fullscreen", true)
        try call.wait("DidStartRunning")
        try photos.wait("RecordingFinished")
        #expect(
            Array(photos.names.prefix(4)) == [
                "DidStartRunning", "RecordingStarted", "WasInterrupted", "DidStopRunning",
            ])
        let cut = try #require(photos.events.first { $0.event.wireName == "WasInterrupted" })
        #expect(call.events.first { $0.event.wireName == "InterruptionEnded" }?.decision == cut.decision)
    }

    @Test func subscribersGetDecisionsAsScenarioLinesUntilTheyHaveEnough() throws {
        let process = try BrokerProcess()
        let watcher = try process.client()
        try watcher.broker("Watch", .boolean(true))
        func decided(_ words: String) -> Int {
            watcher.signals.count {
                $0.member == "Decided" && $0.arguments.dropFirst(2).first?.string?.contains(words) == true
            }
        }
        let session = try process.client("photos").session()
        try session.run()
        try process.wait("a decision") { decided("photos didStartRunning") > 0 && decided("start photos") > 0 }
        try watcher.broker("Watch", .boolean(false))
        let count = decided(" ")
        try session.call("StopRunning")
        _ = try watcher.status()
        #expect(decided(" ") == count)
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
