import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import TomlFile

@Suite("Statements in a policy")
struct StatementTests {
    @Test("A statement speaks of parts by facts, and reads back as it was meant")
    func reading() throws {
        let policy = try PolicyFile.parse(
            """
            name = "p"
            [[never]]
            name = "n"
            waiting = { app = "i" }
            holder = { presence = "background", app = "b" }
            [[always]]
            name = "a"
            when = {}
            is = "running"
            """, file: "p.toml")
        #expect(
            policy.statements == [
                Statement(
                    name: "n",
                    .never([
                        Statement.Player(.holder, when: [.foreground(false), .app("b")]),
                        Statement.Player(.waiting, when: [.app("i")]),
                    ])),
                Statement(name: "a", .always(when: [], is: .running)),
            ])
    }

    private func problems(_ text: String) -> [String] {
        do throws(FileProblems) {
            _ = try PolicyFile.parse("name = \"p\"\n" + text, file: "p.toml")
            return []
        } catch {
            return error.problems.map { $0.hint.isEmpty ? $0.message : "\($0.message); \($0.hint)" }
        }
    }

    @Test("What is wrong with a statement is said, with what to write instead")
    func wrong() {
        #expect(
            problems("[[never]]\nname = \"n\"\napp = \"b\"").contains(
                "unknown key \"app\" in statement \"n\"; say who has that fact, as in holder = { app = … }"))
        #expect(
            problems("[[never]]\nholder = {}").first?.hasPrefix("a [[never]] statement has no \"name\"") == true)
        #expect(problems("[[never]]\nname = \"n\"").first?.hasPrefix("nobody plays a part in statement \"n\"") == true)
        #expect(
            problems("[[always]]\nname = \"a\"\nwhen = {}\nis = \"runing\"").first
                == "\"is\" in statement \"a\" is \"runing\"; it takes \"holder\", \"running\", \"restricted\", \"recording\", "
                + "\"sharer\", \"waiting\" or \"interrupted\"; did you mean \"running\"?")
        #expect(problems("[[always]]\nname = \"a\"\nis = \"running\"").first?.hasPrefix("no \"when\"") == true)
        #expect(
            problems("[[never]]\nname = \"n\"\nholder = {}\n[[never]]\nname = \"n\"\nrunning = {}").first?
                .hasPrefix("a second statement is named \"n\"") == true)
        #expect(
            problems("[[never]]\nname = \"n\"\nholder = { presense = \"background\" }").first?
                .contains("did you mean \"presence\"?") == true)
    }
}
