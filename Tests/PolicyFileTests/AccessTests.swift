import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import TomlFile

/// A machine with two users and a group.
private struct TwoUsers: Accounts {
    func user(named name: String) -> UInt32? { ["alice": 1000, "bob": 1001][name] }
    func group(named name: String) -> UInt32? { name == "video" ? 44 : nil }
}

@Suite("The right to use cameras at all")
struct AccessTests {
    static let text = """
        name = "k"
        [access]
        seat = false
        users = ["alice", 1005, "carol"]
        groups = ["video"]
        services = ["photobooth.service"]
        identity = "strong"

        """

    private func account(_ name: String?, _ number: UInt32?) -> Rights.Account {
        Rights.Account(name: name, number: number)
    }

    @Test("Names become the numbers of the machine that reads them, and one it does not know is nobody's")
    func names() throws {
        let rights = try PolicyFile.parse(Self.text, file: "p.toml", accounts: TwoUsers()).rights
        #expect(rights.users == [account("alice", 1000), account(nil, 1005), account("carol", nil)])
        #expect(rights.groups == [account("video", 44)])
        #expect(rights.services == ["photobooth.service"])
        #expect(!rights.seat && rights.identity == .strong)
        #expect(rights.unknownNames == ["carol"])
        let nobodys = try parse(Self.text).rights
        #expect(nobodys.unknownNames == ["alice", "carol", "video"])
    }

    @Test("A policy is written with the names it was read with, and for a trace with their numbers")
    func written() throws {
        let policy = try PolicyFile.parse(Self.text, file: "p.toml", accounts: TwoUsers())
        let again = try PolicyFile.parse(PolicyWriter.text(policy), file: "again.toml", accounts: TwoUsers())
        #expect(again == policy)
        let anywhere = try PolicyFile.parse(PolicyWriter.text(policy, numbersOnly: true), file: "trace.toml")
        #expect(anywhere.rights.users.map(\.number) == [1000, 1005, nil])
        #expect(anywhere.rights.groups.map(\.number) == [44])
    }

    @Test(
        "A check with a machine's accounts names accounts it does not know, what no kernel vouches for, and a policy for nobody"
    )
    func check() throws {
        let found = PolicyFile.check(Self.text, file: "p.toml", accounts: TwoUsers())
        #expect(found?.problems.map(\.message) == ["this machine has no user \"carol\": nobody gets a right by it"])
        #expect(found?.problems.allSatisfy(\.isWarning) == true)
        #expect(PolicyFile.check(Self.text, file: "p.toml") == nil)
        let nobodys = PolicyFile.check("name = \"k\"\n[access]\nseat = false\n", file: "p.toml")
        #expect(nobodys?.problems.first?.message.hasPrefix("nobody but root may use a camera") == true)
        let claims = PolicyFile.check("name = \"k\"\n[access]\nservices = [\"booth\"]\n", file: "p.toml")
        #expect(claims?.problems.first?.hint == "a unit's name ends in .service")
    }
}
