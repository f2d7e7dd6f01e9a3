import ArbiterProtocol

extension Timeline {
    /// A narrower drawing would be unreadable; it gets this width.
    public static let terminalWidthMin = 20
    /// A wider drawing gets this width.
    public static let terminalWidthMax = 400

    /// The picture as lines for a terminal, none wider than `width` columns: the lanes with a time axis, a legend, then a table of
    /// every interruption, recording, deadline and note with its times, so that nothing depends on the room in a lane.
    public func terminalLines(width: Int, style: TerminalStyle) -> [String] {
        let width = min(max(width, Self.terminalWidthMin), Self.terminalWidthMax)
        return TerminalDrawing(timeline: self, width: width, style: style).lines()
    }
}

struct TerminalDrawing {
    private let timeline: Timeline
    private let width: Int
    private let style: TerminalStyle
    private let names: ShortNames
    private let labelWidth: Int
    private let columns: Int

    private static let recordingLabel = "  recording"

    /// The cell after a character that is two columns wide is empty.
    private typealias Cell = (glyph: String, ink: TerminalStyle.Ink?)

    init(timeline: Timeline, width: Int, style: TerminalStyle) {
        (self.timeline, self.width, self.style) = (timeline, width, style)
        let names = timeline.lanes.map(\.shownName)
        var labels = names
        if timeline.lanes.contains(where: { !$0.recordings.isEmpty }) { labels.append(Self.recordingLabel) }
        labels += timeline.lanes.flatMap(\.deadlines).map { Self.label(of: $0.kind) }
        // Names take a third of the line at most.
        labelWidth = min((labels.map(\.columns).max() ?? 0) + 2, width / 3)
        columns = width - labelWidth
        self.names = ShortNames(names, columns: labelWidth - 1)
    }

    func lines() -> [String] {
        var lines = [axis()]
        for (index, lane) in timeline.lanes.enumerated() {
            lines.append(names[index].padded(labelWidth) + picture(of: lane))
            lines += row(Self.recordingLabel, lane.recordings, "▬", .brightRed) { recording, range, cells in
                cells[range.lowerBound].glyph = "●"
                if range.count > 1, recording.finished != nil { cells[range.upperBound - 1].glyph = "■" }
            }
            for kind in Timeline.Deadline.Kind.allCases {
                lines += row(Self.label(of: kind), lane.deadlines.filter { $0.kind == kind }, "╍", nil) {
                    if !$0.isMet { $2[$1.upperBound - 1] = ("┫", .brightRed) }
                }
            }
        }
        return (lines + legend() + tables()).map(\.trimmedAtEnd)
    }

    private static func label(of kind: Timeline.Deadline.Kind) -> String { "  \(kind.rawValue)" }

    private func column(_ moment: Moment) -> Int { Int(timeline.share(moment) * Double(columns)) }

    /// The columns of a part: one at least.
    private func range(_ part: some TimelinePart) -> Range<Int> {
        let first = min(column(part.begin), columns - 1)
        return first..<max(first + 1, column(part.end))
    }

    private func axis() -> String {
        var cells = [Character](repeating: " ", count: columns)
        var free = 0
        for tick in TimeAxis.ticks(timeline.duration, atMost: max(1, columns / 10)) {
            let text = TimeAxis.text(tick)
            let place = column(timeline.begin + tick)
            guard place >= free, place + text.count <= columns else { continue }
            for (offset, character) in text.enumerated() { cells[place + offset] = character }
            free = place + text.count + 1
        }
        return "".padded(labelWidth) + style.paint(String(cells).trimmedAtEnd, .faint)
    }

    private func picture(of lane: Timeline.Lane) -> String {
        var cells = [Cell](repeating: (" ", nil), count: columns)
        var tiny: [Timeline.Span] = []
        for span in lane.spans {
            let range = column(span.begin)..<column(span.end)
            if range.isEmpty {
                tiny.append(span)
                continue
            }
            for column in range { put(String(span.state.look.glyph), span.state.look.ink, column, &cells) }
            write(span, range, &cells)
        }
        for warning in lane.warnings {
            for column in column(warning.begin)..<column(warning.end) { put("┄", cells[column].ink, column, &cells) }
        }
        // A handover that is shorter than a column still shows; other states would only hide a name.
        for span in tiny {
            switch span.state {
            case .interrupted, .restricted, .running:
                let glyph = span.state.reason?.look.letter ?? span.state.look.glyph
                put(String(glyph), span.state.look.ink, range(span).lowerBound, &cells)
            case .stopped, .free, .starting, .held: break
            }
        }
        for mark in lane.marks {
            put(mark.kind.look.glyph, mark.kind.look.ink, min(column(mark.moment), columns - 1), &cells)
        }
        for span in lane.spans { keepLetter(of: span, &cells) }
        return painted(cells)
    }

    /// A covered letter moves to the next place of its span.
    private func keepLetter(of span: Timeline.Span, _ cells: inout [Cell]) {
        let range = column(span.begin)..<column(span.end)
        guard let letter = span.state.reason?.look.letter, let first = range.first, cells[first].glyph != String(letter)
        else { return }
        let own = String(span.state.look.glyph)
        guard let free = range.first(where: { cells[$0].glyph == own }) else { return }
        put(String(letter), span.state.look.ink, free, &cells)
    }

    /// Puts a glyph into a cell; the other half of a wide character that was there is cleared.
    private func put(_ glyph: String, _ ink: TerminalStyle.Ink?, _ column: Int, _ cells: inout [Cell]) {
        if cells[column].glyph.isEmpty, column > 0 { cells[column - 1].glyph = " " }
        if column + 1 < cells.count, cells[column + 1].glyph.isEmpty { cells[column + 1].glyph = " " }
        cells[column] = (glyph, ink)
    }

    private func write(_ span: Timeline.Span, _ range: Range<Int>, _ cells: inout [Cell]) {
        let ink = span.state.look.ink
        var start = range.lowerBound
        let shown: String
        switch span.state {
        case .interrupted, .restricted:
            if let letter = span.state.reason?.look.letter { put(String(letter), ink, start, &cells) }
            let labels = span.state.labels.map { " \($0.printable) " }
            // A glyph on each side stands between the letter and the next span.
            guard let fitting = labels.first(where: { $0.columns + 3 <= range.count }) else { return }
            shown = fitting
            start += (range.count - shown.columns) / 2
        case .held(let holder):
            let name = holder.printable
            // The gap keeps it apart from the next name.
            shown = name.columns < range.count ? "\(name) " : "\(names.told(name)) ".fitted(range.count)
        case .running, .starting, .stopped, .free: return
        }
        for character in shown {
            put(String(character), ink, start, &cells)
            start += 1
            if TextColumns.of(character) == 2 {
                cells[start] = ("", ink)
                start += 1
            }
        }
    }

    /// A row of bars beneath a lane; none without a part.
    private func row<Part: TimelinePart>(
        _ label: String, _ parts: [Part], _ glyph: String, _ ink: TerminalStyle.Ink?,
        _ end: (Part, Range<Int>, inout [Cell]) -> Void
    ) -> [String] {
        if parts.isEmpty { return [] }
        var cells = [Cell](repeating: (" ", nil), count: columns)
        for part in parts {
            for column in range(part) { cells[column] = (glyph, ink) }
            end(part, range(part), &cells)
        }
        return [label.fitted(labelWidth - 1).padded(labelWidth) + painted(cells)]
    }

    private func painted(_ cells: [Cell]) -> String {
        var (text, run) = ("", "")
        var ink: TerminalStyle.Ink?
        let end = cells.lastIndex { $0.glyph != " " }.map { $0 + 1 } ?? 0
        for cell in cells[..<end] {
            if cell.ink != ink {
                text += style.paint(run, ink)
                (run, ink) = ("", cell.ink)
            }
            run += cell.glyph
        }
        return text + style.paint(run, ink)
    }

    private func legend() -> [String] {
        var entries: [(sample: String, ink: TerminalStyle.Ink?, words: String)] = []
        for (state, words) in timeline.lanes.statesToExplain {
            let letter = state.reason.map { String($0.look.letter) } ?? ""
            entries.append((letter + String(state.look.glyph), state.look.ink, words))
        }
        func add(_ sample: String, _ ink: TerminalStyle.Ink?, _ words: String, where has: (Timeline.Lane) -> Bool) {
            if timeline.lanes.contains(where: has) { entries.append((sample, ink, words)) }
        }
        add("┄", nil, "told to yield") { !$0.warnings.isEmpty }
        add("●▬■", .brightRed, "recording") { !$0.recordings.isEmpty }
        add("╍", nil, "time that runs") { !$0.deadlines.isEmpty }
        add("┫", .brightRed, "it ran out") { $0.deadlines.contains { !$0.isMet } }
        entries += timeline.lanes.marks.map { ($0.look.glyph, $0.look.ink, $0.look.words) }
        var lines: [String] = []
        var (line, used) = ("", 0)
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

    private func tables() -> [String] {
        timeline.tables(timeline.lanes).flatMap { title, rows in
            ["", style.paint(title, .bold)]
                + rows.flatMap { TextColumns.wrap($0, width: width, first: "  ", hang: 4) }
        }
    }
}
