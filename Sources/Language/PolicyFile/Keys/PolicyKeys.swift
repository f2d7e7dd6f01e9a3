import Arbiter
import TomlFile
package import Vocabulary

package enum PolicyKeys {
    package static let top: [Key<Policy>] = [
        Key("name", \.name, .label(), .walked, "what status and logs call it", missing: "an error"),
        Key("summary", \.summary, .summary, .walked, "what it is for", missing: "empty"),
        Key(
            "sources", \.sources, .sources, .walked,
            "who is believed about where an app is, the most trusted first", missing: "none: all apps are in front"),
        Key("ranks", \.ranks, .ranks, .walked, "names of ranks", missing: "one rank, `everyone`"),
        Key(
            "pressure-settle", \.pressureSettle, .duration(in: Bounds.pressureSettle, 20), .walked,
            "how long a lower pressure has to last before it counts"),
    ]

    package static let access: [Key<Rights>] = [
        Key("seat", \.seat, .flag(70), .walked, "a user who has a login session at the camera's seat may"),
        Key("users", \.users, .accounts { $0.user(named: $1) }, .walked, "they may", missing: "none"),
        Key(
            "groups", \.groups, .accounts { $0.group(named: $1) }, .walked,
            "clients in one of them may, by the groups that their process had when it connected", missing: "none"),
        Key("services", \.services, .services, .walked, "apps that the kernel vouches for may", missing: "none"),
        Key(
            "identity", \.identity, .choice(40), .walked,
            "`strong`: a client that had to be identified by its process number has no right, unless it is root's"),
        Key(
            "apps", \.apps, .choice(70), .walked,
            "`ask`: a user is asked, at its start, about an app of which that user has said nothing"),
    ]

    package static let attribute: [Key<Attribute>] = [
        Key("name", \.name, .word, .walked, "what rules and `order` ask for", missing: "an error"),
        Key("values", \.values, .words, .walked, "the strongest first", missing: "an error"),
        Key("default", \.defaultValue, .word, .walked, "of an app that was told nothing", missing: "the weakest"),
    ]

    package static let mode: [Key<Mode>] = [
        Key("name", \.name, .word, .walked, "what rules ask for; not `none`", missing: "an error"),
        Key("at", \.at, .calendar, .left, "when it holds by itself, in local time", missing: "it has no calendar"),
        Key("set-by", \.setBy, .setters, .left, "who may set it by hand and take it back; `[]`: nobody"),
    ]

    package static let cause: [Key<CauseRule>] = [
        Key("name", \.name, .label(), .walked, "what verdicts call it; no other rule's", missing: "an error"),
        Key("when", \.when, .facts, .walked, "they all have to hold; `{}` always does", missing: "an error"),
        Key("cause", \.cause, .cause, .walked, "what it raises", missing: "an error"),
        Key("access", \.access, .access, .walked, "what is left", missing: "nothing is left"),
        Key(
            "message", \.message, .message, silent: "", .walked,
            "what the person in front of the app reads beside the cause",
            missing: "none"),
    ]

    package static let rank: [Key<RankRule>] = [
        Key("name", \.name, .label(), .walked, "what verdicts call it; no other rule's", missing: "an error"),
        Key("rank", \.rank, .rank, .walked, "of sessions that match", missing: "an error"),
        Key(
            "deny", \.deny, .flag(0), silent: false, .walked,
            "a session that matches may not have a camera; such a rule has nothing else but facts and a message"),
        Key(
            "immediate", \.isImmediate, .flag(12), silent: false, .walked,
            "no grace, min-hold or cool-down stands in its way"),
        Key(
            "grace", \.grace, .duration(in: Bounds.grace, 40), silent: .zero, .walked,
            "how long a holder of this rank may go on to finish after it was told"),
        Key(
            "min-hold", \.minHold, .duration(in: Bounds.minHold, 25), silent: .zero, .walked,
            "how long a holder keeps the camera against stronger bids"),
        Key(
            "lease", \.lease, .lease, .walked, "how long it may hold the camera for one start",
            missing: "as long as it wins"),
        Key(
            "pause", \.pause, .duration(in: Bounds.pause, 40), silent: .zero, .walked,
            "how long after the end of a lease its app is refused that camera, also when nobody waits"),
        Key(
            "message", \.message, .message, silent: "", .walked,
            "what the person in front of such an app reads where this rule refuses it or its lease ends",
            missing: "none"),
        Key(
            "message-to-others", \.messageToOthers, .message, silent: "", .walked,
            "what the person in front of an app reads that loses to one of this rank", missing: "none"),
    ]

    package static let pressure: [Key<PressureSettings>] = [
        Key("watch", \.isWatched, .flag(50), .left, "`false`: only what a shell says counts"),
        Key(
            "memory", \.memory, .levels(in: Bounds.stall), .left,
            "per cent of the last ten seconds in which *every* program that wanted to work waited for memory"),
        Key(
            "processor", \.processor, .levels(in: Bounds.stall), .left,
            "the same for the time in which *some* program waited for a processor"),
        Key(
            "temperature", \.temperature, .levels(in: Bounds.temperature), .left,
            "degrees Celsius of the hottest thermal zone", missing: "the zones' own"),
        Key(
            "throttling", \.throttling, .throttling, .left,
            "the level that counts when a processor has slowed itself down within the last ten seconds"),
    ]

    package static let contention: [Key<Contention>] = [
        Key("order", \.order, .order, .walked, "what bids of one rank are compared by, from left to right"),
        Key("tie", \.tie, .choice(), .walked, "who has the camera where two bids are equal"),
        Key("same-app", \.sameApp, .choice(), .walked, "between two sessions of one app on one camera"),
        Key(
            "own-conflict", \.ownConflict, .choice(), .walked,
            "between two cameras of one app that cannot run beside each other"),
        Key("newcomer", \.newcomer, .choice(70), .walked, "what a session does that loses while it starts"),
        Key("loser", \.loser, .choice(70), .walked, "what becomes of a session that loses while it runs"),
        Key(
            "sharing", \.sharing, .choice(), .walked,
            "`read-only`: a session that loses the camera to another goes on beside it; `all`: and whoever commits last controls"
        ),
        Key("share-with", \.shareWith, .choice(40), .walked, "whose sessions watch, where cameras are shared"),
        Key("serve", \.serve, .choice(60), .left, "whose wish a shared camera's format serves"),
        Key("sharers", \.sharers, .sharers, .walked, "what sharers may do, at most, beside the holder"),
        Key("re-decide", \.reDecide, .choice(70), .walked, "when bids are compared anew"),
        Key(
            "cool-down", \.coolDown, .duration(in: Bounds.coolDown, 60), .walked,
            "how long an app whose lease expired, or that was evicted, stands behind those that wait"),
        Key(
            "budget", \.budget, .maybe(.number(in: Bounds.cost, 40, [0, 1, 50, 75, 100, 150])), .walked,
            "what the cameras in use may cost together"),
        Key("gives-way", \.givesWay, .choice(), .walked, "which holders go when the budget is short"),
        Key(
            "strongest-may-exceed", \.strongestMayExceed, .flag(40), .walked,
            "the budget does not bind the strongest app"),
        Key(
            "backfill", \.backfill, .flag(50), .walked,
            "a weaker waiter may be served while a stronger one still lacks budget or a conflicting camera"),
    ]

    package static let shell = [speaker(\.shellUnit, "shell.service")]
    package static let agent = [speaker(\.agentUnit, "camagent.service")]

    private static func speaker(
        _ path: any WritableKeyPath<Policy, String?> & Sendable, _ sample: String
    ) -> Key<Policy> {
        Key(
            "unit", path, .maybe(.unit(sample)), .left, "of the system, or of the user's own service manager",
            missing: "the first program that claims the role has it, until it leaves")
    }

    package static let camera: [Key<CameraRule>] = [
        Key("id", \.camera, .camera, .walked, "as `camclient devices` lists it", missing: "an error"),
        Key(
            "conflicts", \.conflicts, .conflicts, silent: [], .walked,
            "they cannot run beside it; either side is enough", missing: "none"),
        Key("cost", \.cost, .cost, silent: 0, .walked, "what it counts towards the budget while it is in use"),
    ]
}

extension RankRule {
    /// The keys of a rule that denies; all others mean nothing there.
    static let keysOfDenials = ["name", "deny", "message"]
}

extension PolicyKeys {
    private static func texts(_ texts: KeyValuePairs<String, (takes: String, meaning: String)>) -> [PolicyTable.KeyText]
    {
        texts.map { name, text in
            PolicyTable.KeyText(name: name, walk: .unwalked, takes: text.takes, meaning: text.meaning, missing: "")
        }
    }

    static let include = PolicyTable.KeyText(
        name: "include", walk: .unwalked, takes: "up to \(FileBounds.filesMax) files, relative to it",
        meaning: "what this one builds on, at most \(Bounds.includeDepthMax) deep", missing: "none")

    static let never =
        texts(["name": ("a line", "what verdicts call it; no other statement's")])
        + Statement.Part.allCases.flatMap {
            texts([$0.rawValue: (facts, "who must never play this part; `{}` is anybody")])
        }
        + texts([
            "by": by, "unless": unless,
            "across": ("`cameras`", "parts may be on different cameras that exclude each other"),
        ])

    static let always = texts([
        "name": ("a line", "what verdicts call it; no other statement's"),
        "when": (facts, "of a session that asks to run; `{}` is every one"),
        "is": ("a part", "what such a session then plays"),
        "within": (Bounds.within.words, "beside `is`: at the latest so long after it began to want it"),
        "warned": (Bounds.warned.words, "in place of `is`: for how long it was told before it loses its camera"),
        "at-most": (Bounds.within.words, "in place of `is`: how long its app holds cameras, all together"),
        "in": (Bounds.within.words, "beside `at-most`: in any time as long as this"),
        "fair": ("`true`, `false`", "beside `is = \"running\"`: whoever goes on asking runs again and again"),
        "by": by, "unless": unless,
    ])

    private static let facts = "facts in braces"
    private static let by = (takes: facts, meaning: "it counts only while the session waits behind an app with them")
    private static let unless = (
        takes: facts + ", or a list of such", meaning: "what excuses the session, with `by` in it"
    )
}
