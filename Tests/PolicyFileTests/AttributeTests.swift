import Arbiter
import PolicyFile
import Testing
import TomlFile

@Suite("Attributes in a policy file")
struct AttributeTests {
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

    @Test("A value that is none of an attribute's is reported with those it has")
    func unknownValue() {
        let found = problems(
            """
            name = "p"
            [[attribute]]
            name = "duty"
            values = ["on", "off"]
            [[cause]]
            name = "c"
            when = { duty = "offf" }
            cause = "video-device-not-available-in-background"
            """)
        #expect(
            found == """
                p.toml:7:17: "duty" in "when" of rule "c" is "offf"; it takes "on" or "off"
                  when = { duty = "offf" }
                                  ^^^^^^  did you mean "off"?
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
