import ArbiterProtocol
import Glibc
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
        let comment = Array("ASCII\0\0\0stillImageStabilizationUsed=false lensStabilizationUsed=false".utf8)
        /// The lowest byte first.
        func little(_ numbers: [Int], bytes: Int) -> [UInt8] {
            numbers.flatMap { number in (0..<bytes).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        }
        /// How many entries there are, each with its tag, type, count and value, and that no other directory follows.
        func directory(_ entries: [(Int, Int, Int, Int)]) -> [UInt8] {
            let all = entries.flatMap { little([$0.0, $0.1], bytes: 2) + little([$0.2, $0.3], bytes: 4) }
            return little([entries.count], bytes: 2) + all + [0, 0, 0, 0]
        }
        var expected: [UInt8] = [0xff, 0xe1, 0, 0] + Array("Exif\0\0II*\0".utf8) + [8, 0, 0, 0]
        // Maker, model, which side is up, when, where the next directory is; then the values of more than four bytes.
        expected += directory([
            (0x010f, 2, 3, 0x6261), (0x0110, 2, 2, 0x63), (0x0112, 3, 1, 6), (0x0132, 2, 20, 74), (0x8769, 4, 1, 94),
        ])
        expected += date
        expected += directory([
            (0x829a, 5, 1, 232), (0x8827, 3, 1, 100), (0x9000, 7, 4, 0x3033_3230), (0x9003, 2, 20, 240),
            (0x9204, 10, 1, 260), (0x9209, 3, 1, 9), (0x9286, 7, comment.count, 268), (0xa002, 4, 1, 320),
            (0xa003, 4, 1, 240), (0xa404, 5, 1, 268 + comment.count + 1), (0xa405, 3, 1, 31),
        ])
        // Exposure, time, bias, comment and zoom.
        expected += little([1, 60], bytes: 4) + date + little([-1500, 1000], bytes: 4) + comment
        expected += [0] + little([2, 1], bytes: 4)
        let count = expected.count - 2
        expected.replaceSubrange(2..<4, with: [UInt8(count >> 8), UInt8(count & 0xff)])
        let segment = ExifSegment.make(
            make: "ab", model: "c", seconds: 1_700_000_000, width: 320, height: 240, try photo())
        #expect(segment == expected)
    }

    /// Held upright, at 1/60 s and ISO 100, a stop and a half darker, at zoom 2, lit.
    private func photo() throws -> PhotoPlan {
        let keys: [ConfigurationKey: ConfigurationValue] = [
            .videoOrientation: .text("portrait"), .flashMode: .text("on"), .exposureTargetBias: .number(-1.5),
            .activeFormat: .text("420v 640x480@30"),
        ]
        return try PhotoPlanTests.plan("iphone6s-back", keys, zoom: 2)
    }
}
