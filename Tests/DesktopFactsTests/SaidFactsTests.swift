import Agent
import ArbiterProtocol
import Testing

@Suite("What the broker is told")
struct SaidFactsTests {
    /// Of facts that are found one after the other, what is said of each.
    private func check(_ steps: (UserFacts, [Saying])..., at place: SourceLocation = #_sourceLocation) {
        var said = SaidFacts()
        for (facts, sayings) in steps { #expect(said.toSay(facts) == sayings, sourceLocation: place) }
    }

    @Test("The first windows are said in one go, the focused app last; then what changes; none at all are known, too")
    func placements() {
        let first = UserFacts(placements: ["b": .focused, "a": .inFront, "c": .background])
        check(
            (UserFacts(), []),
            (first, [.attach([PlacedApp("c", .background), PlacedApp("a", .inFront), PlacedApp("b", .focused)])]),
            (first, []),
            (
                UserFacts(placements: ["b": .inFront, "a": .focused, "c": .background]),
                [.place(PlacedApp("b", .inFront)), .place(PlacedApp("a", .focused))]
            ))
        check((UserFacts(placements: [:]), [.attach([])]))
    }

    @Test("An app that steps back is said before one that comes forward")
    func order() {
        check(
            (
                UserFacts(placements: ["a": .focused, "z": .background]),
                [.attach([PlacedApp("z", .background), PlacedApp("a", .focused)])]
            ),
            (
                UserFacts(placements: ["a": .background, "z": .focused]),
                [.place(PlacedApp("a", .background)), .place(PlacedApp("z", .focused))]
            ))
    }

    @Test(
        "An app without windows is said to be in the background, once; windows that are not known are said whole later")
    func gone() {
        let focused = UserFacts(placements: ["a": .focused])
        check(
            (focused, [.attach([PlacedApp("a", .focused)])]),
            (UserFacts(placements: [:]), [.place(PlacedApp("a", .background))]), (UserFacts(placements: [:]), []),
            (UserFacts(), [.detach]), (focused, [.attach([PlacedApp("a", .focused)])]))
    }

    @Test("Microphones are said as they are taken and released, with or without windows")
    func microphones() {
        check(
            (UserFacts(microphones: []), [.reportMicrophones(true)]),
            (UserFacts(microphones: ["b", "a"]), [.takeMicrophone("a"), .takeMicrophone("b")]),
            (UserFacts(microphones: ["c", "b"]), [.releaseMicrophone("a"), .takeMicrophone("c")]),
            (UserFacts(), [.releaseMicrophone("b"), .releaseMicrophone("c"), .reportMicrophones(false)]))
    }

    @Test("What windows are known from is said behind them, again where it is another, and never without them")
    func source() {
        let (earlier, later) = (UserFacts(placements: [:], source: "1.7"), UserFacts(placements: [:], source: "1.8"))
        check(
            (UserFacts(source: "1.7"), []), (earlier, [.attach([]), .describe("1.7")]), (earlier, []),
            (later, [.describe("1.8")]), (UserFacts(source: "1.8"), [.detach]),
            (later, [.attach([]), .describe("1.8")]))
    }

    @Test("A wait is twice as long as the one before, up to a bound, and short again after a success")
    func backOff() {
        var backOff = BackOff(first: .milliseconds(100), longest: .milliseconds(350))
        let waits = (0..<4).map { _ in backOff.wait() }
        #expect(waits == [100, 200, 350, 350].map { Duration.milliseconds($0) })
        backOff.reset()
        #expect(backOff.wait() == .milliseconds(100))
    }
}
