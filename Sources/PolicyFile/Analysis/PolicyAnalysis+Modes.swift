import Arbiter
import TomlFile

extension PolicyAnalysis {
    /// Modes whose calendar says nothing, because in each of its minutes that of an earlier mode does.
    ///
    /// Every minute of the week is looked at: there are 10,080.
    static func lookAtModes(_ policy: Policy, _ root: TomlTable, _ problems: ProblemList) {
        guard policy.modes.count > 1, policy.hasCalendar else { return }
        let minutes = 0..<CalendarSpan.minutesOfWeek
        let inForce = minutes.map { policy.calendarMode(at: $0) }
        for (index, mode) in policy.modes.enumerated() where !mode.at.isEmpty && !inForce.contains(mode) {
            let hiding = policy.modes[..<index].filter { earlier in
                minutes.contains { minute in
                    inForce[minute] == earlier && mode.at.contains { $0.holds(at: minute) }
                }
            }
            let names = hiding.map { "\"\($0.name)\"" }.joined(separator: " or ")
            guard case .array(let nodes)? = root.entry("mode")?.node.value,
                let node = nodes.first(where: { $0.text(of: "name") == mode.name }),
                case .table(let table) = node.value, let entry = table.entry("at")
            else { continue }
            let who = mode.setBy.isEmpty ? "never in force" : "in force only where somebody sets it"
            problems.warn(
                "mode \"\(mode.name)\" is \(who): whenever its calendar holds, so does that of \(names) before it",
                at: entry.node.place, hint: "let it stand before, or change its \"at\"")
        }
    }
}
