public import Arbiter
import TomlFile

extension PolicyWriter {
    /// Reads back in its place as long as every `never` stands before every `always`, as reading has them.
    mutating func write(_ statement: Statement) {
        let header = statement.isNever ? "never" : "always"
        let demand = Self.demand(of: statement)
        table("[[\(header)]]", [Pair("name", quoted: statement.name)] + demand, .statement(statement.name))
        let roles = Self.roles(of: statement) + (statement.by.map { [("by", $0)] } ?? [])
        let unless = Self.unless(of: statement)
        // One in its long form makes all of them long: behind such a table there are only tables.
        let isShort = roles.allSatisfy { Pair($0.key, $0.when).fitsOnALine } && unless?.fitsOnALine ?? true
        for role in roles { facts(role.key, of: header, role.when, isShort: isShort) }
        if let unless, isShort { return write(unless) }
        for excuse in statement.unless {
            write(line: "[[\(header).unless]]")
            for fact in excuse.when { write(Pair(fact)) }
            if let by = excuse.by { facts("by", of: "\(header).unless", by, isShort: Pair("by", by).fitsOnALine) }
        }
    }

    public static func pairs(_ statement: Statement) -> [Pair] {
        let roles = roles(of: statement).map { Pair($0.key, $0.when) }
        let by = statement.by.map { [Pair("by", $0)] } ?? []
        let unless = unless(of: statement).map { [$0] } ?? []
        let name = Pair("name", quoted: statement.name)
        let demand = demand(of: statement)
        return [name] + roles + demand + by + unless
    }

    /// What it says besides facts.
    private static func demand(of statement: Statement) -> [Pair] {
        switch statement.assertion {
        case .never: statement.isAcrossCameras ? [Pair("across", quoted: "cameras")] : []
        case .always(_, let part): [Pair("is", quoted: part.rawValue)]
        case .within(_, let part, let time): [Pair("is", quoted: part.rawValue), Pair("within", time)]
        case .warned(_, let time): [Pair("warned", time)]
        case .atMost(_, let time, let window): [Pair("at-most", time), Pair("in", window)]
        case .fair(_, let part): [Pair("is", quoted: part.rawValue), Pair("fair", "true")]
        }
    }

    private static func roles(of statement: Statement) -> [(key: String, when: [FactTest])] {
        guard case .never(let players) = statement.assertion else { return [("when", statement.roles.first ?? [])] }
        return players.map { ($0.part.rawValue, $0.when) }
    }

    /// One table, or a list of several.
    private static func unless(of statement: Statement) -> Pair? {
        if statement.unless.isEmpty { return nil }
        let all = statement.unless.map { excuse in
            let pairs = excuse.when.map(Pair.init) + (excuse.by.map { [Pair("by", $0)] } ?? [])
            return pairs.isEmpty ? "{}" : "{ \(pairs.map(\.line).joined(separator: ", ")) }"
        }
        return Pair("unless", all.count == 1 ? all[0] : "[\(all.joined(separator: ", "))]")
    }
}
