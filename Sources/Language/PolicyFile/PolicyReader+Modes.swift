import Arbiter
import ArbiterProtocol
import TomlFile

extension PolicyReader {
    static let modeKeys = ["name", "at", "set-by"]

    /// Values for the whole machine. Read before the rules, which may name them.
    func modes() -> [Mode] {
        var modes: [Mode] = []
        for table in top.tables("mode", countMax: Bound.modesMax) {
            let unnamed = TableReader(table, owner: "in a [[mode]] table", problems: problems)
            let name = modeName(unnamed)
            let reader =
                name.map { TableReader(table, owner: "of mode \(Wording.quoted($0))", problems: problems) } ?? unnamed
            reader.refuseUnknown(Self.modeKeys, advice: Self.advice(at: "[[mode]]"))
            let at = calendar(reader)
            let setters =
                reader.entry("set-by") == nil
                ? Mode.Setter.allCases : reader.choices("set-by", Mode.Setter.allCases.map { ($0.rawValue, $0) })
            guard let name else { continue }
            if modes.contains(where: { $0.name == name }), let entry = reader.entry("name") {
                problems.add("a second [[mode]] table has the name \(Wording.quoted(name))", at: entry.node.place)
                continue
            }
            if setters?.isEmpty == true, reader.entry("at") == nil, let entry = reader.entry("set-by"),
                case .array(let nodes) = entry.node.value, nodes.isEmpty
            {
                problems.add(
                    "nobody can set mode \(Wording.quoted(name)): its \"set-by\" is empty, and it has no calendar",
                    at: entry.node.place,
                    hint: "say who may, as in set-by = [\"operator\"], or when, as in at = \"22:00-06:00\"")
            }
            // One whose calendar cannot be read is there all the same: rules that name it are not wrong.
            modes.append(Mode(name: name, at: at ?? [], setBy: setters ?? Mode.Setter.allCases))
        }
        return modes
    }

    private func modeName(_ reader: TableReader) -> String? {
        let named = word(
            reader, of: Self.modeKeys, missing: "a [[mode]] table has no \"name\"",
            hint: "add name = \"…\"; rules ask for it, as in mode = \"…\"")
        guard let (name, place) = named else { return nil }
        guard name != Mode.none else {
            problems.add(
                "\(reader.subject("name")) is \"none\", which is what rules say when no mode is in force; a mode needs a name "
                    + "of its own", at: place)
            return nil
        }
        return name
    }

    /// One part of the week, or a list of them. Nil: what is there cannot be read.
    private func calendar(_ reader: TableReader) -> [CalendarSpan]? {
        guard let entry = reader.entry("at") else { return [] }
        let takes = "a time of the week, or a list of them"
        var texts: [(text: String, place: Place)] = []
        switch entry.node.value {
        case .string(let text): texts = [(text, entry.node.place)]
        case .array:
            guard let list = reader.strings("at", takes: takes, countMax: Bounds.calendarSpansMax) else { return nil }
            texts = list
        default: return reader.wrongType(entry, takes: takes)
        }
        var spans: [CalendarSpan] = []
        for (text, place) in texts {
            do throws(CalendarSpan.Mistake) {
                let span = try CalendarSpan(text)
                if span.neverHolds {
                    problems.add(
                        "\(Wording.quoted(text)) in \(reader.subject("at")) is a calendar that never holds: it ends when it begins",
                        at: place, hint: "the whole day is \"00:00-24:00\"")
                }
                spans.append(span)
            } catch {
                problems.add(
                    "\(Wording.quoted(text)) in \(reader.subject("at")) \(error.complaint)", at: place, hint: error.hint
                )
            }
        }
        return spans.count == texts.count ? spans : nil
    }
}
