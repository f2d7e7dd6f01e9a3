import ArbiterProtocol

extension TerminalDrawing {
    private func time(_ moment: Moment) -> String { (moment - timeline.begin).shortText }
    private func times(_ begin: Moment, _ end: Moment) -> String { timeline.words(from: begin, to: end) }

    // MARK: The legend

    /// What stands in the picture, and which name is short for which.
    func legend() -> [String] {
        let states = timeline.lanes.flatMap { $0.spans.map(\.state) }
        var entries: [(sample: String, ink: TerminalStyle.Ink?, words: String)] = []
        func add(_ state: Timeline.State, _ words: String) {
            let letter = state.reason.map { String($0.letter) } ?? ""
            entries.append((letter + String(TerminalStyle.glyph(state)), TerminalStyle.ink(state), words))
        }
        if states.contains(.running) { add(.running, "running") }
        if states.contains(.starting) { add(.starting, "starting") }
        if states.contains(.stopped) { add(.stopped, "stopped") }
        let restricted = states.filter { if case .restricted = $0 { true } else { false } }
        if restricted.contains(where: { $0.reason == nil }) { add(.restricted(.none, CauseSet()), "restricted") }
        for cause in CauseSet(restricted.compactMap(\.reason)).ordered {
            add(.restricted(.none, CauseSet([cause])), "restricted: \(cause.shortName)")
        }
        let interrupted = states.filter { if case .interrupted = $0 { true } else { false } }
        for cause in CauseSet(interrupted.compactMap(\.reason)).ordered {
            add(.interrupted(0, CauseSet([cause]), by: nil), "interrupted: \(cause.shortName)")
        }
        func add(_ sample: String, _ ink: TerminalStyle.Ink?, _ words: String, where has: (Timeline.Lane) -> Bool) {
            if timeline.lanes.contains(where: has) { entries.append((sample, ink, words)) }
        }
        add("─", nil, "holds the camera") { $0.spans.contains { if case .held = $0.state { true } else { false } } }
        add("┄", nil, "told to yield") { !$0.warnings.isEmpty }
        add("●▬■", .brightRed, "recording") { !$0.recordings.isEmpty }
        add("╍", nil, "time that runs") { !$0.deadlines.isEmpty }
        add("┫", .brightRed, "it ran out") { $0.deadlines.contains { !$0.isMet } }
        add("◆", .bold, "photo") { $0.marks.contains { $0.kind == .photo } }
        add("✕", .brightRed, "stopped for good") { $0.marks.contains { $0.kind == .stoppedForGood } }
        add("!", .brightRed, "trouble") { $0.marks.contains { $0.kind == .trouble } }
        var lines: [String] = []
        var line = ""
        var used = 0
        for entry in entries {
            let needed = 3 + entry.sample.columns + entry.words.columns
            if used > 0, used + needed > width {
                lines.append(line)
                (line, used) = ("", 0)
            }
            let shown = style.paint(entry.sample, entry.ink)
            if needed > width {
                let plain = TextColumns.wrap(entry.words, width: width - 3 - entry.sample.columns, first: "", hang: 0)
                let indent = String(repeating: " ", count: 3 + entry.sample.columns)
                lines += plain.enumerated().map { ($0.offset == 0 ? "  \(shown) " : indent) + $0.element }
            } else {
                line += "  \(shown) \(entry.words)"
                used += needed
            }
        }
        if used > 0 { lines.append(line) }
        for pair in names.shortened {
            lines += TextColumns.wrap("is \(pair.name)", width: width, first: "  \(pair.short) ", hang: 4)
        }
        return lines.isEmpty ? [] : [""] + lines
    }

    // MARK: The tables

    /// All of it in words: what is short for a column is whole here.
    func tables() -> [String] {
        table("interrupted", interruptions()) + table("restricted", restrictions())
            + table("told to yield", warnings()) + table("recorded", finishedRecordings())
            + table("held", holders()) + table("deadlines", deadlines()) + table("besides", marks())
            + table("meanwhile", timeline.notes.map { "\(time($0.moment))  \($0.text.printable)" })
    }

    /// A line for each interruption, with its causes in the order in which they came.
    private func interruptions() -> [String] {
        timeline.lanes.flatMap { lane in
            lane.interruptions.map { row in
                "\(lane.name.printable) #\(row.id)  \(times(row.begin, row.end))  "
                    + row.labels.joined(separator: ", then ")
            }
        }
    }

    private func restrictions() -> [String] {
        timeline.lanes.flatMap { lane in
            lane.spans.compactMap { span in
                guard case .restricted = span.state else { return nil }
                return "\(lane.name.printable)  \(times(span.begin, span.end))  "
                    + span.state.label.printable
            }
        }
    }

    private func warnings() -> [String] {
        timeline.lanes.flatMap { lane in
            lane.warnings.map { "\(lane.name.printable)  \(time($0.begin))  \($0.words(since: timeline.begin))" }
        }
    }

    private func finishedRecordings() -> [String] {
        timeline.lanes.flatMap { lane in
            lane.recordings.map { recording in
                "\(lane.name.printable) \(recording.id)  \(times(recording.begin, recording.end))  "
                    + recording.words
            }
        }
    }

    private func holders() -> [String] {
        timeline.lanes.flatMap { lane in
            lane.spans.compactMap { span in
                guard case .held(let holder) = span.state else { return nil }
                return "\(lane.name.printable)  \(times(span.begin, span.end))  by \(holder.printable)"
            }
        }
    }

    private func deadlines() -> [String] {
        timeline.lanes.flatMap { lane in
            lane.deadlines.map { deadline in
                "\(lane.name.printable) \(deadline.kind.rawValue)  \(time(deadline.begin))  "
                    + deadline.words(since: timeline.begin, until: timeline.end)
            }
        }
    }

    /// Marks that say more than their glyph.
    private func marks() -> [String] {
        timeline.lanes.flatMap { lane in
            lane.marks.filter { $0.kind != .photo }.map { mark in
                "\(lane.name.printable)  \(time(mark.moment))  "
                    + "\(mark.kind == .stoppedForGood ? "stopped: " : "")\(mark.label.printable)"
            }
        }
    }

    private func table(_ title: String, _ rows: [String]) -> [String] {
        guard !rows.isEmpty else { return [] }
        return ["", style.paint(title, .bold)]
            + rows.flatMap { TextColumns.wrap($0, width: width, first: "  ", hang: 4) }
    }
}
