import ArbiterProtocol
import CameraFile
import Testing
import TomlFile

/// The files of `cameras/`, against literals: not against themselves.
@Suite("The cameras that are shipped")
struct ShippedCamerasTests {
    @Test("Every file of the folder is a camera")
    func allRead() throws {
        let names = CameraPlaces.names
        #expect(names.count >= 10, "\(names)")
        for name in names {
            let model = try CameraFile.named(name)
            #expect(model.id == name)
            #expect(
                Set(model.formats.map(\.format.name)).count == model.formats.count,
                "\(name) has two formats of one name")
            #expect(model.capabilities.defaultFormat != nil)
        }
    }

    @Test("The iPhone 6s's front camera has seven pairs, and the one at 13 is as Apple printed it")
    func reference() throws {
        let front = try CameraFile.named("iphone6s-front")
        #expect(front.formats.count == 14)
        #expect(
            front.formats[13].format.referenceLine
                == "420f 1280x960, 2–60 fps, HRSI 2576x1932, fov 54.4, max zoom 60.00 (upscales @1.00), ISO 34–2176, SS 0.000013–0.5"
        )
        #expect(front.lights.flash && front.lights.flashGain == 3 && !front.lights.torch)
    }

    @Test("The iPhone 5's formats stand in Apple's order: 0 is 192x144, 12 and 13 are 720p60, 15 is 1080p")
    func order() throws {
        let formats = try CameraFile.named("iphone5-back").formats.map(\.format)
        #expect(formats[0].width == 192 && formats[0].videoZoomFactorUpscaleThreshold == 8.5 && formats[0].isBinned)
        #expect(formats[12].name == "420v 1280x720@60 binned" && formats[13].name == "420f 1280x720@60 binned")
        #expect(formats[12].videoZoomFactorUpscaleThreshold == 1.05)
        #expect(formats[15].name == "420f 1920x1080@30" && formats[15].videoMaxZoomFactor == 108)
        #expect(formats[15].videoZoomFactorUpscaleThreshold == 1.4545)
    }
}
