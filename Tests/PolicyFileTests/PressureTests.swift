import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import TomlFile

@Suite("From where on figures count as pressure")
struct PressureTests {
    @Test("Without a table the machine is watched with the usual bounds")
    func usual() throws {
        let policy = try parse("name = \"k\"\n")
        #expect(policy.pressure == .usual && policy.pressure.isWatched)
    }

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
    func read() throws {
        func reads(_ rule: String) throws -> Bool {
            try parse("name = \"k\"\nranks = [\"a\"]\n\(rule)\n").readsPressure
        }
        #expect(try !reads("[[rank]]\nname = \"r\"\nrank = \"a\"\nfocused = true"))
        #expect(try reads("[[rank]]\nname = \"r\"\nrank = \"a\"\npressure = \"fair\""))
        #expect(
            try reads(
                "[[cause]]\nname = \"c\"\nwhen = { pressure = \"serious\" }\n"
                    + "cause = \"video-device-not-available-due-to-system-pressure\""))
    }
}
