public import Arbiter

extension PolicyWriter {
    /// Reads back in its place as long as every `never` stands before every `always`, as reading has them.
    mutating func write(_ statement: Statement) {
        let name = Pair("name", quoted: statement.name)
        switch statement.assertion {
        case .never(let players):
            table(statement.header, [name], .statement(statement.name))
            // One in its long form makes all of them long: behind such a table there are only tables.
            let isShort = players.allSatisfy { Pair($0.part.rawValue, $0.when).fitsOnALine }
            for player in players { facts(player.part.rawValue, of: "never", player.when, isShort: isShort) }
        case .always(let when, let part):
            let fair = statement.isFair ? [Pair.fair] : []
            table(statement.header, [name, Pair("is", quoted: part.rawValue)] + fair, .statement(statement.name))
            facts("when", of: "always", when)
        }
    }

    public static func pairs(_ statement: Statement) -> [Pair] {
        let name = Pair("name", quoted: statement.name)
        return switch statement.assertion {
        case .never(let players): [name] + players.map { Pair($0.part.rawValue, $0.when) }
        case .always(let when, let part):
            [name, Pair("when", when), Pair("is", quoted: part.rawValue)] + (statement.isFair ? [Pair.fair] : [])
        }
    }
}

extension PolicyWriter.Pair {
    fileprivate static let fair = Self("fair", "true")
}

extension Statement {
    fileprivate var header: String {
        switch assertion {
        case .never: "[[never]]"
        case .always: "[[always]]"
        }
    }
}
