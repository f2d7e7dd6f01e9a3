import ArbiterProtocol
import PolicyFile
import Testing

/// Opening a camera again for a session that set it batch by batch: after an interruption, a switch, or its broker's
/// end.
@Suite("What a session asked of an iPhone 6s's camera, restored at once")
struct RestoringTests {
    let check: ConfigurationCheck

    init() throws { check = ConfigurationCheck(capabilities: try CameraFile.named("iphone6s-back").capabilities) }

    private static let slow = ConfigurationValue.text("420v 1280x720@30")
    private static let fast = ConfigurationValue.text("420v 1280x720@240 binned")

    /// Batches that are each taken, and together could not be asked for.
    static let stories: [[[ConfigurationKey: ConfigurationValue]]] = [
        [[.activeFormat: slow, .preferredVideoStabilizationMode: .text("cinematic")], [.activeFormat: fast]],
        [
            [.sessionPreset: .text("high"), .automaticallyAdjustsVideoHDREnabled: .flag(false)],
            [.videoHDREnabled: .flag(true)], [.sessionPreset: .text("photo")],
        ],
        [
            [.exposureMode: .text("custom"), .exposureDuration: .number(0.3), .frameRate: .number(3)],
            [.activeFormat: fast],
        ],
        [
            [.exposureMode: .text("custom"), .exposureDuration: .number(0.02), .iso: .number(100)],
            [.exposureMode: .text("continuousAuto")],
        ],
        [[.videoZoomFactor: .number(140)], [.activeFormat: fast]],
        [
            [.sessionPreset: .text("1280x720"), .frameRate: .number(10)], [.sessionPreset: .text("inputPriority")],
            [.torchMode: .text("on")],
        ],
    ]

    @Test("is what the camera takes, with the format that counts", arguments: stories)
    func restored(_ story: [[ConfigurationKey: ConfigurationValue]]) throws {
        var wanted = Configuration()
        // The client library's memory, which does not know the camera.
        var kept = Configuration()
        for batch in story.map({ Configuration($0) }) {
            #expect(check.problem(batch, over: wanted) == nil)
            wanted = check.merged(batch, into: wanted)
            kept.take(batch)
        }
        for asked in [wanted, kept] {
            #expect(check.problem(takenBefore: asked) == nil)
            let nearest = try #require(check.nearest(asked))
            #expect(check.problem(nearest, over: Configuration()) == nil)
            #expect(check.settings(nearest)?.format == check.settings(asked)?.format)
        }
    }

    @Test("is refused where it says one thing in two ways, or the camera has no format for it")
    func refused() {
        for batch in [
            Configuration([.frameRate: .number(10), .activeVideoMinFrameDuration: .number(0.1)]),
            Configuration([.flashMode: .text("on"), .torchMode: .text("on")]),
            Configuration([.activeFormat: .text("420v 1x1@1")]),
        ] {
            #expect(check.problem(takenBefore: batch) == check.problem(batch, over: Configuration()))
            #expect(check.problem(takenBefore: batch) != nil)
        }
    }
}
