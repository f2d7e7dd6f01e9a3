import ArbiterProtocol
import CameraFile
import RecorderCore
import Testing

@Suite struct SettingsTests {
    let capabilities: CameraCapabilities
    let settings: Settings

    init() throws {
        capabilities = try CameraFile.named("iphone5-back").capabilities
        settings = Settings(defaultsOf: capabilities)
    }

    private func refusal(_ batch: Configuration, isRecording: Bool = false) -> BrokerError? {
        do throws(BrokerError) {
            _ = try settings.applying(batch, capabilities, isRecording: isRecording)
            return nil
        } catch {
            return error
        }
    }

    @Test func aBatchIsRefusedAsAWholeWithTheKeyTheValueAndTheRange() throws {
        let error = try #require(
            refusal(
                Configuration([
                    .activeFormat: .text("420v 1920x1080@30"), .frameRate: .number(24), .videoZoomFactor: .number(109),
                ])))
        #expect(error.kind == .unsupportedConfiguration)
        #expect(error.message == "videoZoomFactor is 109; 420v 1920x1080@30 takes 1 to 108. Nothing changed.")
    }

    @Test(arguments: [1.9, 30.1, .infinity] as [Double]) func aFrameRateOutsideTheFormatsRangeIsRefused(rate: Double)
        throws
    {
        let error = try #require(refusal(Configuration([.frameRate: .number(rate)])))
        #expect(error.message.contains("frameRate is") && error.message.contains("takes 2 to 30"))
    }

    @Test func anUnknownFormatIsRefusedWithTheKnownOnes() throws {
        let error = try #require(refusal(Configuration([.activeFormat: .text("420v 1x1@1")])))
        #expect(error.message.contains("“420v 1x1@1”") && error.message.contains("420v 192x144@30 binned"))
    }

    @Test func theFormatCannotChangeWhileRecording() {
        let batch = Configuration([.activeFormat: .text("1920x1080")])
        #expect(refusal(batch) == nil)
        #expect(refusal(batch, isRecording: true)?.message.contains("stop the recording first") == true)
    }

    @Test func aRampNeedsAZoomToGoTo() {
        #expect(refusal(Configuration([.videoZoomRampRate: .number(1)])) != nil)
        #expect(refusal(Configuration([.videoZoomRampRate: .number(1), .videoZoomFactor: .number(2)])) == nil)
    }

    @Test func aNewFormatKeepsWhatItCanAndElseBeginsAnew() throws {
        let zoomed = try settings.applying(
            Configuration([.videoZoomFactor: .number(50), .frameRate: .number(30)]), capabilities, isRecording: false
        ).settings
        let small = try zoomed.applying(
            Configuration([.activeFormat: .text("192x144")]), capabilities, isRecording: false
        ).settings
        #expect(small.format.width == 192 && small.frameRate == 30 && small.videoZoomFactor == 1)
        let photo = try zoomed.applying(
            Configuration([.activeFormat: .text("420f 3264x2448@20")]), capabilities, isRecording: false
        ).settings
        #expect(photo.frameRate == 20 && photo.videoZoomFactor == 50)
    }

    @Test func aRampGrowsByDoublingsASecondAndStopsAtItsEnd() {
        let up = ZoomRamp(from: 1, to: 8, rate: 2, began: 1_000_000_000)
        #expect(up.factor(at: 1_500_000_000) == (2, false))
        #expect(up.factor(at: 2_000_000_000) == (4, false))
        #expect(up.factor(at: 9_000_000_000) == (8, true))
        let down = ZoomRamp(from: 8, to: 1, rate: 1, began: 0)
        #expect(down.factor(at: 1_000_000_000) == (4, false))
        #expect(down.factor(at: 4_000_000_000) == (1, true))
    }

    @Test func theSimulatedCamerasHaveThePublishedFacts() throws {
        let formats = capabilities.formats
        let full = try #require(formats.first { $0.width == 1920 })
        #expect(full.videoMaxZoomFactor == 108 && full.videoZoomFactorUpscaleThreshold == 1.4545)
        let small = try #require(formats.first { $0.width == 192 })
        #expect(small.isBinned && small.videoZoomFactorUpscaleThreshold == 8.5)
        let front = try CameraFile.named("iphone6s-front")
        let line = try #require(front.capabilities.formats.first { $0.name == "420f 1280x960@60" })
        #expect(line.videoMaxZoomFactor == 60 && line.videoZoomFactorUpscaleThreshold == 1)
        #expect(line.minFrameRate == 2 && line.fieldOfView == 54.4)
        for model in try CameraPlaces.names.map(CameraFile.named) {
            let names = model.capabilities.formats.map(\.name)
            #expect(Set(names).count == names.count, "\(model.id) has two formats of one name")
        }
    }
}

private func == (a: (factor: Double, hasArrived: Bool), b: (Double, Bool)) -> Bool {
    abs(a.factor - b.0) < 1e-9 && a.hasArrived == b.1
}
