public import Arbiter
import ArbiterProtocol

/// Writes a policy as TOML text that reads back equal.
///
/// Everything is written, also what is not written in the file because it is the default: the text says by
/// itself what is in force. Only what has no value (`budget`, `lease`) and what a rule leaves alone is left out.
/// Holds for every policy that was read; a value made by hand has to keep what the format can say
/// (`Bounds`, one test of each fact in a rule, whole milliseconds, and the weakest rank where a rule denies).
public struct PolicyWriter {
    /// The text, ending in a newline. `comment` is a line above that part, without its `#`.
    public static func text(_ policy: Policy, comment: (PolicyPart) -> String? = { _ in nil }) -> String {
        withoutActuallyEscaping(comment) { comment in
            var writer = PolicyWriter(comment: comment)
            writer.write(policy)
            return writer.text
        }
    }

    private let comment: (PolicyPart) -> String?
    private var text = ""

    private init(comment: @escaping (PolicyPart) -> String?) { self.comment = comment }

    private mutating func write(_ policy: Policy) {
        pair("name", TomlText.quoted(policy.name), .top("name"))
        pair("summary", TomlText.quoted(policy.summary), .top("summary"))
        pair("sources", TomlText.list(policy.sources.map(\.rawValue)), .top("sources"))
        pair("ranks", TomlText.list(policy.ranks), .top("ranks"))
        pair("pressure-settle", TomlText.quoted(policy.pressureSettle), .top("pressure-settle"))
        for attribute in policy.attributes { write(attribute) }
        for rule in policy.causeRules { write(rule) }
        for rule in policy.rankRules { write(rule, ranks: policy.ranks) }
        write(policy.contention)
        for camera in policy.cameras { write(camera) }
    }

    private mutating func write(_ attribute: Attribute) {
        header("[[attribute]]", .attribute(attribute.name))
        pair("name", TomlText.quoted(attribute.name))
        pair("values", TomlText.list(attribute.values))
        pair("default", TomlText.quoted(attribute.defaultValue))
    }

    private mutating func write(_ rule: CauseRule) {
        header("[[cause]]", .rule(rule.name))
        pair("name", TomlText.quoted(rule.name))
        pair("cause", TomlText.quoted(rule.cause.wireName))
        pair("access", TomlText.list(Access.rights.filter { rule.access.contains($0.right) }.map(\.name)))
        // The table of facts comes last: in its long form it is a table of its own, and takes what follows.
        let facts = rule.when.map { "\($0.written.key) = \(TomlText.value(of: $0))" }
        let short = facts.isEmpty ? "{}" : "{ \(facts.joined(separator: ", ")) }"
        if TomlText.fitsOnALine("when = \(short)") {
            pair("when", short)
        } else {
            text += "[cause.when]\n" + facts.map { $0 + "\n" }.joined()
        }
    }

    private mutating func write(_ rule: RankRule, ranks: [String]) {
        header("[[rank]]", .rule(rule.name))
        pair("name", TomlText.quoted(rule.name))
        for fact in rule.when { pair(fact.written.key, TomlText.value(of: fact)) }
        guard !rule.deny else { return pair("deny", "true") }
        pair("rank", TomlText.quoted(ranks[rule.rank]))
        if rule.override { pair("override", "true") }
        if rule.grace != .zero { pair("grace", TomlText.quoted(rule.grace)) }
        if rule.minHold != .zero { pair("min-hold", TomlText.quoted(rule.minHold)) }
        if let lease = rule.lease { pair("lease", TomlText.quoted(lease)) }
    }

    private mutating func write(_ contention: Contention) {
        text += "\n[contention]\n"
        func say(_ key: String, _ value: String) { pair(key, value, .contention(key)) }
        say("order", TomlText.list(contention.order.map(\.name)))
        say("tie", TomlText.quoted(contention.tie.rawValue))
        say("same-app", TomlText.quoted(contention.sameApp.rawValue))
        say("own-conflict", TomlText.quoted(contention.ownConflict.rawValue))
        say("newcomer", TomlText.quoted(contention.newcomer.rawValue))
        say("loser", TomlText.quoted(contention.loser.rawValue))
        say("sharing", TomlText.quoted(contention.sharing.rawValue))
        say("re-decide", TomlText.quoted(contention.reDecide.rawValue))
        say("cool-down", TomlText.quoted(contention.coolDown))
        if let budget = contention.budget { say("budget", "\(budget)") }
        say("gives-way", TomlText.quoted(contention.givesWay.rawValue))
        say("strongest-may-exceed", "\(contention.strongestMayExceed)")
        say("backfill", "\(contention.backfill)")
    }

    private mutating func write(_ camera: CameraRule) {
        header("[[camera]]", .camera(camera.camera.name))
        pair("id", TomlText.quoted(camera.camera.name))
        if !camera.conflicts.isEmpty { pair("conflicts", TomlText.list(camera.conflicts.map(\.name))) }
        if camera.cost != 0 { pair("cost", "\(camera.cost)") }
    }

    // MARK: Lines

    private mutating func header(_ header: String, _ part: PolicyPart) {
        text += "\n"
        note(part)
        text += header + "\n"
    }

    private mutating func pair(_ key: String, _ value: String, _ part: PolicyPart? = nil) {
        if let part { note(part) }
        text += "\(key) = \(value)\n"
    }

    private mutating func note(_ part: PolicyPart) {
        guard let words = comment(part) else { return }
        text += "# \(Wording.visible(words))\n"
    }
}

/// Values as TOML writes them.
enum TomlText {
    /// What a line of a written policy may have; far below `Bounds.lineBytesMax`, and a screen is not wider.
    private static let lineBytesMax = 120

    static func fitsOnALine(_ text: String) -> Bool { text.utf8.count <= lineBytesMax }

    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                quoted += "\\"
                quoted.unicodeScalars.append(scalar)
            case _ where !scalar.isPrintable:
                let digits = String(scalar.value, radix: 16)
                quoted += scalar.value > 0xFFFF ? "\\U" : "\\u"
                quoted += String(repeating: "0", count: (scalar.value > 0xFFFF ? 8 : 4) - digits.utf8.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    static func quoted(_ duration: Duration) -> String { quoted(DurationText.write(duration)) }

    /// On one line where it fits, else an element a line.
    static func list(_ texts: [String]) -> String {
        let short = "[\(texts.map(quoted).joined(separator: ", "))]"
        if fitsOnALine(short) { return short }
        return "[\n" + texts.map { "    \(quoted($0)),\n" }.joined() + "]"
    }

    /// What a fact is compared with.
    static func value(of fact: FactTest) -> String {
        switch fact {
        // Names are the author's, and may have quotation marks in them.
        case .app(let name), .claimedApp(let name): quoted(name)
        case .camera(let camera): quoted(camera.name)
        // Words of the format and numbers stand as they are.
        case .user, .loginSession, .foreground, .layout, .focused, .foregroundApps, .client, .multitasking,
            .position, .usesAudio, .microphoneTaken, .pressure, .recording, .claimIsNew, .operatorChosen, .attribute:
            fact.written.value
        }
    }
}
