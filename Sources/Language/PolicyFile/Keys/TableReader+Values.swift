import Arbiter
import TomlFile
import Vocabulary

extension TableReader {
    func refuse(_ what: String, of key: String, _ complaint: String?, at place: Place) {
        if let complaint { problems.add("\(what) in \(subject(key)) \(complaint)", at: place) }
    }

    /// `nil` for an empty list, which is reported where the file's list is empty.
    func nonempty(_ key: String, _ values: [String], takes: String) -> [String]? {
        if values.isEmpty, let entry = entry(key), case .array(let nodes) = entry.node.value, nodes.isEmpty {
            complain(key, "is empty; it takes \(takes)")
        }
        return values.isEmpty ? nil : values
    }

    func unit(_ key: String) -> String? {
        guard let unit = label(key) else { return nil }
        if Bounds.isUnit(unit) { return unit }
        return wrong(
            key, "is \(Wording.quoted(unit)); it takes the whole name of a service or a scope of systemd's",
            hint: Bounds.isUnit(unit + ".service") ? "did you mean \(Wording.quoted(unit + ".service"))?" : "")
    }

    /// Names and numbers of users or groups. A name that the machine does not have is nobody's, and no fault of the
    /// file, which may be for many machines.
    func accounts(_ key: String, _ number: (String) -> UInt32?) -> [Rights.Account]? {
        guard let nodes = list(key, takes: Self.takesAccounts, countMax: Bounds.accessNamesMax) else { return nil }
        var found: [Rights.Account] = []
        for node in nodes {
            guard let account = account(node, key, number) else { continue }
            if found.contains(where: { $0.name == account.name && (account.name != nil || $0.number == account.number) }
            ) {
                complain(key, "names \(node.value.spoken) twice", at: node.place)
            }
            found.append(account)
        }
        return found
    }

    private static let takesAccounts = "a list of names and numbers, as in [\"alice\", 1001]"

    /// `nil` for other values, which are reported.
    private func account(_ node: TomlNode, _ key: String, _ number: (String) -> UInt32?) -> Rights.Account? {
        switch node.value {
        case .string(let name):
            let complaint = FileBounds.complaint(name)
            refuse("a name", of: key, complaint, at: node.place)
            return complaint == nil ? Rights.Account(name: name, number: number(name)) : nil
        case .integer(let value):
            let range = Bounds.accountNumber
            if let value = UInt32(exactly: value), range.contains(Int(value)) { return Rights.Account(number: value) }
            return wrong(
                key, "has \(value) in it; a number is from \(range.lowerBound) to \(range.upperBound)",
                at: node.place)
        case .table, .array, .float, .boolean, .date:
            return wrong(key, "has \(node.value.spoken) in it; it takes \(Self.takesAccounts)", at: node.place)
        }
    }

    /// The beginnings of levels; a missing one is never reached by this.
    func levels(_ key: String, in range: ClosedRange<Double>) -> PressureSettings.Levels? {
        let takes = "levels in braces, as in { fair = 30, serious = 60, critical = 80 }"
        guard let table = table(key, takes: takes) else { return nil }
        let reader = TableReader(table, owner: "in \"\(key)\" \(owner.droppingIn)", problems: problems)
        let allowed = SystemPressure.allCases.filter { $0 > .nominal }
        reader.refuseUnknown(allowed.map(\.wireName))
        var levels = PressureSettings.Levels()
        var below: (name: String, value: Double)?
        for level in allowed {
            guard let value = reader.number(level.wireName, in: range) else { continue }
            levels[level] = value
            if let below, value <= below.value {
                reader.complain(
                    level.wireName,
                    "is \(TomlText.number(value)), which is not above "
                        + "\"\(below.name)\"; a harder pressure begins at a higher figure")
            }
            below = (level.wireName, value)
        }
        return levels
    }

    /// One part of the week, or a list of them. `nil` where it is missing, or cannot be read.
    func calendar(_ key: String) -> [CalendarSpan]? {
        guard let entry = entry(key) else { return nil }
        let takes = "a time of the week, or a list of them"
        var texts: [(text: String, place: Place)] = []
        switch entry.node.value {
        case .string(let text): texts = [(text, entry.node.place)]
        case .array:
            guard let list = strings(key, takes: takes, countMax: Bounds.calendarSpansMax) else { return nil }
            texts = list
        default: return wrongType(entry, takes: takes)
        }
        let spans = texts.compactMap { span($0, at: $1, key) }
        return spans.count == texts.count ? spans : nil
    }

    private func span(_ text: String, at place: Place, _ key: String) -> CalendarSpan? {
        do throws(CalendarSpan.Mistake) {
            let span = try CalendarSpan(text)
            if span.neverHolds {
                problems.add(
                    "\(Wording.quoted(text)) in \(subject(key)) is a calendar that never holds: it ends when it begins",
                    at: place, hint: "the whole day is \"00:00-24:00\"")
            }
            return span
        } catch {
            problems.add(
                "\(Wording.quoted(text)) in \(subject(key)) \(error.complaint)", at: place, hint: error.hint)
            return nil
        }
    }
}

extension String {
    /// `in rule "X"` as `of rule "X"`, to stand behind another place.
    var droppingIn: String { hasPrefix("in ") ? "of \(dropFirst(3))" : self }
}
