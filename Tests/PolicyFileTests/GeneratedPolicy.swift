import Arbiter
import ArbiterProtocol

/// SplitMix64: small, and the same on every machine and in every release.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Policies at random, as various as the format allows: everything that a file may say comes up.
struct PolicyGenerator {
    var random: SeededGenerator
    private var names = 0
    private var attributes: [Attribute] = []
    private var modes: [Mode] = []

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func policy() -> Policy {
        names = 0
        attributes = (0..<roll(0, 3)).map { _ in attribute() }
        modes = ["night", "cleaning", "visitors"].prefix(roll(0, 3)).map { mode($0) }
        let ranks = (0..<roll(1, 5)).map { _ in name() }
        return Policy(
            name: name(), summary: coin() ? "" : name(), sources: some(of: PresenceSource.allCases),
            shellUnit: coin() ? nil : "org.gnome.Shell@wayland.service", agentUnit: coin() ? nil : "camagent.service",
            rights: rights(), attributes: attributes, modes: modes,
            causeRules: (0..<roll(0, 6)).map { _ in causeRule() }, ranks: ranks,
            rankRules: (0..<roll(0, 6)).map { _ in rankRule(ranks) }, contention: contention(), cameras: cameras(),
            pressureSettle: duration(0, 600_000), pressure: pressure(), statements: statements())
    }

    private mutating func mode(_ name: String) -> Mode {
        let spans = (0..<roll(0, 2)).map { _ in
            let days = some(of: CalendarSpan.Day.allCases)
            let from = roll(0, 1438)
            return CalendarSpan(
                days: days.isEmpty ? Set(CalendarSpan.Day.allCases) : Set(days), from: from, to: roll(from + 1, 1440))
        }
        let setters = some(of: Mode.Setter.allCases)
        return Mode(name: name, at: spans, setBy: setters.isEmpty && spans.isEmpty ? [.root] : setters)
    }

    private mutating func pressure() -> PressureSettings {
        PressureSettings(
            isWatched: coin(), memory: levels(1), processor: levels(1), temperature: levels(20),
            throttling: one(of: SystemPressure.allCases))
    }

    /// Each above the one before, from `least` on, in halves.
    private mutating func levels(_ least: Int) -> PressureSettings.Levels {
        var levels = PressureSettings.Levels()
        var value = Double(least)
        for level in [SystemPressure.fair, .serious, .critical] where coin() {
            value += Double(roll(1, 40)) / 2
            levels[level] = value
        }
        return levels
    }

    private mutating func rights() -> Rights {
        Rights(
            seat: coin(), users: accounts(), groups: accounts(), services: (0..<roll(0, 3)).map { _ in name() },
            identity: coin() ? .any : .strong, apps: coin() ? .all : .ask)
    }

    /// Each once; a name is of nobody where no machine is asked.
    private mutating func accounts() -> [Rights.Account] {
        (0..<roll(0, 4)).map { number in
            coin()
                ? Rights.Account(name: name(), number: nil)
                : Rights.Account(number: UInt32(roll(0, 1000) * 10 + number))
        }
    }

    private mutating func attribute() -> Attribute {
        let values = (0..<roll(1, 20)).map { "value-\($0)" }
        names += 1
        return Attribute(name: "attribute-\(names)", values: values, default: coin() ? nil : one(of: values))
    }

    private mutating func causeRule() -> CauseRule {
        CauseRule(
            name: name(), when: facts(), cause: one(of: CauseRule.causes),
            access: some(of: Access.rights.map(\.right)).reduce(.none) { $0.union($1) })
    }

    private mutating func rankRule(_ ranks: [String]) -> RankRule {
        if roll(0, 4) == 0 { return RankRule(name: name(), when: facts(), rank: ranks.count - 1, deny: true) }
        return RankRule(
            name: name(), when: facts(), rank: roll(0, ranks.count - 1), isImmediate: coin(),
            grace: duration(0, 60_000),
            minHold: duration(0, 3_600_000), lease: coin() ? nil : duration(1000, 86_400_000))
    }

    private mutating func contention() -> Contention {
        // One of newest and oldest at most.
        let without: Contention.OrderKey = coin() ? .newest : .oldest
        return Contention(
            order: some(
                of: Contention.OrderKey.builtIn.filter { $0 != without } + attributes.map { .attribute($0.name) }),
            tie: one(of: Contention.Tie.allCases), sameApp: one(of: Contention.SameApp.allCases),
            ownConflict: one(of: Contention.OwnConflict.allCases), newcomer: one(of: Contention.Newcomer.allCases),
            loser: one(of: Contention.Loser.allCases), shareWith: one(of: Contention.ShareWith.allCases),
            reDecide: one(of: Contention.ReDecide.allCases), coolDown: duration(0, 3_600_000),
            budget: coin() ? nil : roll(0, 1_000_000), givesWay: one(of: Contention.GivesWay.allCases),
            strongestMayExceed: coin(), backfill: coin())
    }

    private mutating func cameras() -> [CameraRule] {
        let ids = (0..<roll(0, 3)).map { _ in CameraID(name()) }
        return ids.map { id in
            CameraRule(camera: id, conflicts: some(of: ids.filter { $0 != id }), cost: cost())
        }
    }

    private mutating func cost() -> CameraCost {
        if coin() { return CameraCost(coin() ? 0 : roll(1, 1_000_000)) }
        // The widths differ, so that no format is named twice.
        let formats = (0..<roll(1, 16)).map { index in
            CameraCost.Format(
                width: 65_535 - index, height: roll(1, 65_535), frameRate: Double(roll(1, 240_000)) / 1000,
                pixelFormat: coin() ? nil : "MJPG", cost: roll(0, 1_000_000))
        }
        return CameraCost(formats: formats, other: coin() ? nil : roll(0, 1_000_000))
    }

    /// Every `never` before every `always`, as reading has them.
    private mutating func statements() -> [Statement] {
        let nevers = (0..<roll(0, 2)).map { _ in
            let parts = Statement.Part.allCases
            let first = roll(0, parts.count - 1)
            let players = parts[first...].prefix(roll(1, 3)).map { Statement.Player($0, when: facts()) }
            let isKeptOut = players.contains(where: \.part.isKeptOut)
            return Statement(
                name: name(), .never(Array(players)), unless: excuses(mayWait: isKeptOut),
                by: isKeptOut && coin() ? facts() : nil, isAcrossCameras: players.count > 1 && coin())
        }
        return nevers
            + (0..<roll(0, 2)).map { _ in
                let (assertion, mayWait) = demand()
                return Statement(
                    name: name(), assertion, unless: excuses(mayWait: mayWait), by: mayWait && coin() ? facts() : nil)
            }
    }

    /// What an `[[always]]` demands, and whether whoever it is about may wait behind somebody.
    private mutating func demand() -> (Statement.Assertion, mayWait: Bool) {
        let when = facts()
        let part = one(of: Statement.Part.allCases)
        return switch roll(0, 4) {
        case 0: (.within(when: when, is: part, duration(1, 600_000)), true)
        case 1: (.warned(when: when, duration(1, 600_000)), true)
        case 2: (.atMost(when: when, duration(1, 600_000), in: duration(1, 600_000)), false)
        case 3: (.fair(when: when, is: .running), false)
        default: (.always(when: when, is: part), true)
        }
    }

    private mutating func excuses(mayWait: Bool) -> [Statement.Excuse] {
        (0..<roll(0, 2)).map { _ in Statement.Excuse(when: facts(), by: mayWait && coin() ? facts() : nil) }
    }

    /// Each fact at most once, as a table has each key at most once.
    private mutating func facts() -> [FactTest] {
        var facts: [FactTest] = []
        let declared = attributes.flatMap { attribute in attribute.values.map { FactTest.attribute(attribute.name, $0) }
        }
        let all =
            FactTests.all + declared + modes.map { FactTest.mode($0.name) } + (modes.isEmpty ? [] : [.mode(nil)]) + [
                .app(name()), .claimedApp(name()), .camera(CameraID(name())), .user(.max - 1),
            ]
        for fact in all.shuffled(using: &random).prefix(roll(0, 40))
        where !facts.contains(where: { $0.written.key == fact.written.key }) {
            facts.append(fact)
        }
        return facts
    }

    // MARK: Dice

    private mutating func name() -> String {
        names += 1
        let odd = [
            "", "\"", "\\", "'", "#", " ", "=", "[a]", "ä€😀", "\\u0041", "\"\"\"", String(repeating: "\"", count: 90),
        ]
        return "n\(names)" + one(of: odd)
    }

    /// In milliseconds, mostly round.
    private mutating func duration(_ least: Int, _ most: Int) -> Duration {
        let count = roll(least, most)
        let unit = one(of: [1, 1000, 60_000, 3_600_000])
        return .milliseconds(max(least, count / unit * unit))
    }

    private mutating func roll(_ least: Int, _ most: Int) -> Int { Int.random(in: least...most, using: &random) }
    private mutating func coin() -> Bool { Bool.random(using: &random) }
    private mutating func one<T>(of all: [T]) -> T { all[roll(0, all.count - 1)] }
    private mutating func some<T>(of all: [T]) -> [T] {
        all.shuffled(using: &random).prefix(roll(0, all.count)).map { $0 }
    }
}
