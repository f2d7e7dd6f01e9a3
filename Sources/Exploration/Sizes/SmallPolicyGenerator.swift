import Arbiter
import ArbiterProtocol
import PolicyFile

/// Random policies with few names and few facts, so that they can be walked whole at several sizes, and random
/// statements about them, most of which are false.
///
/// `PolicyGenerator` makes policies over the whole language, most of whose worlds are too large for that.
struct SmallPolicyGenerator {
    private var random: SeededRandom

    init(_ random: SeededRandom) { self.random = random }

    /// A policy that a file can say, with statements on it.
    mutating func policy() -> Policy {
        while true {
            if let policy = try? PolicyFile.parse(draft(), file: "small") { return policy }
        }
    }

    private mutating func draft() -> String {
        hasSources = random.chance(25)
        hasOtherApp = random.chance(35)
        cameras = []
        // With more than one rank every client may lower itself, at any time, which doubles its states.
        let ranks = ["high", "middle", "low"].prefix(random.pick([1, 1, 1, 2, 2, 3]))
        var lines = ["name = \"small\"", "sources = [\(hasSources ? "\"shell\"" : "")]"]
        lines.append("ranks = [\(ranks.map { "\"\($0)\"" }.joined(separator: ", "))]")
        // Which cameras there are is known before rules name them.
        let tables = cameraLines()
        if hasSources, random.chance(70) { lines += causeLines() }
        for index in 0..<random.below(3) { lines += rankLines("k\(index)", Array(ranks), isRest: false) }
        if random.chance(60) { lines += rankLines("rest", Array(ranks), isRest: true) }
        lines += contentionLines() + tables
        for index in 0..<Self.statementsEach { lines += statementLines("s\(index)") }
        return lines.joined(separator: "\n")
    }

    private var hasSources = false
    private var hasOtherApp = false
    private var cameras: [String] = []

    /// Each is asked of the same walk: more cost little until they are broken.
    static let statementsEach = 8

    // MARK: Rules

    private mutating func causeLines() -> [String] {
        [
            "[[cause]]", "name = \"c\"", "when = { \(fact(oneOf: ["presence", "presence", "foreground-apps"])) }",
            "cause = \"video-device-not-available-in-background\"",
            random.chance(30) ? "access = [\"preview\"]" : "access = []",
        ]
    }

    private mutating func rankLines(_ name: String, _ ranks: [String], isRest: Bool) -> [String] {
        var lines = ["[[rank]]", "name = \"\(name)\""]
        if !isRest { lines += facts(1 + random.below(2)) }
        if !isRest, random.chance(4) { return lines + ["deny = true"] }
        lines.append("rank = \"\(random.pick(ranks))\"")
        if random.chance(10) { lines.append("immediate = true") }
        // All are multiples of one second, and few: so a walk need not count what is left of a lease.
        if random.chance(15) { lines.append("grace = \"\(random.pick(["1s", "2s"]))\"") }
        if random.chance(15) { lines.append("min-hold = \"\(random.pick(["1s", "3s"]))\"") }
        if random.chance(12) { lines.append("lease = \"\(random.pick(["2s", "4s"]))\"") }
        return lines
    }

    private mutating func contentionLines() -> [String] {
        var keys = ["newest", "oldest", "operator", "recording"] + (hasSources ? ["foreground"] : [])
        keys.shuffle(&random)
        // What is chosen by hand, and recordings, make worlds larger.
        if random.chance(70) { keys.removeAll { $0 == "operator" || $0 == "recording" } }
        if let newest = keys.firstIndex(of: "newest"), let oldest = keys.firstIndex(of: "oldest") {
            keys.remove(at: max(newest, oldest))
        }
        let order = keys.prefix(random.below(3)).map { "\"\($0)\"" }.joined(separator: ", ")
        var lines = ["[contention]", "order = [\(order)]"]
        func choose(_ key: String, _ values: [String]) { lines.append("\(key) = \"\(random.pick(values))\"") }
        choose("tie", ["holder", "newcomer"])
        choose("same-app", ["newest", "replace", "refuse"])
        choose("own-conflict", ["contend", "refuse"])
        choose("newcomer", ["queue", "queue", "refuse"])
        choose("loser", ["interrupt", "interrupt", "evict"])
        choose("sharing", ["none", "none", "none", "read-only"])
        choose("re-decide", ["facts", "facts", "open"])
        choose("cool-down", ["0s", "1s", "2s"])
        if !cameras.isEmpty, random.chance(60) {
            // No camera alone exceeds it: sessions of one app would wait for each other there, and none ever runs.
            lines.append("budget = \(random.pick([100, 100, 150]))")
            choose("gives-way", ["weakest", "longest-held"])
            lines.append("strongest-may-exceed = \(random.chance(35))")
        }
        lines.append("backfill = \(random.chance(50))")
        return lines
    }

    private mutating func cameraLines() -> [String] {
        guard random.chance(60) else { return [] }
        cameras = Array(["x", "y", "z"].prefix(2 + random.below(2)))
        return cameras.flatMap { camera in
            let others = cameras.filter { $0 != camera && random.chance(35) }.map { "\"\($0)\"" }
            return [
                "[[camera]]", "id = \"\(camera)\"", "conflicts = [\(others.joined(separator: ", "))]",
                "cost = \(random.pick([0, 40, 50, 60, 100]))",
            ]
        }
    }

    // MARK: Facts

    private mutating func facts(_ count: Int) -> [String] {
        var found: [String] = []
        for _ in 0..<count {
            let fact = fact(oneOf: Self.often + (hasSources ? ["presence", "presence", "foreground-apps"] : []))
            if !found.contains(where: { $0.hasPrefix(fact.prefix { $0 != " " }) }) { found.append(fact) }
        }
        return found
    }

    /// Names of apps tell clients apart, which most rules do.
    private static let often = ["app", "app", "app", "app", "bid", "camera", "recording"]

    private mutating func fact(oneOf keys: [String]) -> String {
        let key = random.pick(keys)
        let value =
            switch key {
            case "app": random.pick(hasOtherApp ? ["a.service", "b.service"] : ["a.service"])
            case "presence": random.pick(["foreground", "background"])
            case "foreground-apps": random.pick(["one", "several", "none"])
            case "bid": random.pick(["new", "standing"])
            case "recording": random.pick(["true", "false"])
            default: cameras.isEmpty ? "desk" : random.pick(cameras)
            }
        return key == "recording" ? "\(key) = \(value)" : "\(key) = \"\(value)\""
    }

    // MARK: Statements

    private mutating func statementLines(_ name: String) -> [String] {
        func table(_ count: Int) -> String {
            let facts = facts(count)
            return facts.isEmpty ? "{}" : "{ \(facts.joined(separator: ", ")) }"
        }
        if random.chance(35) {
            let part = random.pick(["holder", "running", "running", "interrupted", "waiting"])
            return ["[[always]]", "name = \"\(name)\"", "when = \(table(1 + random.below(2)))", "is = \"\(part)\""]
        }
        var parts = ["holder", "running", "restricted", "waiting", "waiting", "interrupted", "sharer"]
        parts.shuffle(&random)
        let count = random.pick([1, 1, 1, 2, 2, 2, 2, 3])
        var chosen: [String] = []
        for part in parts where chosen.count < count && !chosen.contains(part) { chosen.append(part) }
        return ["[[never]]", "name = \"\(name)\""] + chosen.map { "\($0) = \(table(random.below(3)))" }
    }
}
