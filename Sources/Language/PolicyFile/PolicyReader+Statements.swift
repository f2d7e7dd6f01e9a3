import Arbiter
import ArbiterProtocol
import TomlFile

extension PolicyReader {
    /// The policy's promises: `[[never]]` and `[[always]]`, in this order.
    func statements() -> [Statement] {
        var names: [String: Place] = [:]
        return top.tables("never", countMax: Bounds.statementsMax).compactMap { never($0, &names) }
            + top.tables("always", countMax: Bounds.statementsMax).compactMap { always($0, &names) }
    }

    private func never(_ table: TomlTable, _ names: inout [String: Place]) -> Statement? {
        let (reader, name) = statement(table, kind: "never", keys: neverKeys, &names)
        reader.refuseUnknown(neverKeys) { key in
            if alwaysKeys.contains(key) { return "\"\(key)\" is a key of [[always]]" }
            return factKeys.contains(key) ? "say who has that fact, as in holder = { \(key) = … }" : nil
        }
        let players = Statement.Part.allCases.filter { reader.entry($0.rawValue) != nil }
            .map { Statement.Player($0, when: facts($0.rawValue, reader) ?? []) }
        if players.isEmpty {
            reader.missing(
                Statement.Part.holder.rawValue, of: neverKeys, "nobody plays a part \(reader.owner)",
                hint: "say who must never be what, as in holder = { presence = \"background\" }; {} is anybody")
        }
        let unless = excuses(reader)
        let by = by(reader)
        let parts = players.map(\.part)
        if !players.isEmpty, !parts.contains(where: \.isKeptOut) { refuseBy(unless, by, reader) }
        let across = reader.choice("across", [(Self.cameras, true)]) ?? false
        if across, players.count < 2 {
            reader.complain(
                "across", "means nothing beside one part", atKey: true,
                hint: "it lets two parts or more be played on different cameras")
        }
        guard let name, !players.isEmpty else { return nil }
        return Statement(name: name, .never(players), unless: unless, by: by, isAcrossCameras: across)
    }

    /// The value of `across`.
    private static let cameras = "cameras"

    /// A session that has its camera waits behind no app.
    private func refuseBy(_ unless: [Statement.Excuse], _ by: [FactTest]?, _ reader: TableReader) {
        for (key, isThere) in [("by", by != nil), ("unless", unless.contains { $0.by != nil })] where isThere {
            guard let entry = reader.entry(key) else { continue }
            let subject = key == "by" ? reader.subject("by") : "\"by\" in \(reader.subject("unless"))"
            problems.add(
                "\(subject) asks behind whom a session waits, and nobody in the statement waits", at: entry.keyPlace,
                hint: "it stands beside waiting = { … } or interrupted = { … }")
        }
    }

    private func always(_ table: TomlTable, _ names: inout [String: Place]) -> Statement? {
        let (reader, name) = statement(table, kind: "always", keys: alwaysKeys, &names)
        reader.refuseUnknown(alwaysKeys) { key in
            if neverKeys.contains(key) { return "\"\(key)\" is a key of [[never]]" }
            return factKeys.contains(key) ? "facts go inside when = { … }" : nil
        }
        if reader.entry("when") == nil, !table.entries.contains(where: { factKeys.contains($0.key) }) {
            reader.missing(
                "when", of: alwaysKeys, "no \"when\" \(reader.owner)",
                hint: "say of whom, as in when = { app = \"intercom.service\" }; {} is everybody who asks to run")
        }
        let when = facts("when", reader) ?? []
        let unless = excuses(reader)
        let by = by(reader)
        guard let assertion = demand(when, reader), let name else { return nil }
        if case .atMost = assertion { refuseBy(unless, by, reader) }
        if case .fair = assertion { refuseBy([], by, reader) }
        return Statement(name: name, assertion, unless: unless, by: by)
    }

    /// The one demand that an `[[always]]` makes.
    private func demand(_ when: [FactTest], _ reader: TableReader) -> Statement.Assertion? {
        let demands = ["is", "warned", "at-most"].filter { reader.entry($0) != nil }
        if demands.isEmpty {
            reader.missing(
                "is", of: alwaysKeys, "no \"is\" \(reader.owner)",
                hint: "one of \(Wording.list(Statement.Part.allCases.map(\.rawValue))); or \"warned\", or \"at-most\"")
            return nil
        }
        if demands.count > 1 {
            return reader.wrong(
                demands[1], "is a second demand beside \"\(demands[0])\"", atKey: true,
                hint: "a statement says one thing; write a second one")
        }
        for (key, other) in [("within", "is"), ("fair", "is"), ("in", "at-most")] where other != demands[0] {
            reader.complain(key, "means nothing without \"\(other)\"", atKey: true)
        }
        switch demands[0] {
        case "warned": return reader.duration("warned", in: Bounds.warned).map { .warned(when: when, $0) }
        case "at-most": return atMost(when, reader)
        default: return part(when, reader)
        }
    }

    private func part(_ when: [FactTest], _ reader: TableReader) -> Statement.Assertion? {
        let part = reader.choice("is", Statement.Part.self)
        let fair = reader.boolean("fair") ?? false
        let within = reader.duration("within", in: Bounds.within)
        if fair, reader.entry("within") != nil {
            return reader.wrong(
                "within", "is a second demand beside \"fair\"", atKey: true,
                hint: "a statement says one thing; write a second one")
        }
        guard let part else { return nil }
        if fair {
            if part != .running {
                return reader.wrong("is", "is \"\(part.rawValue)\" beside fair = true, which takes \"running\"")
            }
            return .fair(when: when, is: part)
        }
        if reader.entry("within") != nil { return within.map { .within(when: when, is: part, $0) } }
        return .always(when: when, is: part)
    }

    private func atMost(_ when: [FactTest], _ reader: TableReader) -> Statement.Assertion? {
        if reader.entry("in") == nil {
            reader.missing(
                "in", of: alwaysKeys, "\"at-most\" \(reader.owner) has no \"in\" beside it",
                hint: "say in what time, as in at-most = \"30min\", in = \"2h\"")
        }
        guard let most = reader.duration("at-most", in: Bounds.within),
            let window = reader.duration("in", in: Bounds.within)
        else { return nil }
        return .atMost(when: when, most, in: window)
    }

    private func by(_ reader: TableReader) -> [FactTest]? {
        reader.entry("by") == nil ? nil : facts("by", reader) ?? []
    }

    /// One table, or a list of them: any of them excuses.
    private func excuses(_ reader: TableReader) -> [Statement.Excuse] {
        let takes = "facts in braces, as in { presence = \"background\" }, or a list of such"
        if case .table(let table)? = reader.entry("unless")?.node.value { return [excuse(table, reader)] }
        return (reader.list("unless", takes: takes, countMax: Bounds.excusesMax) ?? []).compactMap { node in
            if case .table(let table) = node.value { return excuse(table, reader) }
            return reader.wrong("unless", "has \(node.value.spoken) in it; it takes \(takes)", at: node.place)
        }
    }

    private func excuse(_ table: TomlTable, _ reader: TableReader) -> Statement.Excuse {
        var own = table
        own.entries.removeAll { $0.key == "by" }
        let inner = TableReader(table, owner: "in \"unless\" \(reader.owner.droppingIn)", problems: problems)
        return Statement.Excuse(when: facts(own, "\"unless\"", reader), by: by(inner))
    }

    private func statement(
        _ table: TomlTable, kind: String, keys: [String], _ names: inout [String: Place]
    ) -> (reader: TableReader, name: String?) {
        unique(
            table, "statement", kind: kind, keys, &names, "`camclient policy verify` names what is broken",
            hint: "`camclient policy verify` names the statement that is broken")
    }
}

private let neverKeys = PolicyKeys.never.map(\.name)
private let alwaysKeys = PolicyKeys.always.map(\.name)
