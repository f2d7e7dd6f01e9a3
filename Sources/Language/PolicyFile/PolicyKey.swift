import Arbiter
public import ArbiterProtocol

/// A key of the policy language, with the table that it stands in.
public struct PolicyKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// As in its header, without brackets; "": the top of the file.
    public let table: String
    public let name: String

    public init(_ table: String, _ name: String) {
        self.table = table
        self.name = name
    }

    /// Such as `contention.tie`, or `sources`.
    public var description: String { table.isEmpty ? name : "\(table).\(name)" }

    /// - Parameter words: as in `description`.
    public init(spoken words: some StringProtocol) {
        let parts = words.split(separator: ".", maxSplits: 1)
        self.init(parts.count == 2 ? String(parts[0]) : "", String(parts.last ?? ""))
    }

    public static func < (a: PolicyKey, b: PolicyKey) -> Bool { (a.table, a.name) < (b.table, b.name) }
}

extension PolicyFile {
    /// Every key of the language, in the order of the tables: the keys that the reader takes.
    public static let language: [PolicyKey] = {
        let tables: [(String, [String])] = [
            ("access", PolicyReader.accessKeys), ("attribute", PolicyReader.attributeKeys),
            ("mode", PolicyReader.modeKeys), ("cause", PolicyReader.causeKeys),
            ("rank", PolicyReader.rankKeys + FactReader.keys), ("pressure", PolicyReader.pressureKeys),
            ("contention", PolicyReader.contentionKeys), ("shell", PolicyReader.speakerKeys),
            ("agent", PolicyReader.speakerKeys), ("camera", PolicyReader.cameraKeys),
            ("never", PolicyReader.neverKeys), ("always", PolicyReader.alwaysKeys),
        ]
        let top = PolicyReader.keys.filter { key in !tables.contains { $0.0 == key } }
        return top.map { PolicyKey("", $0) } + tables.flatMap { table, keys in keys.map { PolicyKey(table, $0) } }
    }()

    /// Their names, each once: `docs/policy.md` shows each.
    package static var keys: [String] {
        language.map(\.name).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}

extension Policy {
    private typealias SaidLine = (key: PolicyKey, line: String)

    /// Each key with its line in the file.
    private static func lines(_ text: String) -> [SaidLine] {
        PolicyHash.sections(of: text).flatMap { section in
            let header = section.header.filter { $0 != "[" && $0 != "]" }.split(separator: ".")
            // A long list is written over several lines.
            let whole = section.lines.reduce(into: [String]()) { lines, line in
                let goesOn = line.hasPrefix(" ") || line.hasPrefix("]")
                if goesOn, !lines.isEmpty { lines[lines.count - 1] += line } else { lines.append(line) }
            }
            return whole.map { line in
                // A long `when` is a table of its own below its rule.
                let name = header.count > 1 ? header[1] : line.prefix { $0 != " " }
                return (PolicyKey(header.first.map(String.init) ?? "", String(name)), section.header + line)
            }
        }
    }

    /// The keys that the policy says and that can decide something: without names and statements, and without what would
    /// hold anyway.
    public var decidingKeys: Set<PolicyKey> { Set(Self.lines(hashedText).map(\.key)) }

    /// All keys that the policy says, without what would hold anyway.
    public var saidKeys: Set<PolicyKey> {
        Set(Self.lines(PolicyWriter.text(self)).filter { !Self.usualLines.contains($0.line) }.map(\.key))
    }

    private static let usualLines = Set(lines(PolicyWriter.text(Policy(name: ""))).map(\.line))

    /// The keys by which two policies differ in what they can decide. Where all lines are the same in another order, the keys
    /// of the tables that are in another place.
    public func keysThatDiffer(from other: Policy) -> Set<PolicyKey> {
        let (own, others) = (Self.lines(hashedText), Self.lines(other.hashedText))
        func more(_ lines: [SaidLine], than others: [SaidLine]) -> [PolicyKey] {
            var rest = others.map(\.line)
            return lines.filter { said in
                guard let place = rest.firstIndex(of: said.line) else { return true }
                rest.remove(at: place)
                return false
            }.map(\.key)
        }
        let found = Set(more(own, than: others) + more(others, than: own))
        return found.isEmpty ? Set(zip(own, others).filter { $0.line != $1.line }.map(\.0.key)) : found
    }
}
