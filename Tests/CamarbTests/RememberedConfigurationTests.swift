import ArbiterProtocol
import Camarb
import Testing

/// What a session asked for, and what its next broker is told of it.
struct RememberedConfiguration: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// With the session, and then batch by batch.
    let asked: [Configuration]
    var camera = "back"
    let told: Configuration

    static let cases = [
        RememberedConfiguration(
            testDescription: "a preset takes the place of a format and its rate, and keeps what is no format's",
            asked: [
                Configuration([
                    .activeFormat: .text("420v 640x480@30"), .frameRate: .number(15), .videoMirrored: .flag(true),
                ]),
                Configuration([.sessionPreset: .text("high")]),
            ],
            told: Configuration([.sessionPreset: .text("high"), .videoMirrored: .flag(true)])),
        RememberedConfiguration(
            testDescription: "a format takes the place of a preset and its frame durations, and of nothing else",
            asked: [
                Configuration([
                    .sessionPreset: .text("high"), .activeVideoMaxFrameDuration: .number(0.1),
                    .videoHDREnabled: .flag(true),
                ]),
                Configuration([.activeFormat: .text("420v 640x480@30")]),
            ],
            told: Configuration([.activeFormat: .text("420v 640x480@30"), .videoHDREnabled: .flag(true)])),
        RememberedConfiguration(
            testDescription: "a rate takes the place of both frame durations",
            asked: [
                Configuration([
                    .activeVideoMinFrameDuration: .number(0.05), .activeVideoMaxFrameDuration: .number(0.1),
                ]),
                Configuration([.frameRate: .number(25)]),
            ],
            told: Configuration([.frameRate: .number(25)])),
        RememberedConfiguration(
            testDescription: "a frame duration leaves the other one as the rate had it",
            asked: [
                Configuration([.frameRate: .number(20)]), Configuration([.activeVideoMaxFrameDuration: .number(0.25)]),
            ],
            told: Configuration([
                .activeVideoMinFrameDuration: .number(0.05), .activeVideoMaxFrameDuration: .number(0.25),
            ])),
        RememberedConfiguration(
            testDescription: "a ramp, and its end, are no state",
            asked: [
                Configuration([.videoZoomFactor: .number(3), .videoZoomRampRate: .number(2)]),
                Configuration([.cancelVideoZoomRamp: .flag(true)]),
            ],
            told: Configuration([.videoZoomFactor: .number(3)])),
        RememberedConfiguration(
            testDescription: "points and gains are remembered as they were asked for",
            asked: [
                Configuration([.focusPointOfInterest: .point(x: 0.25, y: 0.75)]),
                Configuration([.whiteBalanceGains: .gains(red: 1, green: 1.5, blue: 2)]),
            ],
            told: Configuration([
                .focusPointOfInterest: .point(x: 0.25, y: 0.75),
                .whiteBalanceGains: .gains(red: 1, green: 1.5, blue: 2),
            ])),
        RememberedConfiguration(
            testDescription: "a switch of cameras keeps what is the session's own, and nothing of the other camera's",
            asked: [
                Configuration([
                    .sessionPreset: .text("medium"), .usesAudio: .flag(true), .videoZoomFactor: .number(2),
                    .flashMode: .text("on"),
                ]),
                Configuration([.camera: .text("front"), .videoMirrored: .flag(true)]),
            ], camera: "front",
            told: Configuration([
                .sessionPreset: .text("medium"), .usesAudio: .flag(true), .videoMirrored: .flag(true),
            ])),
        RememberedConfiguration(
            testDescription: "a camera that the session comes back to has what was asked of it, and its torch is off",
            asked: [
                Configuration([
                    .activeFormat: .text("420v 640x480@30"), .videoZoomFactor: .number(2), .torchMode: .text("on"),
                    .usesAudio: .flag(true),
                ]),
                Configuration([.camera: .text("front"), .videoZoomFactor: .number(3), .usesAudio: .flag(false)]),
                Configuration([.camera: .text("back"), .flashMode: .text("on")]),
            ],
            told: Configuration([
                .activeFormat: .text("420v 640x480@30"), .videoZoomFactor: .number(2), .flashMode: .text("on"),
                .usesAudio: .flag(false),
            ])),
        RememberedConfiguration(
            testDescription: "a batch that names the camera that the session has is no switch",
            asked: [
                Configuration([.videoZoomFactor: .number(2)]),
                Configuration([.camera: .text("back"), .flashMode: .text("on")]),
            ],
            told: Configuration([.videoZoomFactor: .number(2), .flashMode: .text("on")])),
    ]
}

@Suite("What a client remembers of a session's configuration", .timeLimit(.minutes(10)))
struct RememberedConfigurationTests {
    private static func broker() -> MemoryTransport {
        MemoryTransport { _, call throws(BrokerError) in try MemoryTransport.standardAnswer(call) }
    }

    @Test("The next broker is told what the batches came to", arguments: RememberedConfiguration.cases)
    func isTold(_ remembered: RememberedConfiguration) async throws {
        let (first, second) = (Self.broker(), Self.broker())
        let client = CameraClient(over: try Brokers([first, second]).transport())
        let session = try await client.makeSession(camera: "back", configuration: remembered.asked[0])
        for batch in remembered.asked.dropFirst() { try await session.configure(batch) }
        first.end(BrokerError(.disconnected, "The broker ended."))
        let creation = try #require(await second.waitForCall("CreateSession"))
        #expect(creation.arguments[0] == .string(remembered.camera))
        #expect(creation.arguments[1].dictionary == remembered.told.wire)
        try await session.close()
    }

    @Test("Batches that are committed together come to the same as one after the other")
    func committed() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        let client = CameraClient(over: try Brokers([first, second]).transport())
        let session = try await client.makeSession(
            camera: "back", configuration: Configuration([.frameRate: .number(20)]))
        try await session.beginConfiguration()
        try await session.configure(Configuration([.sessionPreset: .text("low")]))
        try await session.configure(
            Configuration([.activeFormat: .text("420v 640x480@30"), .frameRate: .number(10)]))
        try await session.commitConfiguration()
        first.end(BrokerError(.disconnected, "The broker ended."))
        let creation = try #require(await second.waitForCall("CreateSession"))
        let told = Configuration([.activeFormat: .text("420v 640x480@30"), .frameRate: .number(10)])
        #expect(creation.arguments[1].dictionary == told.wire)
        try await session.close()
    }

    @Test("A session that keeps a preset's format without the preset has it at the next broker, too")
    func formatOfAPreset() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        let client = CameraClient(over: try Brokers([first, second]).transport())
        let session = try await client.makeSession(
            camera: "back", configuration: Configuration([.sessionPreset: .text("high")]))
        let asked = Configuration([.sessionPreset: .text("inputPriority")])
        try await session.configure(asked)
        var events = session.events.makeAsyncIterator()
        let inForce = Configuration([
            .sessionPreset: .text("inputPriority"), .activeFormat: .text("420v 1920x1080@60"), .frameRate: .number(30),
        ])
        first.send(.configurationApplied(asked: asked, inForce: inForce, by: .client), sequence: 1)
        _ = await events.next()
        first.end(BrokerError(.disconnected, "The broker ended."))
        let creation = try #require(await second.waitForCall("CreateSession"))
        #expect(creation.arguments[1].dictionary == inForce.wire)
        try await session.close()
    }

    @Test("A zoom that another format does not reach is over, and one of somebody else's is not this session's")
    func zoomIsOver() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        let client = CameraClient(over: try Brokers([first, second]).transport())
        let session = try await client.makeSession(
            camera: "back", configuration: Configuration([.videoZoomFactor: .number(100)]))
        try await session.configure(Configuration([.activeFormat: .text("420v 640x480@60")]))
        var events = session.events.makeAsyncIterator()
        let news = Configuration([.activeFormat: .text("420v 640x480@60"), .videoZoomFactor: .number(1)])
        first.send(.configurationApplied(asked: news, inForce: news, by: .client), sequence: 1)
        let others = Configuration([.videoZoomFactor: .number(7)])
        first.send(.configurationApplied(asked: others, inForce: others, by: .sharer), sequence: 2)
        for _ in 1...2 { _ = await events.next() }
        first.end(BrokerError(.disconnected, "The broker ended."))
        let creation = try #require(await second.waitForCall("CreateSession"))
        #expect(creation.arguments[1].dictionary == news.wire)
        try await session.close()
    }

    @Test("A preset that the other camera lacks is not asked of it again")
    func presetIsGone() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        let client = CameraClient(over: try Brokers([first, second]).transport())
        let session = try await client.makeSession(
            camera: "back", configuration: Configuration([.sessionPreset: .text("3840x2160")]))
        try await session.configure(Configuration([.camera: .text("front")]))
        var events = session.events.makeAsyncIterator()
        first.send(
            .configurationApplied(
                asked: Configuration([.camera: .text("front")]),
                inForce: Configuration([.camera: .text("front"), .sessionPreset: .text("inputPriority")]), by: .client),
            sequence: 1)
        _ = await events.next()
        first.end(BrokerError(.disconnected, "The broker ended."))
        let creation = try #require(await second.waitForCall("CreateSession"))
        #expect(creation.arguments == [.string("front"), .dictionary([:])])
        try await session.close()
    }

    @Test("A check is asked of the broker, and remembered by nobody")
    func checked() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        let client = CameraClient(over: try Brokers([first, second]).transport())
        let session = try await client.makeSession(
            camera: "back", configuration: Configuration([.frameRate: .number(20)]))
        let batch = Configuration([.focusPointOfInterest: .point(x: 0.5, y: 0.25), .flashMode: .text("on")])
        try await session.checkConfiguration(batch)
        #expect(first.callsSoFar.last?.member == "CheckConfiguration")
        #expect(first.callsSoFar.last?.arguments == [.dictionary(batch.wire)])
        first.end(BrokerError(.disconnected, "The broker ended."))
        let creation = try #require(await second.waitForCall("CreateSession"))
        #expect(creation.arguments[1].dictionary == Configuration([.frameRate: .number(20)]).wire)
        try await session.close()
    }

    @Test("What only a camera says is read where it says it")
    func said() async throws {
        let broker = Self.broker()
        let client = CameraClient(over: broker)
        let session = try await client.makeSession(camera: "back")
        var events = session.events.makeAsyncIterator()
        let inForce = Configuration([
            .preferredVideoStabilizationMode: .text("auto"), .activeVideoStabilizationMode: .text("cinematic"),
            .exposurePointOfInterest: .point(x: 0.25, y: 0.5), .whiteBalanceGains: .gains(red: 1, green: 1, blue: 2),
        ])
        broker.send(.configurationApplied(asked: Configuration(), inForce: inForce, by: .client), sequence: 1)
        guard case .configurationApplied(let change)? = await events.next() else {
            Issue.record("the configuration was not told")
            return
        }
        #expect(change.inForce == inForce)
        try await session.close()
    }

    @Test("The outputs to open again after a switch are told, and those that only a newer broker knows are passed over")
    func connectionsFormed() async throws {
        let broker = Self.broker()
        let client = CameraClient(over: broker)
        let session = try await client.makeSession(camera: "back")
        var events = session.events.makeAsyncIterator()
        broker.send(
            .connectionsFormed(camera: CameraID("front"), reopen: [.preview]), sequence: 1)
        #expect(await events.next() == .connectionsFormed(camera: CameraID("front"), reopen: [.preview]))
        let formed = WireSignal(
            path: "/org/camarb/session/7", interface: Interface.session.name, member: "ConnectionsFormed",
            arguments: [.uint64(2), .uint64(1), .string("back"), .strings(["preview", "hologram"])])
        broker.send(formed)
        #expect(await events.next() == .connectionsFormed(camera: CameraID("back"), reopen: [.preview]))
        try await session.close()
    }
}
