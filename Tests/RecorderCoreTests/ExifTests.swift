import Glibc
import RecorderCore
import Testing

struct ExifTests {
    @Test("A segment of fixed seconds equals known bytes")
    func bytes() {
        // The 14th of November 2023; its hour depends on where the machine is.
        var seconds = time_t(1_700_000_000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 20)
        #expect(strftime(&text, text.count, "%Y:%m:%d %H:%M:%S", &parts) == 19)
        let date = text.map { UInt8(bitPattern: $0) }

        let segment = ExifSegment.make(make: "ab", model: "c", seconds: 1_700_000_000)
        var expected: [UInt8] = [0xff, 0xe1, 0, 150] + Array("Exif".utf8) + [0, 0]
        expected += [0x49, 0x49, 0x2a, 0, 8, 0, 0, 0]
        // IFD0: maker, model, which side is up, when, where the next directory is; then their values.
        expected += [5, 0]
        expected += [0x0f, 0x01, 2, 0, 3, 0, 0, 0, 74, 0, 0, 0]
        expected += [0x10, 0x01, 2, 0, 2, 0, 0, 0, 78, 0, 0, 0]
        expected += [0x12, 0x01, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0]
        expected += [0x32, 0x01, 2, 0, 20, 0, 0, 0, 80, 0, 0, 0]
        expected += [0x69, 0x87, 4, 0, 1, 0, 0, 0, 100, 0, 0, 0]
        expected += [0, 0, 0, 0] + Array("ab".utf8) + [0, 0] + Array("c".utf8) + [0] + date
        expected += [1, 0] + [0x03, 0x90, 2, 0, 20, 0, 0, 0, 118, 0, 0, 0] + [0, 0, 0, 0] + date
        expected[3] = UInt8(expected.count - 2)
        #expect(segment == expected)
    }
}
