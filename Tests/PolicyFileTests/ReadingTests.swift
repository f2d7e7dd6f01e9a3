import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import TomlFile

/// Beside what `WriterTests` reads back.
@Suite("What the keys of a policy file mean")
struct ReadingTests {
    @Test("What is not written has its default: the right of the seat by any identity, the usual bounds of pressure")
    func defaults() throws {
        let least = try parse("name = \"least\"")
        #expect(least == Policy(name: "least"))
        #expect(least.rights == Rights(seat: true, users: [], groups: [], services: [], identity: .any))
        #expect(least.pressure == .usual && least.pressure.isWatched)
    }

    @Test("The conditions of a rule keep the order of the file")
    func order() throws {
        let policy = try parse(
            """
            name = "facts"
            [[cause]]
            name = "cause"
            when = { uses-audio = true, app = "z", microphone = "taken", client = "voip" }
            cause = "audio-device-in-use-by-another-client"
            """)
        #expect(
            policy.causeRules.first?.when == [.usesAudio(true), .app("z"), .microphoneTaken(true), .client(.voip)])
    }

    // MARK: Pressure

    @Test("A level that a figure does not have is never reached by it; what is not written keeps its default")
    func levels() throws {
        let text = "name = \"k\"\n[pressure]\nmemory = { serious = 12.5 }\nthrottling = \"nominal\"\n"
        let pressure = try parse(text).pressure
        #expect(pressure.memory == PressureSettings.Levels(serious: 12.5))
        #expect(pressure.memory.level(of: 99) == .serious)
        #expect(pressure.processor == PressureSettings.usualProcessor)
        #expect(pressure.throttling == .nominal && pressure.isWatched)
    }

    @Test("Whether a rule reads pressure is what its conditions say, in rules of either kind")
    func readsPressure() throws {
        let heat = "when = { pressure = \"serious\" }\ncause = \"video-device-not-available-due-to-system-pressure\""
        for (rule, reads) in [
            ("[[rank]]\nname = \"r\"\nrank = \"a\"\nfocused = true", false),
            ("[[rank]]\nname = \"r\"\nrank = \"a\"\npressure = \"fair\"", true),
            ("[[cause]]\nname = \"c\"\n\(heat)", true),
        ] {
            #expect(try parse("name = \"k\"\nranks = [\"a\"]\n\(rule)\n").readsPressure == reads)
        }
    }

    // MARK: Costs

    private func cost(_ words: String) throws -> CameraCost? {
        try parse("name = \"p\"\n[[camera]]\nid = \"back\"\ncost = \(words)\n").cameras.first?.cost
    }

    @Test(
        "A number holds for every format, a table names formats in any order, and what it does not name is the dearest")
    func costs() throws {
        #expect(try cost("60") == CameraCost(60))
        let hd = CameraCost.Format(width: 1920, height: 1080, frameRate: 29.97, pixelFormat: "MJPG", cost: 20)
        let small = CameraCost.Format(width: 640, height: 480, frameRate: 30, cost: 9)
        let expected = CameraCost(formats: [hd, small], other: 90)
        #expect(try cost("{ \"1920x1080@29.97 MJPG\" = 20, \"640x480@30\" = 9, other = 90 }") == expected)
        #expect(try cost("{ other = 90, \"640x480@30.0\" = 9, \"1920x1080@29.97 MJPG\" = 20 }") == expected)
        #expect(try cost("{ \"640x480@30\" = 9, \"640x480@60\" = 18 }")?.other == 18)
    }

    @Test("What is no format is refused")
    func noFormats() {
        for key in [
            "1920@30", "x1080@30", "1920x1080@", "1920x1080@0", "1920x1080@1e3", "1920x1080@-30", "0x480@30",
            "1920x1080@30 ", "1920x1080@30  MJPG", "1920x1080@30 MJPEG", "1920x1080@30 MJPG binned", "+1920x1080@30",
            "65536x480@30", "640x480@10001", "640x480@.", "",
        ] {
            #expect(throws: FileProblems.self, "\(key)") { try cost("{ \"\(key)\" = 1 }") }
        }
    }

    // MARK: Attributes

    @Test("Without a default the weakest value counts")
    func weakest() throws {
        let policy = try parse("name = \"p\"\n[[attribute]]\nname = \"duty\"\nvalues = [\"on\", \"off\"]")
        #expect(policy.attributes.first?.defaultValue == "off")
    }

    static let taken = [
        ("focused", "a built-in fact"), ("pressure", "a built-in fact"), ("newest", "a word of the order list"),
        ("foreground", "a word of the order list"), ("lease", "a key of the rules"), ("when", "a key of the rules"),
    ]

    @Test("No attribute has the name of a built-in fact, of an order word, or of a rule's key", arguments: taken)
    func collisions(name: String, what: String) {
        let found = problems("name = \"p\"\n[[attribute]]\nname = \"\(name)\"\nvalues = [\"a\"]")
        #expect(
            found == """
                p.toml:3:8: "name" in an [[attribute]] table is "\(name)", which is \(what); an attribute needs a name of its own
                  name = "\(name)"
                         \(String(repeating: "^", count: name.count + 2))
                """)
    }

    @Test("There are at most eight attributes of sixty-four values, each a word")
    func bounds() {
        let nine = (0..<9).map { "[[attribute]]\nname = \"a\($0)\"\nvalues = [\"a\"]\n" }.joined()
        #expect(problems("name = \"p\"\n\(nine)").contains("there are 9 [[attribute]] tables; at most 8 are allowed"))
        let many = (0..<65).map { "\"v\($0)\"" }.joined(separator: ", ")
        #expect(
            problems("name = \"p\"\n[[attribute]]\nname = \"a\"\nvalues = [\(many)]")
                .contains("\"values\" of attribute \"a\" has 65 entries; it takes at most 64"))
        #expect(
            problems("name = \"p\"\n[[attribute]]\nname = \"two words\"\nvalues = [\"a b\"]")
                .contains("it takes letters, digits and hyphens, at most 48 of them"))
        #expect(problems("name = \"p\"\n[[attribute]]\nname = \"a\"\nvalues = []").contains("is empty"))
    }
}
