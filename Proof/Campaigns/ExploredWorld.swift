import Arbiter
import ArbiterProtocol
package import Scenario
import Workbench

/// A small world that is walked whole: its beginning as a scenario, and its moves as input lines. Recorders' answers and the next
/// deadline are moves of every world.
package struct ExploredWorld: Sendable {
    package let name: String
    let scenario: Scenario
    let names: Names
    let actions: [(text: String, action: Action)]
    let faults: RecorderDuties.RecorderFaults

    /// - Parameter faults: what recorders do unasked: `crash`, `fail`, `disk-full`, `refuse`, `trouble`.
    package init(_ name: String, _ text: String, moves: [String], faults: [String] = []) throws(ScenarioError) {
        self.name = name
        scenario = try Scenario.parse(text, file: "the world “\(name)”", policies: ".")
        var names = scenario.names
        var actions: [(String, Action)] = []
        for move in moves { for action in try Scenario.input(move, names: &names) { actions.append((move, action)) } }
        self.names = names
        self.actions = actions
        self.faults = RecorderDuties.RecorderFaults(
            RecorderDuties.RecorderFaults.names.filter { faults.contains($0.0) }.map { $0.1 })
    }

    var clientCount: Int {
        Set(
            (scenario.setup + actions.map(\.action)).compactMap {
                if case .event(.connected(let client, _, _)) = $0 { client } else { nil }
            }
        ).count
    }

    package var size: (clients: Int, cameras: Int) { (clientCount, scenario.world.cameras.count) }

    /// Worlds about one part of the contract each, small enough to be walked whole or nearly so.
    package static func deep() throws(ScenarioError) -> [ExploredWorld] {
        var worlds: [ExploredWorld] = []
        try addContended(&worlds)
        try addMachine(&worlds)
        try addSettings(&worlds)
        try addPressure(&worlds)
        try addShared(&worlds)
        try addQuestions(&worlds)
        return worlds
    }

    /// A policy with three ranks; `weak` has the given keys.
    static func ranked(_ weak: String, _ contention: String = "", _ more: String = "") -> String {
        """
        policy \"""
        name = "ranked"
        ranks = ["strong", "middle", "weak"]
        [[rank]]
        name = "Strong"
        app = "strong"
        rank = "strong"
        \(contention.contains("immediate") ? "immediate = true" : "")
        [[rank]]
        name = "Middle"
        app = "middle"
        rank = "middle"
        [[rank]]
        name = "Weak"
        \(weak.contains("deny") ? "" : "rank = \"weak\"")
        \(weak)
        [contention]
        \(contention.replacing("immediate", with: ""))
        \(more)
        \"""

        """
    }

    /// Clients, each with a session of its name on a camera.
    static func clients(_ cameras: KeyValuePairs<String, String>) -> String {
        let lines = cameras.map { "connect \($0.key)" } + cameras.map { "session \($0.key) camera=\($0.value)" }
        return "0s   " + lines.joined(separator: "\n     ") + "\n"
    }

    static func three(_ weak: String, _ middle: String, _ strong: String) -> String {
        clients(["weak": weak, "middle": middle, "strong": strong])
    }

    /// All three on one camera.
    static let together = "camera back\n" + three("back", "back", "back")

    static let startAndStop = ["start weak", "stop weak", "start middle", "stop middle", "start strong", "stop strong"]

    private static func addContended(_ worlds: inout [ExploredWorld]) throws(ScenarioError) {
        try worlds.add(
            "handover", ranked("grace = \"5s\"") + "camera back\n" + clients(["weak": "back", "strong": "back"]),
            moves: [
                "start weak", "stop weak", "start strong", "stop strong", "connect middle",
                "session middle camera=back", "start middle", "disconnect middle", "record weak", "stop-record weak",
                "ready weak", "sleep", "wake",
            ])
        try worlds.add(
            "min-hold", ranked("grace = \"2s\"\nmin-hold = \"5s\"", "immediate") + together,
            moves: startAndStop + ["ready weak", "privacy back on", "privacy back off"])
        try worlds.add(
            "lease",
            ranked("lease = \"10s\"", "cool-down = \"3s\"\ntie = \"newcomer\"") + "camera back\n"
                + clients(["weak": "back", "other": "back"]),
            moves: ["start weak", "stop weak", "start other", "stop other", "sleep", "wake"])
        try worlds.add(
            "eviction", ranked("grace = \"2s\"", "loser = \"evict\"\ncool-down = \"3s\"") + together,
            moves: startAndStop + ["record weak", "ready weak", "unplug back", "plug back"])
        try worlds.add(
            "refusal", ranked("grace = \"2s\"", "newcomer = \"refuse\"") + together,
            moves: startAndStop + [
                "lower strong weak", "held-outside back on", "held-outside back off", "close middle",
            ])
        try worlds.add(
            "same-app",
            ranked("", "tie = \"newcomer\"") + "camera back\n" + """
                0s   connect weak
                     connect weak-2 app=weak
                     connect middle
                     session weak camera=back
                     session inset of weak camera=back
                     session weak-2 camera=back
                     session middle camera=back

                """,
            moves: [
                "start weak", "stop weak", "start inset", "stop inset", "start weak-2", "stop weak-2", "start middle",
                "stop middle", "disconnect weak-2",
            ])
        try worlds.add(
            "on-open", ranked("grace = \"2s\"", "re-decide = \"open\"\norder = [\"operator\"]") + together,
            moves: startAndStop + ["operator weak", "operator none", "lower strong weak"])
        try worlds.add(
            "conflict",
            ranked("grace = \"2s\"", "", "[[camera]]\nid = \"front\"\nconflicts = [\"back\"]")
                + "camera back\ncamera front\n" + three("back", "front", "back"),
            moves: startAndStop + ["unplug front", "plug front", "disconnect strong"])
        // The middle camera excludes both others: the row of §9 that needs three cameras.
        try worlds.add(
            "chain",
            ranked("", "", "[[camera]]\nid = \"b\"\nconflicts = [\"a\", \"c\"]") + "camera a\ncamera b\ncamera c\n"
                + three("a", "b", "c"), moves: startAndStop + ["unplug c", "plug c"])
        try worlds.add(
            "budget",
            ranked("", "budget = 3", "[[camera]]\nid = \"back\"\ncost = 2\n[[camera]]\nid = \"front\"\ncost = 2")
                + "camera back\ncamera front\n" + three("back", "front", "back"),
            moves: startAndStop + ["privacy back on", "privacy back off", "close strong"])
    }

    static let inTheBackground = """
        [[cause]]
        name = "In the background"
        when = { presence = "background" }
        cause = "video-device-not-available-in-background"
        """
}

extension [ExploredWorld] {
    mutating func add(_ name: String, _ text: String, moves: [String], faults: [String] = []) throws(ScenarioError) {
        append(try ExploredWorld(name, text, moves: moves, faults: faults))
    }
}
