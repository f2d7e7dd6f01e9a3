import TomlFile

/// Merges files (`docs/policy.md`): a later one wins. Tables and not policies are merged, so that one reader reads them
/// all and every problem keeps its place.
extension TomlTable {
    func overlaid(by later: TomlTable) -> TomlTable {
        overlaid(by: later) { key, mine, theirs in
            guard let table = PolicyTable.all.first(where: { $0.name == key }) else { return theirs }
            guard let identity = table.identity else {
                guard case .table(let mine) = mine.value, case .table(let over) = theirs.value else { return theirs }
                return TomlNode(value: .table(mine.overlaid(by: over) { _, _, theirs in theirs }), place: theirs.place)
            }
            // A value of the wrong shape stays, for the reader to report.
            guard case .array(let mine) = mine.value else { return mine }
            guard case .array(let over) = theirs.value else { return theirs }
            return TomlNode(value: .array(Self.merge(mine, over, identity, table.isOrdered)), place: theirs.place)
        }
    }

    private func overlaid(by later: TomlTable, _ merged: (String, TomlNode, TomlNode) -> TomlNode) -> TomlTable {
        var entries = entries
        for entry in later.entries {
            if let index = entries.firstIndex(where: { $0.key == entry.key }) {
                let node = merged(entry.key, entries[index].node, entry.node)
                entries[index] = Entry(key: entry.key, keyPlace: entry.keyPlace, node: node)
            } else {
                entries.append(entry)
            }
        }
        return TomlTable(entries: entries, place: place)
    }

    private static func merge(
        _ old: [TomlNode], _ new: [TomlNode], _ identity: String, _ isOrdered: Bool
    ) -> [TomlNode] {
        var merged = old
        var replaced: Set<Int> = []
        var added: [TomlNode] = []
        for node in new {
            let name = node.text(of: identity)
            // A second one of that name in one file does not replace the first: the reader refuses it.
            if let name, let index = old.firstIndex(where: { $0.text(of: identity) == name }),
                replaced.insert(index).inserted
            {
                merged[index] = node
            } else {
                added.append(node)
            }
        }
        return isOrdered ? added + merged : merged + added
    }
}

extension TomlNode {
    func text(of key: String) -> String? {
        guard case .table(let table) = value, case .string(let text)? = table.entry(key)?.node.value else { return nil }
        return text
    }
}

extension TomlTable {
    func entry(_ key: String) -> Entry? { entries.first { $0.key == key } }

    /// None where there is no list.
    func nodes(_ key: String) -> [TomlNode] {
        if case .array(let nodes)? = entry(key)?.node.value { nodes } else { [] }
    }

    func table(_ key: String, named name: String) -> TomlTable? {
        guard case .table(let table)? = nodes(key).first(where: { $0.text(of: "name") == name })?.value else {
            return nil
        }
        return table
    }
}
