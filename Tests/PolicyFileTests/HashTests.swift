import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing

/// The hash is over all that can decide, and over nothing else.
@Suite("The hash of a policy")
struct HashTests {
    private static let text = """
        name = "house"
        ranks = ["strong", "weak"]
        [access]
        users = [1001, 1000]
        services = ["b.service", "a.service"]
        [[cause]]
        name = "Hidden"
        when = { presence = "background", client = "app" }
        cause = "video-device-not-available-in-background"
        [[cause]]
        name = "Sound"
        when = { microphone = "taken" }
        cause = "audio-device-in-use-by-another-client"
        [[rank]]
        name = "A"
        app = "a.service"
        user = 1000
        rank = "strong"
        grace = "5s"
        # more
        [[camera]]
        id = "b"
        cost = 5
        [[camera]]
        id = "a"
        conflicts = ["c", "b"]

        """

    private static func hash(_ text: String) throws -> String { try PolicyFile.parse(text, file: "p").hash }

    @Test("FNV-1a of 128 bits is the published one")
    func published() {
        // Of no byte, of "a" and of "foobar": from the authors' own test vectors.
        #expect(PolicyHash.digits(of: "".utf8) == "6c62272e07bb014262b821756295c58d")
        #expect(PolicyHash.digits(of: "a".utf8) == "d228cb696f1a8caf78912b704e4a8964")
        #expect(PolicyHash.digits(of: "foobar".utf8) == "343e1662793c64bf6f0d3597ba446f18")
    }

    @Test("It is the same in every run: this policy's is this one")
    func stable() throws {
        let policy = try PolicyFile.parse(Self.text, file: "p")
        #expect(policy.hash == "3758ea8c24aed67db27135b60eb975a0", "\(policy.hashedText)")
        #expect(Policy.firstCome.hash.utf8.count == 32)
    }

    /// The text, its replacement, and whether it can decide.
    private static let changes: [(String, String, Bool)] = [
        ("name = \"house\"", "name = \"home\"\nsummary = \"Another word.\"", false),
        ("name = \"Hidden\"", "name = \"Away\" # as it should be", false),
        ("{ presence = \"background\", client = \"app\" }", "{ client = \"app\", presence = \"background\" }", false),
        ("users = [1001, 1000]", "users = [1000, 1001]\nseat = true", false),
        ("app = \"a.service\"\nuser = 1000", "user = 1000\napp = \"a.service\"\nmin-hold = \"0s\"", false),
        ("conflicts = [\"c\", \"b\"]", "conflicts = [\"b\", \"c\"]\n[[camera]]\nid = \"d\"", false),
        ("# more", "[contention]\ntie = \"holder\"", false),
        ("# more", "[[never]]\nname = \"N\"\nholder = { presence = \"background\" }", false),
        ("\"strong\", \"weak\"", "\"strong\", \"middle\", \"weak\"", true),
        ("grace = \"5s\"", "grace = \"6s\"", true), ("client = \"app\"", "client = \"voip\"", true),
        ("users = [1001, 1000]", "users = [1001]", true), ("cost = 5", "cost = 6", true),
        ("[access]", "sources = [\"shell\"]\n[access]", true),
        ("# more", "[contention]\ntie = \"newcomer\"", true), ("# more", "[pressure]\nwatch = false", true),
    ]

    @Test("What can decide is in it, and what decides nothing is not")
    func decides() throws {
        for (old, new, decides) in Self.changes {
            let changed = Self.text.replacing(old, with: new)
            #expect(changed != Self.text)
            #expect(try (Self.hash(changed) != Self.hash(Self.text)) == decides, "\(new)")
        }
    }

    @Test("The order of rules of one cause counts, and that of two causes does not")
    func order() throws {
        let hidden =
            "[[cause]]\nname = \"H\"\nwhen = { presence = \"background\" }\ncause = \"video-device-not-available-in-background\"\n"
        let spared =
            hidden.replacing("\"H\"", with: "\"S\"").replacing("background\" }", with: "background\", app = \"a\" }")
            + "access = [\"preview\"]\n"
        let sound =
            "[[cause]]\nname = \"M\"\nwhen = { microphone = \"taken\" }\ncause = \"audio-device-in-use-by-another-client\"\n"
        let name = "name = \"p\"\n"
        #expect(try Self.hash(name + spared + hidden) != Self.hash(name + hidden + spared))
        #expect(try Self.hash(name + sound + hidden) == Self.hash(name + hidden + sound))
    }
}
