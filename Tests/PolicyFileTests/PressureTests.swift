import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import TomlFile

@Suite("From where on figures count as pressure")
struct PressureTests {
    @Test("Without a table the machine is watched with the usual bounds")
    func usual() throws {
        let policy = try PolicyFile.parse("name = \"k\"\n", file: "p.toml")
        #expect(policy.pressure == .usual && policy.pressure.isWatched)
    }

    @Test("A level that a figure does not have is never reached by it; what is not written keeps its default")
    func levels() throws {
        let text = "name = \"k\"\n[pressure]\nmemory = { serious = 12.5 }\nthrottling = \"nominal\"\n"
        let pressure = try PolicyFile.parse(text, file: "p.toml").pressure
        #expect(pressure.memory == PressureSettings.Levels(serious: 12.5))
        #expect(pressure.memory.level(of: 99) == .serious)
        #expect(pressure.processor == PressureSettings.usualProcessor)
        #expect(pressure.throttling == .nominal && pressure.isWatched)
    }

    @Test("A drop-in replaces a key of [pressure], and leaves the others")
    func dropIn() throws {
        let folder = try TemporaryFolder([
            "p.toml": "name = \"k\"\n[pressure]\nwatch = false\nprocessor = { fair = 50 }\n",
            "d/10.toml": "[pressure]\nprocessor = {}\n",
        ])
        let loaded = try folder.load("p.toml", dropIns: "d")
        #expect(!loaded.policy.pressure.isWatched)
        #expect(loaded.policy.pressure.processor == PressureSettings.Levels())
        #expect(loaded.origins[.pressure("processor")]?.line == 2)
        #expect(loaded.origins[.pressure("watch")]?.line == 3)
    }

    @Test("Whether a rule reads pressure is what its conditions say, in rules of either kind")
    func read() throws {
        func reads(_ rule: String) throws -> Bool {
            let text = "name = \"k\"\nranks = [\"a\"]\n\(rule)\n"
            return try PolicyFile.parse(text, file: "p.toml").readsPressure
        }
        #expect(try !reads("[[rank]]\nname = \"r\"\nrank = \"a\"\nfocused = true"))
        #expect(try reads("[[rank]]\nname = \"r\"\nrank = \"a\"\npressure = \"fair\""))
        #expect(
            try reads(
                "[[cause]]\nname = \"c\"\nwhen = { pressure = \"serious\" }\n"
                    + "cause = \"video-device-not-available-due-to-system-pressure\""))
    }
}
