import Vocabulary

/// Reads one table key by key. A value of the wrong kind is reported and read as `nil`, so that reading goes on and
/// finds the rest.
package struct TableReader {
    package let table: TomlTable
    /// The table in messages: `in rule "Photo booth"`; empty at the top of the file.
    package let owner: String
    package let problems: ProblemList

    package init(_ table: TomlTable, owner: String, problems: ProblemList) {
        (self.table, self.owner, self.problems) = (table, owner, problems)
    }

    package func entry(_ key: String) -> TomlTable.Entry? { table.entries.first { $0.key == key } }

    /// `"grace" in rule "Photo booth"`.
    package func subject(_ key: String) -> String { owner.isEmpty ? "\"\(key)\"" : "\"\(key)\" \(owner)" }

    /// Reports a problem of a key, in words that follow its name; nothing where the key is missing.
    /// - Parameter place: `nil` for that of its value.
    package func complain(
        _ key: String, _ words: String, at place: Place? = nil, atKey: Bool = false, hint: String = ""
    ) {
        guard let entry = entry(key) else { return }
        problems.add("\(subject(key)) \(words)", at: place ?? (atKey ? entry.keyPlace : entry.node.place), hint: hint)
    }

    package func wrong<T>(
        _ key: String, _ words: String, at place: Place? = nil, atKey: Bool = false, hint: String = ""
    ) -> T? {
        complain(key, words, at: place, atKey: atKey, hint: hint)
        return nil
    }

    // MARK: Values

    package func string(_ key: String) -> (text: String, place: Place)? {
        guard let entry = entry(key) else { return nil }
        guard case .string(let text) = entry.node.value else { return wrongType(entry, takes: "a text in quotes") }
        return (text, entry.node.place)
    }

    /// A text for people: one line, bounded, not empty.
    package func label(_ key: String, emptyAllowed: Bool = false, bytesMax: Int = FileBounds.nameBytesMax) -> String? {
        guard let (text, place) = string(key) else { return nil }
        if let reason = FileBounds.complaint(text, emptyAllowed: emptyAllowed, bytesMax: bytesMax) {
            return wrong(key, "\(reason)", at: place)
        }
        return text
    }

    package func boolean(_ key: String) -> Bool? {
        guard let entry = entry(key) else { return nil }
        guard case .boolean(let value) = entry.node.value else {
            var hint = ""
            if case .string(let text) = entry.node.value, text == "true" || text == "false" {
                hint = "write \(text) without quotes"
            }
            return wrongType(entry, takes: "true or false", hint: hint)
        }
        return value
    }

    package func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
        guard let entry = entry(key) else { return nil }
        let takes = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard case .integer(let value) = entry.node.value else { return wrongType(entry, takes: takes) }
        guard let value = Int(exactly: value), range.contains(value) else {
            return wrong(key, "is \(value); it takes \(takes)")
        }
        return value
    }

    package func number(_ key: String, in range: ClosedRange<Double>) -> Double? {
        guard let entry = entry(key) else { return nil }
        let takes = "a number from \(TomlText.number(range.lowerBound)) to \(TomlText.number(range.upperBound))"
        guard let value = entry.node.value.number else { return wrongType(entry, takes: takes) }
        guard range.contains(value) else {
            return wrong(key, "is \(TomlText.number(value)); it takes \(takes)")
        }
        return value
    }

    /// - Parameter rising: whether the second number must be at least the first.
    package func pair(_ key: String, in range: ClosedRange<Double>, rising: Bool) -> (Double, Double)? {
        guard let entry = entry(key) else { return nil }
        let takes =
            "two numbers from \(TomlText.number(range.lowerBound)) to \(TomlText.number(range.upperBound))"
            + (rising ? ", the smaller one first" : "")
        guard case .array(let nodes) = entry.node.value else { return wrongType(entry, takes: takes) }
        let numbers = nodes.compactMap(\.value.number)
        guard nodes.count == 2, numbers.count == 2, numbers.allSatisfy(range.contains),
            !rising || numbers[0] <= numbers[1]
        else {
            return wrong(key, "is \(nodes.spoken); it takes \(takes)")
        }
        return (numbers[0], numbers[1])
    }

    package func duration(_ key: String, in range: ClosedRange<Duration>) -> Duration? {
        guard let entry = entry(key) else { return nil }
        let takes = "a duration such as \"250ms\", \"5s\", \"3min\" or \"1h\""
        guard case .string(let text) = entry.node.value else {
            var hint = ""
            if case .integer(let count) = entry.node.value, count >= 0 { hint = "did you mean \"\(count)s\"?" }
            return wrongType(entry, takes: takes, hint: hint)
        }
        guard let duration = DurationText.read(text) else {
            let hint = DurationText.meant(by: text).map { "did you mean \"\($0)\"?" } ?? ""
            return wrong(key, "is \(Wording.quoted(text)); it takes \(takes)", hint: hint)
        }
        guard range.contains(duration) else {
            let least = DurationText.write(range.lowerBound)
            let most = DurationText.write(range.upperBound)
            return wrong(key, "is \(Wording.quoted(text)); it takes a duration from \"\(least)\" to \"\(most)\"")
        }
        return duration
    }

    package func choice<T>(_ key: String, _ choices: [(name: String, value: T)]) -> T? {
        guard let entry = entry(key) else { return nil }
        let names = choices.map(\.name)
        guard case .string(let text) = entry.node.value else { return wrongType(entry, takes: Wording.list(names)) }
        if let found = choices.first(where: { $0.name == text }) { return found.value }
        return wrong(
            key, "is \(Wording.quoted(text)); it takes \(Wording.list(names))",
            hint: Wording.didYouMean(text, among: names))
    }

    package func choice<T: CaseIterable & RawRepresentable<String>>(_ key: String, _: T.Type) -> T? {
        choice(key, T.allCases.map { ($0.rawValue, $0) })
    }

    package func list(_ key: String, takes: String, countMax: Int) -> [TomlNode]? {
        guard let entry = entry(key) else { return nil }
        guard case .array(let nodes) = entry.node.value else { return wrongType(entry, takes: takes) }
        if nodes.count <= countMax { return nodes }
        return wrong(key, "has \(nodes.count) entries; it takes at most \(countMax)", atKey: true)
    }

    /// `nil` when there is no such key or it is no array.
    package func strings(_ key: String, takes: String, countMax: Int) -> [(text: String, place: Place)]? {
        guard let nodes = list(key, takes: takes, countMax: countMax) else { return nil }
        var texts: [(text: String, place: Place)] = []
        for node in nodes {
            guard case .string(let text) = node.value else {
                complain(key, "has \(node.value.spoken) in it; it takes \(takes)", at: node.place)
                continue
            }
            if texts.contains(where: { $0.text == text }) {
                complain(key, "names \(Wording.quoted(text)) twice", at: node.place)
            }
            texts.append((text, node.place))
        }
        return texts
    }

    package func choices<T>(_ key: String, _ choices: [(name: String, value: T)]) -> [T]? {
        let names = choices.map(\.name)
        let takes = "a list of \(Wording.list(names, "and"))"
        // Twice the set: long enough to read on behind a slip, short enough for any file.
        return strings(key, takes: takes, countMax: 2 * choices.count)?.compactMap { text, place in
            if let found = choices.first(where: { $0.name == text }) { return found.value }
            return wrong(
                key, "has \(Wording.quoted(text)) in it; it takes \(takes)", at: place,
                hint: Wording.didYouMean(text, among: names))
        }
    }

    package func tables(_ key: String, countMax: Int) -> [TomlTable] {
        guard let entry = entry(key) else { return [] }
        let takes = "tables that begin with [[\(key)]]"
        guard case .array(let nodes) = entry.node.value else {
            var hint = ""
            if case .table = entry.node.value { hint = "write [[\(key)]]" }
            complain(key, "is \(entry.node.value.spoken); it takes \(takes)", hint: hint)
            return []
        }
        guard nodes.count <= countMax else {
            problems.add(
                "there are \(nodes.count) [[\(key)]] tables; at most \(countMax) are allowed",
                at: nodes.first?.place ?? entry.keyPlace)
            return []
        }
        return nodes.compactMap { node in
            if case .table(let table) = node.value { return table }
            return wrong(key, "has \(node.value.spoken) in it; it takes \(takes)", at: node.place)
        }
    }

    package func table(_ key: String, takes: String) -> TomlTable? {
        guard let entry = entry(key) else { return nil }
        guard case .table(let table) = entry.node.value else { return wrongType(entry, takes: takes) }
        return table
    }

    // MARK: What is left

    /// Reports a missing key at the table's header; not where an unknown key is nearly the same: one slip is one
    /// problem.
    package func missing(_ key: String, of known: [String], _ message: String, hint: String = "") {
        if table.entries.contains(where: { !known.contains($0.key) && NearestWord.of($0.key, among: known) == key }) {
            return
        }
        problems.add(message, at: table.place, hint: hint)
    }

    /// - Parameter advice: a better hint than the nearest key.
    package func refuseUnknown(_ known: [String], advice: (String) -> String? = { _ in nil }) {
        for entry in table.entries where !known.contains(entry.key) {
            let suggestion = Wording.didYouMean(entry.key, among: known)
            let allowed = "known here: \(known.joined(separator: ", "))"
            problems.add(
                "unknown key \(Wording.quoted(entry.key))\(owner.isEmpty ? "" : " \(owner)")", at: entry.keyPlace,
                hint: advice(entry.key) ?? (suggestion.isEmpty ? allowed : suggestion))
        }
    }

    package func wrongType<T>(_ entry: TomlTable.Entry, takes: String, hint: String = "") -> T? {
        return wrong(entry.key, "is \(entry.node.value.spoken); it takes \(takes)", hint: hint)
    }
}

extension TomlNode.Value {
    fileprivate var number: Double? {
        switch self {
        case .integer(let whole): Double(whole)
        case .float(let number): number
        case .table, .array, .string, .boolean, .date: nil
        }
    }

    package var spoken: String {
        switch self {
        case .table: "a table"
        case .array: "a list"
        case .string(let text): Wording.quoted(text)
        case .integer(let value): "the number \(value)"
        case .float(let value): "the number \(value)"
        case .boolean(let value): "\(value)"
        case .date: "a date"
        }
    }
}

extension [TomlNode] {
    fileprivate var spoken: String {
        if count > 4 { return "a list of \(count) values" }
        let words = map { node in
            switch node.value {
            case .integer(let number): "\(number)"
            case .float(let number): TomlText.number(number)
            case .table, .array, .string, .boolean, .date: node.value.spoken
            }
        }
        return "[\(words.joined(separator: ", "))]"
    }
}
