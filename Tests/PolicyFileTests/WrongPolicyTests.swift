import Arbiter
import PolicyFile
import Testing
import TomlFile

/// What `parse` reports for a text.
func problems(_ text: String) -> String {
    do {
        let policy = try PolicyFile.parse(text, file: "p.toml")
        return "no problem in \(policy.name)"
    } catch {
        return error.description
    }
}

@Suite("Wrong policies")
struct WrongPolicyTests {
    struct Case: CustomTestStringConvertible {
        var claim: String
        var text: String
        var expected: String
        var testDescription: String { claim }
    }

    @Test("Each wrong policy gets exactly its messages", arguments: rules + tables)
    func message(wrong: Case) {
        #expect(problems(wrong.text) == wrong.expected)
    }
}
