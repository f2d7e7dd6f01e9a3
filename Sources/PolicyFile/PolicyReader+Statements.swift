import Arbiter
import TomlFile

extension PolicyReader {
    static let neverKeys = ["name"] + Statement.Part.allCases.map(\.rawValue)
    static let alwaysKeys = ["name", "when", "is", "fair"]

    /// What the policy promises about itself: `[[never]]` and `[[always]]`, in this order.
    func statements() -> [Statement] {
        var names: [String: Place] = [:]
        return top.tables("never", countMax: Bounds.statementsMax).compactMap { never($0, &names) }
            + top.tables("always", countMax: Bounds.statementsMax).compactMap { always($0, &names) }
    }

    private func never(_ table: TomlTable, _ names: inout [String: Place]) -> Statement? {
        let (reader, name) = statement(table, kind: "never", keys: Self.neverKeys, &names)
        reader.refuseUnknown(Self.neverKeys) { key in
            factKeys.contains(key) ? "say who has that fact, as in holder = { \(key) = … }" : nil
        }
        let players = Statement.Part.allCases.filter { reader.entry($0.rawValue) != nil }
            .map { Statement.Player($0, when: facts($0.rawValue, reader)) }
        if players.isEmpty {
            reader.missing(
                Statement.Part.holder.rawValue, of: Self.neverKeys, "nobody plays a part \(reader.owner)",
                hint: "say who must never be what, as in holder = { presence = \"background\" }; {} is anybody")
        }
        guard let name, !players.isEmpty else { return nil }
        return Statement(name: name, .never(players))
    }

    private func always(_ table: TomlTable, _ names: inout [String: Place]) -> Statement? {
        let (reader, name) = statement(table, kind: "always", keys: Self.alwaysKeys, &names)
        reader.refuseUnknown(Self.alwaysKeys) { key in
            factKeys.contains(key) ? "facts go inside when = { … }" : nil
        }
        if reader.entry("when") == nil, !table.entries.contains(where: { factKeys.contains($0.key) }) {
            reader.missing(
                "when", of: Self.alwaysKeys, "no \"when\" \(reader.owner)",
                hint: "say of whom, as in when = { app = \"intercom.service\" }; {} is everybody who asks to run")
        }
        let parts = Statement.Part.allCases.map(\.rawValue)
        if reader.entry("is") == nil {
            reader.missing(
                "is", of: Self.alwaysKeys, "no \"is\" \(reader.owner)", hint: "one of \(Wording.list(parts))")
        }
        let when = facts("when", reader)
        let isFair = reader.boolean("fair") ?? false
        guard let name, let part = reader.choice("is", Statement.Part.self) else { return nil }
        if isFair, part != .running, let entry = reader.entry("fair") {
            problems.add(
                "\(reader.subject("fair")) goes with is = \"running\", and not with \"\(part.rawValue)\"",
                at: entry.node.place,
                hint: "fair = true says that whoever goes on asking for a camera runs again and again")
        }
        return Statement(name: name, .always(when: when, is: part), isFair: isFair)
    }

    private func facts(_ key: String, _ reader: TableReader) -> [FactTest] {
        guard let table = reader.table(key, takes: "facts in braces, as in { presence = \"background\" }") else {
            return []
        }
        let owner = reader.owner.hasPrefix("in ") ? "of \(reader.owner.dropFirst(3))" : reader.owner
        let facts = TableReader(table.underTodaysNames(problems), owner: "in \"\(key)\" \(owner)", problems: problems)
        facts.refuseUnknown(factKeys)
        return FactReader(reader: facts, attributes: declared, modes: declaredModes.map(\.name)).tests()
    }

    /// A reader that speaks of the statement by its name, which every statement has to have, alone.
    private func statement(
        _ table: TomlTable, kind: String, keys: [String], _ names: inout [String: Place]
    ) -> (TableReader, name: String?) {
        let unnamed = TableReader(table, owner: "in a [[\(kind)]] statement", problems: problems)
        guard let entry = unnamed.entry("name") else {
            unnamed.missing(
                "name", of: keys, "a [[\(kind)]] statement has no \"name\"",
                hint: "add name = \"…\"; `camclient policy verify` names the statement that is broken")
            return (unnamed, nil)
        }
        guard let name = unnamed.label("name") else { return (unnamed, nil) }
        if let first = names[name] {
            problems.add(
                "a second statement is named \(Wording.quoted(name)); `camclient policy verify` names what is broken, "
                    + "so names are unique", at: entry.node.place, hint: "the first is in line \(first.line)")
        } else {
            names[name] = entry.node.place
        }
        return (TableReader(table, owner: "in statement \(Wording.quoted(name))", problems: problems), name)
    }
}
