import Arbiter
import ArbiterProtocol
import EventTable

extension Scenario {
    /// Reads one input line (without time and indentation) against names; a block follows behind `"""` and a line feed.
    /// - Throws: what is wrong with it, with its place in the line.
    public static func input(
        _ text: String, names: inout Names, policies: String = "."
    ) throws(ScenarioError) -> [Action] {
        var parser = ScenarioParser(file: "input", policies: policies, names: names)
        let scenario = try parser.parse(String(repeating: " ", count: inputIndent) + text)
        names = scenario.names
        for line in scenario.lines { if case .input(_, let actions) = line.content { return actions } }
        return []
    }

    /// What the scenario's world and inputs do, in order, without their times.
    public var setup: [Action] {
        world.cameras.map { .event($0.event) }
            + lines.flatMap { line -> [Action] in
                if case .input(_, let actions) = line.content { actions } else { [] }
            }
    }
}
