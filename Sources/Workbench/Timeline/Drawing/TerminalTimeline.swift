import ArbiterProtocol

extension Timeline {
    /// Narrower than this, nothing could be read; it is drawn for this width then.
    public static let terminalWidthMin = 20
    /// Wider than any screen; it is drawn for this width then.
    public static let terminalWidthMax = 400

    /// The picture as lines for a terminal, none wider than `width` columns: the lanes with a time axis, a legend of
    /// what is drawn and shortened, then every interruption, recording, deadline and note with its times, so that
    /// nothing depends on what fits into a lane.
    public func terminalLines(width: Int, style: TerminalStyle) -> [String] {
        let width = min(max(width, Self.terminalWidthMin), Self.terminalWidthMax)
        return TerminalDrawing(timeline: self, width: width, style: style).lines()
    }
}

struct TerminalDrawing {
    let timeline: Timeline
    let width: Int
    let style: TerminalStyle
    package let names: ShortNames
    private let labelWidth: Int
    private let columns: Int

    private static let recordingLabel = "  recording"

    /// A place of a lane. Of a character that is two columns wide, the second place is empty.
    private typealias Cell = (glyph: String, ink: TerminalStyle.Ink?)

    init(timeline: Timeline, width: Int, style: TerminalStyle) {
        self.timeline = timeline
        self.width = width
        self.style = style
        let names = timeline.lanes.map(\.name.printable)
        var labels = names
        if timeline.lanes.contains(where: { !$0.recordings.isEmpty }) { labels.append(Self.recordingLabel) }
        labels += timeline.lanes.flatMap(\.deadlines).map { Self.label(of: $0.kind) }
        // Names take a third at most: the picture is what the line is for.
        labelWidth = min((labels.map(\.columns).max() ?? 0) + 2, width / 3)
        columns = width - labelWidth
        self.names = ShortNames(names, columns: labelWidth - 1)
    }

    func lines() -> [String] {
        var lines = [axis()]
        for (index, lane) in timeline.lanes.enumerated() {
            lines.append(names[index].padded(labelWidth) + picture(of: lane))
            if !lane.recordings.isEmpty { lines.append(label(Self.recordingLabel) + recordings(lane)) }
            for kind in Timeline.Deadline.Kind.allCases {
                let deadlines = lane.deadlines.filter { $0.kind == kind }
                if !deadlines.isEmpty { lines.append(label(Self.label(of: kind)) + drawn(deadlines)) }
            }
        }
        return (lines + legend() + tables()).map(\.trimmedAtEnd)
    }

    private func label(_ text: String) -> String { text.fitted(labelWidth - 1).padded(labelWidth) }

    private static func label(of kind: Timeline.Deadline.Kind) -> String { "  \(kind.rawValue)" }

    private func column(_ moment: Moment) -> Int {
        let whole = Double(timeline.duration.wholeNanoseconds)
        guard whole > 0 else { return 0 }
        let share = Double((moment - timeline.begin).wholeNanoseconds) / whole
        return min(columns, max(0, Int(share * Double(columns))))
    }

    /// The columns of a time: one at least, so that what is short still shows.
    private func columns(_ begin: Moment, _ end: Moment) -> Range<Int> {
        let first = min(column(begin), columns - 1)
        return first..<max(first + 1, column(end))
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
        var tiny: [(column: Int, span: Timeline.Span)] = []
        for span in lane.spans {
            let from = column(span.begin)
            let to = column(span.end)
            if from == to {
                switch span.state {
                case .interrupted, .restricted, .running: break
                // Passing through these is no news, and would only hide a name.
                case .stopped, .free, .starting, .held: continue
                }
                tiny.append((min(from, columns - 1), span))
                continue
            }
            let ink = span.state.look.ink
            for column in from..<to { put(String(span.state.look.glyph), ink, column, &cells) }
            write(span, from..<to, ink, &cells)
        }
        for warning in lane.warnings {
            for column in column(warning.begin)..<max(column(warning.begin), column(warning.end)) {
                put("┄", cells[column].ink, column, &cells)
            }
        }
        // What is shorter than a column still shows: a handover is the point of the picture.
        for (column, span) in tiny {
            let glyph = span.state.reason?.look.letter ?? span.state.look.glyph
            put(String(glyph), span.state.look.ink, column, &cells)
        }
        for mark in lane.marks {
            let column = min(column(mark.moment), columns - 1)
            put(mark.kind.look.glyph, mark.kind.look.ink, column, &cells)
        }
        for span in lane.spans { keepLetter(of: span, &cells) }
        return painted(cells)
    }

    /// A letter that something short lies over moves to the next place of its span.
    private func keepLetter(of span: Timeline.Span, _ cells: inout [Cell]) {
        let range = column(span.begin)..<column(span.end)
        guard let letter = span.state.reason?.look.letter, let first = range.first, cells[first].glyph != String(letter)
        else { return }
        let own = String(span.state.look.glyph)
        guard let free = range.first(where: { cells[$0].glyph == own }) else { return }
        put(String(letter), span.state.look.ink, free, &cells)
    }

    /// Puts a glyph over what is there; half of a wide character that it hits is gone, too.
    private func put(_ glyph: String, _ ink: TerminalStyle.Ink?, _ column: Int, _ cells: inout [Cell]) {
        if cells[column].glyph.isEmpty, column > 0 { cells[column - 1].glyph = " " }
        if column + 1 < cells.count, cells[column + 1].glyph.isEmpty { cells[column + 1].glyph = " " }
        cells[column] = (glyph, ink)
    }

    private func write(_ span: Timeline.Span, _ range: Range<Int>, _ ink: TerminalStyle.Ink?, _ cells: inout [Cell]) {
        var start = range.lowerBound
        let shown: String
        switch span.state {
        case .interrupted, .restricted:
            if let letter = span.state.reason?.look.letter { put(String(letter), ink, start, &cells) }
            let labels = span.state.labels.map { " \($0.printable) " }
            // Between the letter and the next span there is a glyph on each side.
            guard let fitting = labels.first(where: { $0.columns + 3 <= range.count }) else { return }
            shown = fitting
            start += (range.count - shown.columns) / 2
        case .held(let holder):
            let name = holder.printable
            // Without a gap behind it, it would become one word with the next.
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

    private func recordings(_ lane: Timeline.Lane) -> String {
        var cells = [Cell](repeating: (" ", nil), count: columns)
        for recording in lane.recordings {
            let range = columns(recording.begin, recording.end)
            for column in range { cells[column] = ("▬", .brightRed) }
            cells[range.lowerBound].glyph = "●"
            if range.count > 1, recording.finished != nil { cells[range.upperBound - 1].glyph = "■" }
        }
        return painted(cells)
    }

    private func drawn(_ deadlines: [Timeline.Deadline]) -> String {
        var cells = [Cell](repeating: (" ", nil), count: columns)
        for deadline in deadlines {
            let range = columns(deadline.begin, deadline.end)
            for column in range { cells[column] = ("╍", nil) }
            if !deadline.isMet { cells[range.upperBound - 1] = ("┫", .brightRed) }
        }
        return painted(cells)
    }

    private func painted(_ cells: [Cell]) -> String {
        var text = ""
        var run = ""
        var ink: TerminalStyle.Ink?
        let end = cells.lastIndex { $0.glyph != " " }.map { $0 + 1 } ?? 0
        for cell in cells[..<end] {
            if cell.ink != ink {
                text += style.paint(run, ink)
                run = ""
                ink = cell.ink
            }
            run += cell.glyph
        }
        return text + style.paint(run, ink)
    }

    private func times(_ begin: Moment, _ end: Moment) -> String { timeline.words(from: begin, to: end) }

    func legend() -> [String] {
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

    func tables() -> [String] {
        // A line for each interruption, with its causes in the order in which they came.
        let interrupted = table("interrupted", \.interruptions, timeline.words)
        let restricted = table("restricted", \.spans) { lane, span in
            guard case .restricted = span.state else { return nil }
            return "\(lane.shownName)  \(times(span.begin, span.end))  \(span.state.label.printable)"
        }
        let warned = table("told to yield", \.warnings) { lane, warning in
            "\(lane.shownName)  \(timeline.time(warning.begin))  \(warning.words(since: timeline.begin))"
        }
        let recorded = table("recorded", \.recordings) { lane, recording in
            "\(lane.shownName) \(recording.id)  \(times(recording.begin, recording.end))  \(recording.words)"
        }
        let held = table("held", \.spans) { lane, span in
            guard case .held(let holder) = span.state else { return nil }
            return "\(lane.shownName)  \(times(span.begin, span.end))  by \(holder.printable)"
        }
        let deadlines = table("deadlines", \.deadlines, timeline.words)
        let marks = table("besides", \.marks, timeline.words)
        let notes = table("meanwhile", timeline.notes.map(timeline.words))
        return interrupted + restricted + warned + recorded + held + deadlines + marks + notes
    }

    private func table<Part>(
        _ title: String, _ parts: KeyPath<Timeline.Lane, [Part]>, _ words: (Timeline.Lane, Part) -> String?
    ) -> [String] {
        table(title, timeline.lanes.flatMap { lane in lane[keyPath: parts].compactMap { words(lane, $0) } })
    }

    private func table(_ title: String, _ rows: [String]) -> [String] {
        guard !rows.isEmpty else { return [] }
        return ["", style.paint(title, .bold)]
            + rows.flatMap { TextColumns.wrap($0, width: width, first: "  ", hang: 4) }
    }
}
