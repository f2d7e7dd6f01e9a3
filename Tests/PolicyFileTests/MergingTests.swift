import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import TomlFile

@Suite("Policies in several files")
struct MergingTests {
    static let base = """
        name = "base"
        summary = "The base."
        ranks = ["strong", "weak"]
        pressure-settle = "1s"

        [[rank]]
        name = "One"
        app = "one"
        rank = "strong"

        [[rank]]
        name = "Two"
        app = "two"
        rank = "weak"

        [contention]
        tie = "newcomer"
        same-app = "refuse"

        [[camera]]
        id = "a"
        cost = 10

        """

    @Test("A file stands on what it includes: keys replace one by one, rules stand before or replace in place")
    func including() throws {
        let folder = try TemporaryFolder([
            "base.toml": Self.base,
            "mine.toml": """
            include = ["base.toml"]
            summary = "Mine."

            [[rank]]
            name = "Three"
            app = "three"
            rank = "weak"

            [[rank]]
            name = "Two"
            app = "two"
            rank = "strong"

            [contention]
            tie = "holder"

            [[camera]]
            id = "b"

            [[camera]]
            id = "a"
            cost = 20
            """,
        ])
        let loaded = try folder.load("mine.toml")
        #expect(
            loaded.policy
                == Policy(
                    name: "base", summary: "Mine.", ranks: ["strong", "weak"],
                    rankRules: [
                        RankRule(name: "Three", when: [.app("three")], rank: 1),
                        RankRule(name: "One", when: [.app("one")], rank: 0),
                        RankRule(name: "Two", when: [.app("two")], rank: 0),
                    ], contention: Contention(tie: .holder, sameApp: .refuse),
                    cameras: [CameraRule(camera: CameraID("a"), cost: 20), CameraRule(camera: CameraID("b"))],
                    pressureSettle: .seconds(1)))
        let (base, mine) = ("\(folder.path)/base.toml", "\(folder.path)/mine.toml")
        #expect(loaded.files == [base, mine])
        #expect(loaded.origins[.rule("One")] == LoadedPolicy.Origin(file: base, line: 6))
        #expect(loaded.origins[.rule("Two")] == LoadedPolicy.Origin(file: mine, line: 9))
        #expect(loaded.origins[.top("name")] == LoadedPolicy.Origin(file: base, line: 1))
        #expect(loaded.origins[.contention("tie")] == LoadedPolicy.Origin(file: mine, line: 15))
        #expect(loaded.origins[.contention("same-app")] == LoadedPolicy.Origin(file: base, line: 18))
        #expect(loaded.origins[.contention("loser")] == nil)
        #expect(loaded.origins[.camera("a")] == LoadedPolicy.Origin(file: mine, line: 20))
    }

    @Test("Drop-ins are read over the policy in the order of their names' bytes, hidden and other files left out")
    func dropIns() throws {
        let rule = "[[rank]]\nname = \"One\"\nrank = \"weak\"\n"
        let folder = try TemporaryFolder([
            "base.toml": Self.base,
            "d/10-a.toml": "summary = \"ten\"\n" + rule, "d/9-b.toml": "summary = \"nine\"\n",
            "d/Z.toml": "pressure-settle = \"2s\"\n", "d/a.toml": "pressure-settle = \"3s\"\n",
            "d/.hidden.toml": "no TOML", "d/readme": "no TOML", "d/old.toml~": "no TOML",
        ])
        let loaded = try folder.load("base.toml", dropIns: "d")
        #expect(loaded.policy.summary == "nine")
        #expect(loaded.policy.pressureSettle == .seconds(3))
        #expect(loaded.policy.rankRules.map(\.name) == ["One", "Two"])
        #expect(loaded.policy.rankRules[0].rank == 1)
        let names = ["base.toml", "d/10-a.toml", "d/9-b.toml", "d/Z.toml", "d/a.toml"]
        #expect(loaded.files == names.map { "\(folder.path)/\($0)" })
    }

    @Test("A drop-in replaces a key of [access] and of [pressure], and leaves the others")
    func tables() throws {
        let folder = try TemporaryFolder([
            "p.toml": AccessTests.text + "[pressure]\nwatch = false\nprocessor = { fair = 50 }\n",
            "d/10.toml": "[access]\nusers = [1001]\nidentity = \"any\"\n[pressure]\nprocessor = {}\n",
        ])
        let loaded = try folder.load("p.toml", dropIns: "d")
        let (rights, pressure) = (loaded.policy.rights, loaded.policy.pressure)
        #expect(rights.users == [Rights.Account(name: nil, number: 1001)])
        #expect(rights.services == ["photobooth.service"] && !rights.seat && rights.identity == .any)
        #expect(!pressure.isWatched && pressure.processor == PressureSettings.Levels())
        #expect(loaded.origins[.access("users")]?.line == 2 && loaded.origins[.access("seat")]?.line == 3)
        for (key, line) in [("processor", 5), ("watch", 9)] {
            #expect(loaded.origins[try #require(PolicyPart(table: "pressure", name: key))]?.line == line)
        }
    }

    @Test(
        "A path starts from the folder of the file that names it; what several include is read once, where it is first")
    func diamond() throws {
        let folder = try TemporaryFolder([
            "base.toml": Self.base,
            "a.toml": "include = [\"base.toml\"]\nsummary = \"a\"\n",
            "inner/b.toml": "include = [\"../base.toml\"]\npressure-settle = \"9s\"\n",
            "both.toml": "include = [\"./a.toml\", \"inner/b.toml\"]\n",
        ])
        let policy = try folder.load("both.toml").policy
        #expect(policy.summary == "a")
        #expect(policy.pressureSettle == .seconds(9))
    }

    @Test("A drop-in can mend a rule, since what was replaced is not looked at")
    func mending() throws {
        let folder = try TemporaryFolder([
            "base.toml": Self.base + "[[rank]]\nname = \"Wrong\"\nrank = \"none such\"\n",
            "d/mend.toml": "[[rank]]\nname = \"Wrong\"\nrank = \"weak\"\n",
        ])
        #expect(folder.problems("base.toml").hasPrefix("base.toml:25:8: \"rank\" in rule \"Wrong\" is \"none such\""))
        #expect(folder.problems("base.toml", dropIns: "d") == "no problem in base")
    }

    @Test("Includes go as deep as their bound, and no deeper")
    func depth() throws {
        let folder = try TemporaryFolder(["8.toml": Self.base])
        for depth in 0..<8 { try folder.write("include = [\"\(depth + 1).toml\"]\n", to: "\(depth).toml") }
        try folder.write("include = [\"0.toml\"]\n", to: "above.toml")
        #expect(folder.problems("0.toml") == "no problem in base")
        #expect(
            folder.problems("above.toml") == """
                7.toml:1:12: "include" has "8.toml" in it, which is deeper than includes may go: 8
                  include = ["8.toml"]
                             ^^^^^^^^  above.toml → 0.toml → 1.toml → 2.toml → 3.toml → 4.toml → 5.toml → 6.toml → 7.toml → 8.toml
                """)
    }

    @Test("A policy has at most 64 files")
    func manyFiles() throws {
        let folder = try TemporaryFolder(["base.toml": Self.base])
        for index in 10..<10 + FileBounds.filesMax - 1 { try folder.write("# nothing\n", to: "d/\(index).toml") }
        #expect(folder.problems("base.toml", dropIns: "d") == "no problem in base")
        try folder.write("# nothing\n", to: "d/a.toml")
        #expect(folder.problems("base.toml", dropIns: "d") == "d: a policy has at most 64 files, and here are more")
        try folder.write("# nothing\n", to: "d/b.toml")
        #expect(
            folder.problems("base.toml", dropIns: "d") == "d: it has more files than are read of a folder: 64")
    }

    @Test("A folder of drop-ins that is not there is a problem only where it was asked for")
    func noFolder() throws {
        let folder = try TemporaryFolder(["base.toml": Self.base])
        #expect(folder.problems("base.toml", dropIns: "d") == "d: it cannot be opened: No such file or directory")
        let loaded = try PolicyFile.load(
            path: folder.path + "/base.toml", dropIns: folder.path + "/d", dropInsRequired: false)
        #expect(loaded.files == [folder.path + "/base.toml"])
    }
}
