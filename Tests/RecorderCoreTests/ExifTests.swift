import ArbiterProtocol
import Glibc
import PolicyFile
import RecorderCore
import Testing

struct ExifTests {
    @Test("A segment of fixed seconds equals known bytes")
    func bytes() throws {
        // The 14th of November 2023; its hour depends on where the machine is.
        var seconds = time_t(1_700_000_000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 20)
        #expect(strftime(&text, text.count, "%Y:%m:%d %H:%M:%S", &parts) == 19)
        let date = text.map { UInt8(bitPattern: $0) }

        let segment = ExifSegment.make(make: "ab", model: "c", seconds: 1_700_000_000, try photo())
        var expected: [UInt8] = [0xff, 0xe1, 0, 0] + Array("Exif".utf8) + [0, 0]
        expected += [0x49, 0x49, 0x2a, 0, 8, 0, 0, 0]
        // IFD0: maker, model, which side is up, when, where the next directory is; then the values of more than four bytes.
        expected += [5, 0]
        expected += [0x0f, 0x01, 2, 0, 3, 0, 0, 0] + Array("ab".utf8) + [0, 0]
        expected += [0x10, 0x01, 2, 0, 2, 0, 0, 0] + Array("c".utf8) + [0, 0, 0]
        expected += [0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]
        expected += [0x32, 0x01, 2, 0, 20, 0, 0, 0, 74, 0, 0, 0]
        expected += [0x69, 0x87, 4, 0, 1, 0, 0, 0, 94, 0, 0, 0]
        expected += [0, 0, 0, 0] + date
        // Exif: its entries, the first three, and so on; then exposure, time, bias, comment and zoom.
        expected += [11, 0]
        expected += [0x9a, 0x82, 5, 0, 1, 0, 0, 0, 232, 0, 0, 0]
        expected += [0x27, 0x88, 3, 0, 1, 0, 0, 0, 100, 0, 0, 0]
        expected += [0x00, 0x90, 7, 0, 4, 0, 0, 0] + Array("0230".utf8)
        expected += [0x03, 0x90, 2, 0, 20, 0, 0, 0, 240, 0, 0, 0]
        expected += [0x04, 0x92, 10, 0, 1, 0, 0, 0, 4, 1, 0, 0]
        expected += [0x09, 0x92, 3, 0, 1, 0, 0, 0, 9, 0, 0, 0]
        let comment = Array("ASCII\0\0\0stillImageStabilizationUsed=false lensStabilizationUsed=false".utf8)
        expected += [0x86, 0x92, 7, 0, UInt8(comment.count), 0, 0, 0, 12, 1, 0, 0]
        expected += [0x02, 0xa0, 4, 0, 1, 0, 0, 0, 0x40, 1, 0, 0]
        expected += [0x03, 0xa0, 4, 0, 1, 0, 0, 0, 0xf0, 0, 0, 0]
        let zoomAt = 268 + comment.count + 1
        expected += [0x04, 0xa4, 5, 0, 1, 0, 0, 0, UInt8(zoomAt & 0xff), UInt8(zoomAt >> 8), 0, 0]
        expected += [0x05, 0xa4, 3, 0, 1, 0, 0, 0, 31, 0, 0, 0]
        expected += [0, 0, 0, 0]
        expected += [1, 0, 0, 0, 60, 0, 0, 0] + date + [0x24, 0xfa, 0xff, 0xff, 0xe8, 3, 0, 0]
        expected += comment + [0, 2, 0, 0, 0, 1, 0, 0, 0]
        expected[2] = UInt8((expected.count - 2) >> 8)
        expected[3] = UInt8((expected.count - 2) & 0xff)
        #expect(segment == expected)
    }

    /// Held upright, at 1/60 s and ISO 100, a stop and a half darker, at zoom 2, lit.
    private func photo() throws -> ExifSegment.Photo {
        let camera = try CameraFile.named("iphone6s-back").capabilities
        let check = ConfigurationCheck(capabilities: camera)
        let keys: [ConfigurationKey: ConfigurationValue] = [
            .videoOrientation: .text("portrait"), .flashMode: .text("on"), .exposureTargetBias: .number(-1.5),
            .activeFormat: .text("420v 640x480@30"),
        ]
        let plan = PhotoPlan(
            try #require(check.settings(Configuration(keys))), of: camera, zoom: 2,
            exposure: PhotoPlan.Exposure(duration: 1.0 / 60, iso: 100))
        return ExifSegment.Photo(width: 320, height: 240, plan: plan)
    }
}
