import Arbiter
import PolicyFile
import Testing
import TomlFile

@Suite("What a camera costs, in a policy file")
struct CostTests {
    private func cost(_ words: String) throws -> CameraCost? {
        try parse("name = \"p\"\n[[camera]]\nid = \"back\"\ncost = \(words)\n").cameras.first?.cost
    }

    @Test("A number holds for every format")
    func number() throws {
        #expect(try cost("60") == CameraCost(60))
    }

    @Test("A table names formats, in any order")
    func table() throws {
        let hd = CameraCost.Format(width: 1920, height: 1080, frameRate: 29.97, pixelFormat: "MJPG", cost: 20)
        let small = CameraCost.Format(width: 640, height: 480, frameRate: 30, cost: 9)
        let expected = CameraCost(formats: [hd, small], other: 90)
        #expect(try cost("{ \"1920x1080@29.97 MJPG\" = 20, \"640x480@30\" = 9, other = 90 }") == expected)
        #expect(try cost("{ other = 90, \"640x480@30.0\" = 9, \"1920x1080@29.97 MJPG\" = 20 }") == expected)
    }

    @Test("What no key names costs as much as the dearest that is named")
    func others() throws {
        #expect(try cost("{ \"640x480@30\" = 9, \"640x480@60\" = 18 }")?.other == 18)
    }

    static let noFormats = [
        "1920x1080", "1920@30", "x1080@30", "1920x1080@", "1920x1080@0", "1920x1080@1e3", "1920x1080@-30", "0x480@30",
        "1920x1080@30 ", "1920x1080@30  MJPG", "1920x1080@30 MJPEG", "1920x1080@30 MJPG binned", "+1920x1080@30",
        "65536x480@30", "640x480@10001", "640x480@.", "",
    ]

    @Test("What is no format is refused", arguments: noFormats)
    func wrong(_ key: String) {
        #expect(throws: FileProblems.self) { try cost("{ \"\(key)\" = 1 }") }
    }
}
