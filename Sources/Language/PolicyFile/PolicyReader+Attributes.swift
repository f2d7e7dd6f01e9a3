import Arbiter
import ArbiterProtocol
import TomlFile

extension PolicyReader {
    static let attributeKeys = ["name", "values", "default"]

    /// What a policy wants to know of apps beyond the built-in facts. Read before the rules, which may name them.
    func attributes() -> [Attribute] {
        var attributes: [Attribute] = []
        for table in top.tables("attribute", countMax: Bounds.attributesMax) {
            let unnamed = TableReader(table, owner: "in an [[attribute]] table", problems: problems)
            let name = attributeName(unnamed)
            let reader =
                name.map { TableReader(table, owner: "of attribute \(Wording.quoted($0))", problems: problems) }
                ?? unnamed
            reader.refuseUnknown(Self.attributeKeys, advice: Self.advice(at: "[[attribute]]"))
            guard let values = values(reader) else { continue }
            var defaultValue: String?
            if reader.entry("default") != nil { defaultValue = reader.choice("default", values.map { ($0, $0) }) }
            guard let name else { continue }
            if attributes.contains(where: { $0.name == name }), let entry = reader.entry("name") {
                problems.add("a second [[attribute]] table has the name \(Wording.quoted(name))", at: entry.node.place)
                continue
            }
            attributes.append(Attribute(name: name, values: values, default: defaultValue))
        }
        return attributes
    }

    /// The name that a table of the policy's own facts begins with: a word, since rules ask for it as one.
    func word(
        _ reader: TableReader, of keys: [String], missing: String, hint: String
    ) -> (name: String, place: Place)? {
        guard let entry = reader.entry("name") else {
            reader.missing("name", of: keys, missing, hint: hint)
            return nil
        }
        guard let name = reader.label("name") else { return nil }
        guard Bounds.isWord(name) else {
            problems.add(
                "\(reader.subject("name")) is \(Wording.quoted(name)); \(Self.wordsOnly)", at: entry.node.place)
            return nil
        }
        return (name, entry.node.place)
    }

    private func attributeName(_ reader: TableReader) -> String? {
        let named = word(
            reader, of: Self.attributeKeys, missing: "an [[attribute]] table has no \"name\"",
            hint: "add name = \"…\"; rules and the order list ask for it by that name")
        guard let (name, place) = named else { return nil }
        // In a [[rank]] rule a fact stands beside the rule's own keys, and in the order list beside its words.
        let key = EarlierNames.rules[name] ?? name
        let taken =
            FactReader.keys.contains(key)
            ? "a built-in fact"
            : Contention.OrderKey.builtIn.contains { $0.name == name }
                ? "a word of the order list"
                : (Self.causeKeys + Self.rankKeys).contains(key)
                    ? "a key of the rules"
                    // In `unless` it stands beside the facts.
                    : key == "by" ? "a key of statements" : nil
        if let taken {
            problems.add(
                "\(reader.subject("name")) is \(Wording.quoted(name)), which is \(taken); an attribute needs a name of its own",
                at: place)
            return nil
        }
        return name
    }

    private func values(_ reader: TableReader) -> [String]? {
        let takes = "a list of names, the strongest first"
        guard let entry = reader.entry("values") else {
            reader.missing(
                "values", of: Self.attributeKeys, "no \"values\" \(reader.owner)",
                hint: "add values = [\"…\", \"…\"], the strongest first")
            return nil
        }
        guard let values = reader.strings("values", takes: takes, countMax: Bounds.attributeValuesMax) else {
            return nil
        }
        for (value, place) in values where !Bounds.isWord(value) {
            problems.add("\(reader.subject("values")) has \(Wording.quoted(value)) in it; \(Self.wordsOnly)", at: place)
        }
        if values.isEmpty, case .array(let nodes) = entry.node.value, nodes.isEmpty {
            problems.add("\(reader.subject("values")) is empty; it takes \(takes)", at: entry.node.place)
        }
        return values.isEmpty ? nil : values.map(\.text)
    }

    static let wordsOnly = "it takes letters, digits and hyphens, at most \(Bounds.wordBytesMax) of them"
}
