import ArbiterProtocol
import Camarb
import Testing

typealias Settings = [ConfigurationKey: ConfigurationValue]

/// A session's configuration, and the part of it that its next broker receives. How batches on one camera add up is
/// held to the table
/// of docs/capture.md (`RandomBatchTests`).
struct RememberedConfiguration: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// With the session, and then batch by batch.
    let asked: [Settings]
    /// The broker's last notice: the wanted configuration, and the one in force; `nil`: none.
    let said: (asked: Settings, inForce: Settings)?
    let camera: String
    let told: Settings

    init(
        _ description: String, _ asked: Settings..., said: (asked: Settings, inForce: Settings)? = nil,
        camera: String = "back", told: Settings
    ) {
        testDescription = description
        (self.asked, self.said, self.camera, self.told) = (asked, said, camera, told)
    }

    static let cases: [RememberedConfiguration] = [
        RememberedConfiguration(
            "a ramp, and its end, are no state", [.videoZoomFactor: .number(3), .videoZoomRampRate: .number(2)],
            [.cancelVideoZoomRamp: .flag(true)], told: [.videoZoomFactor: .number(3)]),
        RememberedConfiguration(
            "points and gains are remembered as they were asked for",
            [.focusPointOfInterest: .point(x: 0.25, y: 0.75)],
            [.whiteBalanceGains: .gains(red: 1, green: 1.5, blue: 2)],
            told: [
                .focusPointOfInterest: .point(x: 0.25, y: 0.75),
                .whiteBalanceGains: .gains(red: 1, green: 1.5, blue: 2),
            ]),
        RememberedConfiguration(
            "a switch of cameras keeps what is the session's own, and nothing of the other camera's",
            [
                .sessionPreset: .text("medium"), .usesAudio: .flag(true), .videoZoomFactor: .number(2),
                .flashMode: .text("on"),
            ],
            [.camera: .text("front"), .videoMirrored: .flag(true)], camera: "front",
            told: [.sessionPreset: .text("medium"), .usesAudio: .flag(true), .videoMirrored: .flag(true)]),
        RememberedConfiguration(
            "a camera that the session comes back to has what was asked of it, and its torch is off",
            [
                .activeFormat: .text("420v 640x480@30"), .videoZoomFactor: .number(2), .torchMode: .text("on"),
                .usesAudio: .flag(true),
            ],
            [.camera: .text("front"), .videoZoomFactor: .number(3), .usesAudio: .flag(false)],
            [.camera: .text("back"), .flashMode: .text("on")],
            told: [
                .activeFormat: .text("420v 640x480@30"), .videoZoomFactor: .number(2), .flashMode: .text("on"),
                .usesAudio: .flag(false),
            ]),
        RememberedConfiguration(
            "a batch that names the camera that the session has is no switch", [.videoZoomFactor: .number(2)],
            [.camera: .text("back"), .flashMode: .text("on")],
            told: [.videoZoomFactor: .number(2), .flashMode: .text("on")]),
        RememberedConfiguration(
            "a session that keeps a preset's format without the preset has it at the next broker, too",
            [.sessionPreset: .text("high")], [.sessionPreset: .text("inputPriority")],
            said: ([.sessionPreset: .text("inputPriority")], formatOfAPreset), told: formatOfAPreset),
        RememberedConfiguration(
            "a zoom that another format does not reach is over, and one of somebody else's is not this session's",
            [.videoZoomFactor: .number(100)], [.activeFormat: .text("420v 640x480@60")],
            said: (zoomedOut, zoomedOut), told: zoomedOut),
        RememberedConfiguration(
            "a preset that the other camera lacks is not asked of it again", [.sessionPreset: .text("3840x2160")],
            [.camera: .text("front")],
            said: ([.camera: .text("front")], [.camera: .text("front"), .sessionPreset: .text("inputPriority")]),
            camera: "front", told: [:]),
    ]

    private static let zoomedOut: Settings = [.activeFormat: .text("420v 640x480@60"), .videoZoomFactor: .number(1)]
    private static let formatOfAPreset: Settings = [
        .sessionPreset: .text("inputPriority"), .activeFormat: .text("420v 1920x1080@60"), .frameRate: .number(30),
    ]
}

@Suite("What a client remembers of a session's configuration", .timeLimit(.minutes(10)))
struct RememberedConfigurationTests {
    /// The calls to the second broker about a session that was made with `asked`, and then did `body`.
    private static func told(
        _ asked: Settings, _ body: (borrowing OpenSession, FalseBroker) async throws -> Void
    ) async throws -> (camera: WireValue, settings: Configuration) {
        let (first, second) = (FalseBroker(), FalseBroker())
        let session = try await OpenSession(at: [first, second], camera: "back", asked)
        try await body(session, first)
        first.end()
        let creation = try #require(await second.waitForCall("CreateSession"))
        try await session.close()
        return (creation.arguments[0], try Configuration(wire: #require(creation.arguments[1].dictionary)))
    }

    @Test("The next broker is told what the batches came to", arguments: RememberedConfiguration.cases)
    func isTold(_ remembered: RememberedConfiguration) async throws {
        let told = try await Self.told(remembered.asked[0]) { session, broker in
            for batch in remembered.asked.dropFirst() { try await session.handle.configure(Configuration(batch)) }
            guard let said = remembered.said else { return }
            let (asked, inForce) = (Configuration(said.asked), Configuration(said.inForce))
            let others = Configuration([.videoZoomFactor: .number(7)])
            broker.tell(
                .configurationApplied(ConfigurationChange(asked: asked, inForce: inForce, by: .client)),
                .configurationApplied(ConfigurationChange(asked: others, inForce: others, by: .sharer)))
            var events = session.handle.events.makeAsyncIterator()
            for _ in 1...2 { _ = await events.next() }
        }
        #expect(told.camera == .string(remembered.camera))
        #expect(told.settings == Configuration(remembered.told))
    }

    @Test("Batches that are committed together come to the same as one after the other")
    func committed() async throws {
        let told = try await Self.told([.frameRate: .number(20)]) { session, _ in
            try await session.handle.beginConfiguration()
            try await session.handle.configure(Configuration([.sessionPreset: .text("low")]))
            try await session.handle.configure(
                Configuration([.activeFormat: .text("420v 640x480@30"), .frameRate: .number(10)]))
            try await session.handle.commitConfiguration()
        }
        let last = Configuration([.activeFormat: .text("420v 640x480@30"), .frameRate: .number(10)])
        #expect(told.settings == last)
    }

    @Test("A check is asked of the broker, and remembered by nobody")
    func checked() async throws {
        let told = try await Self.told([.frameRate: .number(20)]) { session, broker in
            let batch = Configuration([.focusPointOfInterest: .point(x: 0.5, y: 0.25), .flashMode: .text("on")])
            try await session.handle.checkConfiguration(batch)
            #expect(broker.callsSoFar.last?.member == "CheckConfiguration")
            #expect(broker.callsSoFar.last?.arguments == [.dictionary(batch.wire)])
        }
        #expect(told.settings == Configuration([.frameRate: .number(20)]))
    }

    @Test("Outputs to open again that only a newer broker knows are passed over")
    func connectionsFormed() async throws {
        let broker = FalseBroker()
        var session = try await OpenSession(at: [broker])
        let formed = WireSignal(
            path: "/org/camarb/session/7", interface: Interface.session.name, member: "ConnectionsFormed",
            arguments: [.uint64(1), .uint64(1), .string("back"), .strings(["preview", "hologram"])])
        broker.send(formed)
        #expect(await session.events.next() == .connectionsFormed(camera: CameraID("back"), reopen: [.preview]))
    }
}
