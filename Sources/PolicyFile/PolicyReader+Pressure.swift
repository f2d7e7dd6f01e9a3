import Arbiter
import ArbiterProtocol
import TomlFile

extension PolicyReader {
    static let pressureKeys = ["watch", "memory", "processor", "temperature", "throttling"]
    static let pressureLevels: [SystemPressure] = [.fair, .serious, .critical]

    /// "How hard is the machine pressed?" What is not written is `PressureSettings`' default.
    func pressure() -> PressureSettings {
        var pressure = PressureSettings.usual
        guard let table = top.table("pressure", takes: "a table that begins with [pressure]") else { return pressure }
        let reader = TableReader(table, owner: "in [pressure]", problems: problems)
        reader.refuseUnknown(Self.pressureKeys, advice: Self.advice(at: "[pressure]"))
        if let watch = reader.boolean("watch") { pressure.isWatched = watch }
        if let memory = levels("memory", reader, in: Bounds.stall) { pressure.memory = memory }
        if let processor = levels("processor", reader, in: Bounds.stall) { pressure.processor = processor }
        if let temperature = levels("temperature", reader, in: Bounds.temperature) {
            pressure.temperature = temperature
        }
        if let throttling = reader.choice("throttling", SystemPressure.allCases.map { ($0.wireName, $0) }) {
            pressure.throttling = throttling
        }
        return pressure
    }

    /// Where each level begins; one that is missing is never reached by this.
    private func levels(
        _ key: String, _ pressure: TableReader, in range: ClosedRange<Double>
    ) -> PressureSettings.Levels? {
        let takes = "levels in braces, as in { fair = 30, serious = 60, critical = 80 }"
        guard let table = pressure.table(key, takes: takes) else { return nil }
        let reader = TableReader(table, owner: "in \"\(key)\" of [pressure]", problems: problems)
        reader.refuseUnknown(Self.pressureLevels.map(\.wireName))
        var levels = PressureSettings.Levels()
        var below: (name: String, value: Double)?
        for level in Self.pressureLevels {
            guard let value = reader.number(level.wireName, in: range) else { continue }
            levels[level] = value
            if let below, value <= below.value, let entry = reader.entry(level.wireName) {
                problems.add(
                    "\(reader.subject(level.wireName)) is \(TomlText.number(value)), which is not above "
                        + "\"\(below.name)\"; a harder pressure begins at a higher figure", at: entry.node.place)
            }
            below = (level.wireName, value)
        }
        return levels
    }
}
