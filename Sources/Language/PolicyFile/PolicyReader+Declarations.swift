import Arbiter
import TomlFile
import Vocabulary

/// A policy's declarations, which are read before its rules.
extension PolicyReader {
    func attributes() -> [Attribute] {
        var attributes: [Attribute] = []
        for table in top.tables("attribute", countMax: Bounds.attributesMax) {
            let (reader, name) = named(
                "attribute", table, article: "an", hint: "rules and the order list ask for it by that name"
            ) { name in
                // In a [[rank]] rule a fact stands beside the rule's own keys, and in the order list beside its words.
                let key = EarlierNames.rules[name] ?? name
                if Fact.names.contains(key) { return "a built-in fact" }
                if Contention.OrderKey.builtIn.contains(where: { $0.name == name }) {
                    return "a word of the order list"
                }
                let rules = PolicyKeys.cause.map(\.name) + PolicyKeys.rank.map(\.name)
                // In `unless` it stands beside the facts.
                return rules.contains(key) ? "a key of the rules" : key == "by" ? "a key of statements" : nil
            }
            if reader.entry("values") == nil {
                reader.missing(
                    "values", of: PolicyKeys.attribute.map(\.name), "no \"values\" \(reader.owner)",
                    hint: "add values = [\"…\", \"…\"], the strongest first")
            }
            guard let values = Kind.words.read(reader, "values", self) else { continue }
            let usual = reader.choice("default", values.map { ($0, $0) })
            guard let name, isFirst("attribute", name, among: attributes.map(\.name), reader) else { continue }
            attributes.append(Attribute(name: name, values: values, default: usual))
        }
        return attributes
    }

    func modes() -> [Mode] {
        var modes: [Mode] = []
        for table in top.tables("mode", countMax: Bound.modesMax) {
            let (reader, name) = named("mode", table, hint: "rules ask for it, as in mode = \"…\"") { name in
                name == Mode.none ? "what rules say when no mode is in force" : nil
            }
            // A mode whose calendar cannot be read is there all the same: rules with its name are not wrong.
            var mode = Mode(name: name ?? "")
            read(PolicyKeys.mode, of: reader, but: ["name"], into: &mode)
            guard let name, isFirst("mode", name, among: modes.map(\.name), reader) else { continue }
            if reader.entry("at") == nil, let entry = reader.entry("set-by"), case .array(let nodes) = entry.node.value,
                nodes.isEmpty
            {
                problems.add(
                    "nobody can set mode \(Wording.quoted(name)): its \"set-by\" is empty, and it has no calendar",
                    at: entry.node.place,
                    hint: "say who may, as in set-by = [\"operator\"], or when, as in at = \"22:00-06:00\"")
            }
            modes.append(mode)
        }
        return modes
    }

    func cameras() -> [CameraRule] {
        var cameras: [CameraRule] = []
        for table in top.tables("camera", countMax: Bounds.camerasMax) {
            let (reader, id) = named("camera", table, identity: "id", hint: "camclient devices lists them")
            var camera = CameraRule(camera: CameraID(id ?? ""))
            read(PolicyKeys.camera, of: reader, but: ["id"], into: &camera)
            guard let id else { continue }
            _ = isFirst("camera", id, among: cameras.map(\.camera.name), reader, identity: "id")
            cameras.append(camera)
        }
        return cameras
    }

    /// - Parameter taken: another meaning of the name, which rules ask for as a word.
    private func named(
        _ kind: String, _ table: TomlTable, identity: String = "name", article: String = "a", hint: String,
        taken: ((String) -> String?)? = nil
    ) -> (reader: TableReader, name: String?) {
        let known = PolicyTable.named(kind)?.names ?? []
        let unnamed = TableReader(table, owner: "in \(article) [[\(kind)]] table", problems: problems)
        var name = unnamed.label(identity)
        if unnamed.entry(identity) != nil {
            if let text = name, let taken {
                let complaint =
                    !Bounds.isWord(text)
                    ? "; \(Bounds.wordsOnly)"
                    : taken(text).map { ", which is \($0); \(article) \(kind) needs a name of its own" }
                if let complaint {
                    unnamed.complain(identity, "is \(Wording.quoted(text))\(complaint)")
                    name = nil
                }
            }
        } else {
            unnamed.missing(
                identity, of: known, "\(article) [[\(kind)]] table has no \"\(identity)\"",
                hint: "add \(identity) = \"…\"; \(hint)")
        }
        let reader =
            name.map { TableReader(table, owner: "of \(kind) \(Wording.quoted($0))", problems: problems) } ?? unnamed
        reader.refuseUnknown(known, advice: advice(in: kind))
        return (reader, name)
    }

    private func isFirst(
        _ kind: String, _ name: String, among names: [String], _ reader: TableReader, identity: String = "name"
    ) -> Bool {
        guard names.contains(name), let entry = reader.entry(identity) else { return true }
        problems.add(
            "a second [[\(kind)]] table has the \(identity) \(Wording.quoted(name))", at: entry.node.place)
        return false
    }
}

/// Earlier names of keys. Policies with them still read, and mean the same.
enum EarlierNames {
    /// Of rank rules and of facts. Nobody can declare an attribute by either name.
    static let rules = ["claim": "bid", "override": "immediate"]
}

extension TomlTable {
    /// Where a key stands there by both names, the earlier one is a problem.
    func underTodaysNames(_ problems: ProblemList) -> TomlTable {
        var table = self
        for (index, entry) in entries.enumerated() {
            guard let name = EarlierNames.rules[entry.key] else { continue }
            if entries.contains(where: { $0.key == name }) {
                problems.add(
                    "\(Wording.quoted(entry.key)) is the earlier name of \(Wording.quoted(name)), and both are given",
                    at: entry.keyPlace, hint: "leave it out")
            }
            table.entries[index].key = name
        }
        return table
    }
}
