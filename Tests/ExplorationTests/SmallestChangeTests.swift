import Arbiter
import ArbiterProtocol
import Explain
import Scenario
import Testing
import Workbench

import struct Explain.Explanation

/// The smallest change of `explain` is the smallest: on worlds so small that every other world can be tried, by
/// ordinary events, no closer one changes the verdict.
@Suite("The smallest change of facts")
struct SmallestChangeTests {
    /// Each reads other facts, alone and together.
    static let policies = [
        """
        [[cause]]
        name = "In the background"
        when = { presence = "background" }
        cause = "video-device-not-available-in-background"
        [[cause]]
        name = "Too hot"
        when = { pressure = "critical" }
        cause = "video-device-not-available-due-to-system-pressure"
        [contention]
        order = ["operator", "focused"]
        tie = "holder"
        """,
        """
        [[cause]]
        name = "Two in front"
        when = { foreground-apps = "several", layout = "split" }
        cause = "video-device-not-available-with-multiple-foreground-apps"
        [[cause]]
        name = "Hot, and nobody looks"
        when = { pressure = "critical", focused = false }
        cause = "video-device-not-available-due-to-system-pressure"
        [contention]
        order = ["foreground", "newest"]
        tie = "newcomer"
        """,
        """
        ranks = ["chosen", "seen", "other"]
        [[rank]]
        name = "Whom the staff chose"
        operator = "chosen"
        focused = true
        rank = "chosen"
        [[rank]]
        name = "Who is seen"
        layout = "fullscreen"
        pressure = "nominal"
        rank = "seen"
        [[rank]]
        name = "Everybody else"
        rank = "other"
        """,
    ]

    @Test("nothing smaller changes the verdict, and what is named does", arguments: policies)
    func smallest(_ policy: String) throws {
        let begin = try TinyWorld.begin(policy)
        var sizes: [Int: Int] = [:]
        var turned = 0
        // A prime stride goes through worlds that differ in everything.
        for index in stride(from: 0, to: TinyWorld.all.count, by: 101) {
            let world = TinyWorld.all[index]
            let outcome = begin.live(in: world)
            let explanation = try #require(outcome.explanation)
            let verdict = try #require(explanation.verdicts.last { $0.session == TinyWorld.newcomer })
            #expect((verdict.outcome == .granted) == outcome.runs)
            let (smallest, nearest) = begin.smallestByTryingAll(from: world, runs: outcome.runs)
            let found = verdict.changedBy.first?.count
            let places = "\(world), \(verdict.outcome) because “\(verdict.rule)”"
            // A search that was cut says so, and claims nothing.
            #expect(verdict.searched.map { if case .upTo = $0 { true } else { false } } == true, "\(places): cut")
            #expect(
                found == (smallest <= 3 ? smallest : nil),
                "\(places): named \(verdict.changedBy.map(\.words)), and \(smallest) are enough: \(nearest?.description ?? "")"
            )
            guard smallest <= 3 else { continue }
            sizes[smallest, default: 0] += 1
            for change in verdict.changedBy {
                #expect(change.count == found, "\(places): \(change.words) is not as small as the others")
                let other = try #require(world.with(change), "\(places): \(change.words) is no world")
                #expect(
                    begin.live(in: world, but: other).runs != outcome.runs, "\(places): \(change.words) has no effect")
                turned += 1
            }
        }
        #expect(turned > 20, "only \(turned) changes were tried")
        #expect(sizes.count >= 2, "only changes of \(sizes) facts")
    }
}

extension Presence {
    /// As an explanation writes it: in the background, in front, or a layout.
    fileprivate init(written: String) {
        let layout = Layout.allCases.first { "\"\($0.rawValue)\"" == written }
        self = written == "\"background\"" ? .background : .foreground(layout ?? .fullscreen)
    }
}

/// Two apps, one camera, and every fact that these policies read.
private struct TinyWorld: Hashable, CustomStringConvertible {
    enum Who: CaseIterable { case nobody, holder, newcomer }

    var holder = Presence.background
    var newcomer = Presence.background
    var focus = Who.nobody
    var chosen = Who.nobody
    var pressure = SystemPressure.nominal
    var isPrivate = false
    /// An app that asks for no camera is in front.
    var isAnotherInFront = false

    static let newcomer = SessionID(2)

    static let all: [TinyWorld] = {
        var all = [TinyWorld()]
        let places: [Presence] = [.background] + Presence.Layout.allCases.map { .foreground($0) }
        all.vary(\.holder, places)
        all.vary(\.newcomer, places)
        all.vary(\.focus, Who.allCases)
        all.vary(\.chosen, Who.allCases)
        all.vary(\.pressure, SystemPressure.allCases)
        all.vary(\.isPrivate, [false, true])
        all.vary(\.isAnotherInFront, [false, true])
        return all.filter(\.isPossible)
    }()

    /// An app in the background has no focus.
    private var isPossible: Bool {
        focus == .nobody || (focus == .holder ? holder : newcomer) != .background
    }

    /// How many facts are otherwise: the focus that an app loses by going to the background is no fact of its own.
    func distance(to other: TinyWorld) -> Int {
        var same = self
        (same.holder, same.newcomer) = (other.holder, other.newcomer)
        if !same.isPossible { same.focus = .nobody }
        let differences = [
            other.holder != holder, other.newcomer != newcomer, other.focus != same.focus, other.chosen != chosen,
            other.pressure != pressure, other.isAnotherInFront != isAnotherInFront, other.isPrivate != isPrivate,
        ]
        return differences.count { $0 }
    }

    /// The world in which these facts are otherwise, where there is one.
    func with(_ change: [Explanation.Alteration]) -> TinyWorld? {
        var other = self
        for alteration in change {
            let isHolder = alteration.of == .app(AppID("a", user: 1000))
            let who = isHolder ? Who.holder : .newcomer
            if alteration.of == .app(AppID("another app", user: 1000)) {
                other.isAnotherInFront = alteration.to == "\"foreground\""
                continue
            }
            switch alteration.key {
            case "presence", "layout":
                let place = Presence(written: alteration.to)
                if isHolder { other.holder = place } else { other.newcomer = place }
            case "focused": other.focus = alteration.to == "true" ? who : .nobody
            case "operator": other.chosen = alteration.to == "\"chosen\"" ? who : .nobody
            case "pressure":
                other.pressure = SystemPressure.allCases.first { "\"\($0.wireName)\"" == alteration.to } ?? pressure
            case "video-device-blocked-by-privacy": other.isPrivate = false
            default: return nil
            }
        }
        if !other.isPossible, !change.contains(where: { $0.key == "focused" }) { other.focus = .nobody }
        return other.isPossible ? other : nil
    }

    var events: [Event] {
        func placed(_ name: String, _ presence: Presence, _ focused: Bool) -> Event {
            .placed(AppID(name, user: 1000), presence, focused: focused, by: .shell)
        }
        let chosen = chosen == .nobody ? nil : AppID(chosen == .holder ? "a" : "b", user: 1000)
        // The app that gets the focus says so last: placed with it, it takes it from the other.
        let places = [placed("a", holder, focus == .holder), placed("b", newcomer, focus == .newcomer)]
        return (focus == .holder ? places.reversed() : places)
            + [
                .operatorChose(chosen), .pressure(pressure),
                placed("another app", isAnotherInFront ? .foreground(.fullscreen) : .background, false),
                .privacy(CameraID("back"), on: isPrivate),
            ]
    }

    var description: String {
        "holder \(holder), newcomer \(newcomer), focus \(focus), chosen \(chosen), \(pressure)"
            + "\(isAnotherInFront ? ", another in front" : "")\(isPrivate ? ", private" : "")"
    }

    // MARK: Living in it

    static func begin(_ policy: String) throws -> Stage {
        let scenario = try Scenario.parse(
            """
            policy \"""
            name = "tiny"
            sources = ["shell"]
            pressure-settle = "0s"
            \(policy)
            \"""
            camera back
            0s   shell attach
                 connect a
                 connect b
                 session a camera=back
                 session b camera=back

            """, file: "tiny", policies: ".")
        var stage = Stage(Arbiter(policy: scenario.world.policy))
        stage.history = History()
        _ = scenario.run(on: &stage)
        return stage
    }
}

extension Stage {
    /// The holder starts in one world; then, if it is said, things are otherwise; and then the newcomer starts.
    fileprivate func live(
        in world: TinyWorld, but other: TinyWorld? = nil
    ) -> (runs: Bool, explanation: Explanation?) {
        var stage = self
        func become(_ world: TinyWorld) {
            for event in world.events { stage.perform(.event(event)) }
            _ = stage.advance(to: stage.now + .microseconds(1))
        }
        become(world)
        stage.perform(.event(.startRunning(SessionID(1))))
        if let other { become(other) }
        stage.perform(.event(.startRunning(TinyWorld.newcomer)))
        let runs = stage.arbiter.status(of: TinyWorld.newcomer)?.state == .running
        return (runs, other == nil ? stage.history?.explain(0, of: stage.arbiter) : nil)
    }

    /// The smallest number of facts with which the newcomer fares otherwise, by trying every world.
    fileprivate func smallestByTryingAll(from world: TinyWorld, runs: Bool) -> (distance: Int, world: TinyWorld?) {
        // The machine is asked for what stands to be over, not for what could have come.
        let others = TinyWorld.all.filter { $0 != world && (world.isPrivate || !$0.isPrivate) }
            .map { (distance: world.distance(to: $0), world: $0) }.sorted { $0.distance < $1.distance }
        return others.first { live(in: world, but: $0.world).runs != runs }.map { ($0.distance, $0.world) }
            ?? (Int.max, nil)
    }
}
