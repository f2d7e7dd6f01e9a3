import ArbiterProtocol

extension Timeline {
    /// `2s to 4s`, or `4.2s on`: what goes on at the picture's end has none of its own, and the picture may end later than what
    /// is in it, so that the last of that shows.
    func words(from begin: Moment, to end: Moment) -> String {
        let since = (begin - self.begin).shortText
        return end < self.end ? "\(since) to \((end - self.begin).shortText)" : "\(since) on"
    }
}

extension Timeline.Lane {
    /// One interruption from its beginning to its end, with its causes in the order in which they came.
    struct Interruption {
        var id: InterruptionID
        var begin: Moment
        var end: Moment
        var labels: [String]
    }

    var interruptions: [Interruption] {
        var rows: [Interruption] = []
        for span in spans {
            guard case .interrupted(let id, _, _) = span.state else { continue }
            let label = span.state.label.printable
            // Numbers begin anew with another session of the same name; such a row does not go on.
            if let last = rows.indices.last, rows[last].id == id, rows[last].end == span.begin {
                rows[last].end = span.end
                if rows[last].labels.last != label { rows[last].labels.append(label) }
            } else {
                rows.append(Interruption(id: id, begin: span.begin, end: span.end, labels: [label]))
            }
        }
        return rows
    }
}

extension Timeline.Recording {
    /// How it ended.
    var words: String {
        finished.map { end in
            end.why.rawValue + (end.duration.map { " after \($0.shortText)" } ?? "")
                + (end.frames.map { $0 == 0 ? "" : ", \($0) frames" } ?? "")
        } ?? "not finished"
    }
}

extension Timeline.Warning {
    /// `device-in-use, due 5s, over at 2s`; times count from the picture's beginning.
    func words(since begin: Moment) -> String {
        let isKnown = deadline < .distantFuture
        let due = isKnown ? ", due \((deadline - begin).shortText)" : ""
        if isWithdrawn { return "\(cause.shortName)\(due), withdrawn at \((end - begin).shortText)" }
        if isKnown, end >= deadline { return "\(cause.shortName)\(due), and then cut" }
        return "\(cause.shortName)\(due), over at \((end - begin).shortText)"
    }
}
