import Agent
import ArbiterProtocol
import Testing

@Suite("What the broker is told")
struct SaidFactsTests {
    @Test("Nothing is said while nothing is known")
    func nothing() {
        var said = SaidFacts()
        #expect(said.toSay(UserFacts()) == [])
    }

    @Test("The first windows are said in one go, the focused app last; then only what changes")
    func placements() {
        var said = SaidFacts()
        #expect(
            said.toSay(UserFacts(placements: ["b": .focused, "a": .inFront, "c": .background])) == [
                .attach([PlacedApp("c", .background), PlacedApp("a", .inFront), PlacedApp("b", .focused)])
            ])
        #expect(said.toSay(UserFacts(placements: ["b": .focused, "a": .inFront, "c": .background])) == [])
        #expect(
            said.toSay(UserFacts(placements: ["b": .inFront, "a": .focused, "c": .background])) == [
                .place(PlacedApp("b", .inFront)), .place(PlacedApp("a", .focused)),
            ])
    }

    @Test("An app that steps back is said before one that comes forward")
    func order() {
        var said = SaidFacts()
        _ = said.toSay(UserFacts(placements: ["a": .focused, "z": .background]))
        #expect(
            said.toSay(UserFacts(placements: ["a": .background, "z": .focused])) == [
                .place(PlacedApp("a", .background)), .place(PlacedApp("z", .focused)),
            ])
    }

    @Test("An app without windows is said to be in the background, once")
    func gone() {
        var said = SaidFacts()
        _ = said.toSay(UserFacts(placements: ["a": .focused, "b": .background]))
        #expect(said.toSay(UserFacts(placements: [:])) == [.place(PlacedApp("a", .background))])
        #expect(said.toSay(UserFacts(placements: [:])) == [])
    }

    @Test("Windows that are not known any more are said to be unknown, and said whole when they are again")
    func unknown() {
        var said = SaidFacts()
        let facts = UserFacts(placements: ["a": .focused])
        _ = said.toSay(facts)
        #expect(said.toSay(UserFacts()) == [.detach])
        #expect(said.toSay(facts) == [.attach([PlacedApp("a", .focused)])])
    }

    @Test("No windows at all is something known too")
    func emptyDesktop() {
        var said = SaidFacts()
        #expect(said.toSay(UserFacts(placements: [:])) == [.attach([])])
    }

    @Test("Microphones are said as they are taken and released, with or without windows")
    func microphones() {
        var said = SaidFacts()
        #expect(said.toSay(UserFacts(microphones: [])) == [.reportMicrophones(true)])
        #expect(
            said.toSay(UserFacts(microphones: ["b", "a"])) == [.takeMicrophone("a"), .takeMicrophone("b")])
        #expect(
            said.toSay(UserFacts(microphones: ["c", "b"])) == [.releaseMicrophone("a"), .takeMicrophone("c")])
        #expect(
            said.toSay(UserFacts()) == [
                .releaseMicrophone("b"), .releaseMicrophone("c"), .reportMicrophones(false),
            ])
    }

    @Test("What windows are known from is said behind them, again where it is another, and never without them")
    func source() {
        var said = SaidFacts()
        #expect(said.toSay(UserFacts(source: "sway")) == [])
        #expect(said.toSay(UserFacts(placements: [:], source: "sway 1.7")) == [.attach([]), .describe("sway 1.7")])
        #expect(said.toSay(UserFacts(placements: [:], source: "sway 1.7")) == [])
        #expect(said.toSay(UserFacts(placements: [:], source: "sway 1.8")) == [.describe("sway 1.8")])
        #expect(said.toSay(UserFacts(source: "sway 1.8")) == [.detach])
        #expect(said.toSay(UserFacts(placements: [:], source: "sway 1.8")) == [.attach([]), .describe("sway 1.8")])
    }

    @Test("A wait is twice as long as the one before, up to a bound, and short again after a success")
    func backOff() {
        var backOff = BackOff(first: .milliseconds(100), longest: .milliseconds(350))
        #expect(
            [backOff.wait(), backOff.wait(), backOff.wait(), backOff.wait()] == [
                .milliseconds(100), .milliseconds(200), .milliseconds(350), .milliseconds(350),
            ])
        backOff.reset()
        #expect(backOff.wait() == .milliseconds(100))
    }
}
