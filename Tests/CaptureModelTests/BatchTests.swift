import ArbiterProtocol
import CameraFile
import CaptureModel
import Testing

@Suite("A batch on an iPhone 5's camera")
struct BatchTests {
    let check: ConfigurationCheck

    init() throws { check = ConfigurationCheck(capabilities: try CameraFile.named("iphone5-back").capabilities) }

    private func settings(_ batches: Configuration...) throws -> CaptureSettings {
        var wanted = Configuration()
        for batch in batches {
            #expect(check.problem(batch, over: wanted) == nil)
            wanted = check.merged(batch, into: wanted)
        }
        return try #require(check.settings(wanted))
    }

    @Test("is refused with the key, the value and the range")
    func refusal() {
        let batch = Configuration([
            .activeFormat: .text("420v 1920x1080@30"), .frameRate: .number(24), .videoZoomFactor: .number(109),
        ])
        #expect(
            check.problem(batch, over: Configuration())
                == "videoZoomFactor 109 is outside 1–108, the range of 420v 1920x1080@30.")
    }

    @Test("has no frame rate outside the format's range", arguments: [0.9, 30.1, .infinity] as [Double])
    func rates(rate: Double) throws {
        let problem = try #require(check.problem(Configuration([.frameRate: .number(rate)]), over: Configuration()))
        #expect(problem.hasPrefix("frameRate"))
    }

    @Test("that names an unknown format hears some of the known ones, and what lists them all")
    func formats() throws {
        let problem = try #require(
            check.problem(Configuration([.activeFormat: .text("420v 1x1@1")]), over: Configuration()))
        #expect(problem.hasPrefix("activeFormat “420v 1x1@1” is not a format of "))
        #expect(problem.contains("“420v 192x144@30") && problem.hasSuffix(" more; `camclient formats` lists them."))
    }

    @Test("cannot change the format of a recording")
    func recording() {
        for batch in [
            Configuration([.activeFormat: .text("420v 1920x1080")]), Configuration([.sessionPreset: .text("photo")]),
        ] {
            #expect(check.problem(batch, over: Configuration()) == nil)
            let problem = check.problem(batch, over: Configuration(), isRecording: true)
            #expect(problem?.contains("stop the recording first") == true)
        }
    }

    @Test("ramps only to a zoom")
    func ramps() {
        let rate = Configuration([.videoZoomRampRate: .number(1)])
        #expect(check.problem(rate, over: Configuration()) != nil)
        var both = rate
        both[.videoZoomFactor] = .number(2)
        #expect(check.problem(both, over: Configuration()) == nil)
    }

    @Test("with a new format begins at that one's highest rate, and keeps the zoom that it reaches")
    func newFormat() throws {
        let zoomed = Configuration([.videoZoomFactor: .number(50), .frameRate: .number(15)])
        let small = try settings(zoomed, Configuration([.activeFormat: .text("420v 192x144")]))
        #expect(small.format.width == 192 && small.frameRate == 30 && small.videoZoomFactor == 1)
        let photo = try settings(zoomed, Configuration([.activeFormat: .text("420f 3264x2448@20")]))
        #expect(photo.frameRate == 20 && photo.videoZoomFactor == 50)
    }
}
