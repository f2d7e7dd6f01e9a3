import ArbiterProtocol

extension Timeline {
    /// Narrower than this, nothing could be read; it is drawn for this width then.
    public static let terminalWidthMin = 20

    /// The picture as lines for a terminal, none wider than `width` columns: the lanes with a time axis, then every
    /// interruption, recording and note with its times, so that nothing depends on what fits into a lane.
    public func terminalLines(width: Int, style: TerminalStyle) -> [String] {
        TerminalDrawing(timeline: self, width: max(width, Self.terminalWidthMin), style: style).lines()
    }
}

/// One drawing's measures, and its parts.
private struct TerminalDrawing {
    let timeline: Timeline
    let width: Int
    let style: TerminalStyle
    let labelWidth: Int
    let columns: Int

    private static let recordingLabel = "  recording"

    init(timeline: Timeline, width: Int, style: TerminalStyle) {
        self.timeline = timeline
        self.width = width
        self.style = style
        let names = timeline.lanes.map { $0.name.printable.count }
        let hasRecordings = timeline.lanes.contains { !$0.recordings.isEmpty }
        let longest = max(names.max() ?? 0, hasRecordings ? Self.recordingLabel.count : 0)
        // Names take a third at most: the picture is what the line is for.
        labelWidth = min(longest + 2, width / 3)
        columns = width - labelWidth
    }

    func lines() -> [String] {
        var lines = [axis()]
        for lane in timeline.lanes {
            lines.append(line(lane))
            if !lane.recordings.isEmpty { lines.append(recordings(lane)) }
        }
        lines += table("interrupted", interruptions())
        lines += table("restricted", restrictions())
        lines += table("recorded", finishedRecordings())
        lines += table("meanwhile", timeline.notes.map { "\(time($0.moment))  \($0.text.printable)" })
        return lines
    }

    private func time(_ moment: Moment) -> String { (moment - timeline.begin).shortText }

    /// The column a moment falls into; `columns` for the end.
    private func column(_ moment: Moment) -> Int {
        let whole = Double(timeline.duration.wholeNanoseconds)
        guard whole > 0 else { return 0 }
        let share = Double((moment - timeline.begin).wholeNanoseconds) / whole
        return min(columns, max(0, Int(share * Double(columns))))
    }

    private func label(_ text: String) -> String { text.printable.fitted(labelWidth - 1).padded(labelWidth) }

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
        return trimmed(label("") + style.paint(trimmed(String(cells)), .faint))
    }

    private func line(_ lane: Timeline.Lane) -> String {
        var cells = [(glyph: Character, ink: TerminalStyle.Ink?)](repeating: (" ", nil), count: columns)
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
            let ink = TerminalStyle.ink(span.state)
            for column in from..<to { cells[column] = (TerminalStyle.glyph(span.state), ink) }
            write(span, from..<to, ink, &cells)
        }
        // What is shorter than a column still shows: a handover is the point of the picture.
        for (column, span) in tiny {
            cells[column] = (TerminalStyle.glyph(span.state), TerminalStyle.ink(span.state))
        }
        for warning in lane.warnings {
            for column in column(warning.begin)..<max(column(warning.begin), column(warning.end)) {
                cells[column].glyph = "┄"
            }
        }
        for mark in lane.marks {
            let column = min(column(mark.moment), columns - 1)
            switch mark.kind {
            case .photo: cells[column] = ("◆", .bold)
            case .stoppedForGood: cells[column] = ("✕", .brightRed)
            case .trouble: cells[column] = ("!", .brightRed)
            }
        }
        return label(lane.name) + trimmed(painted(cells))
    }

    /// Names what a drawing alone does not say: why, and who.
    private func write(
        _ span: Timeline.Span, _ range: Range<Int>, _ ink: TerminalStyle.Ink?,
        _ cells: inout [(glyph: Character, ink: TerminalStyle.Ink?)]
    ) {
        var start = range.lowerBound
        let shown: String
        switch span.state {
        case .interrupted, .restricted:
            let labels = span.state.labels.map { " \($0.printable) " }
            guard let fitting = labels.first(where: { $0.count + 2 <= range.count }) else { return }
            shown = fitting
            start += (range.count - shown.count) / 2
        case .held: shown = "\(span.state.label.printable) ".fitted(range.count)
        case .running, .starting, .stopped, .free: return
        }
        for (offset, character) in shown.enumerated() { cells[start + offset] = (character, ink) }
    }

    private func recordings(_ lane: Timeline.Lane) -> String {
        var cells = [(glyph: Character, ink: TerminalStyle.Ink?)](repeating: (" ", nil), count: columns)
        for recording in lane.recordings {
            let from = min(column(recording.begin), columns - 1)
            let to = max(from + 1, column(recording.end))
            for column in from..<to { cells[column] = ("▬", .brightRed) }
            cells[from].glyph = "●"
            if to - from > 1, recording.finished != nil { cells[to - 1].glyph = "■" }
        }
        return label(Self.recordingLabel) + trimmed(painted(cells))
    }

    /// Neighbours of one colour share their escape codes.
    private func painted(_ cells: [(glyph: Character, ink: TerminalStyle.Ink?)]) -> String {
        var text = ""
        var run = ""
        var ink: TerminalStyle.Ink?
        for cell in cells {
            if cell.ink != ink {
                text += style.paint(run, ink)
                run = ""
                ink = cell.ink
            }
            run.append(cell.glyph)
        }
        return text + style.paint(run, ink)
    }

    /// A line for each interruption, with its causes in the order in which they came.
    private func interruptions() -> [String] {
        timeline.lanes.flatMap { lane -> [String] in
            var rows: [(id: InterruptionID, begin: Moment, end: Moment, labels: [String])] = []
            for span in lane.spans {
                guard case .interrupted(let id, _, _) = span.state else { continue }
                let label = span.state.label.printable
                // Numbers begin anew with another session of the same name; such a row does not go on.
                if let last = rows.indices.last, rows[last].id == id, rows[last].end == span.begin {
                    rows[last].end = span.end
                    rows[last].labels.append(label)
                } else {
                    rows.append((id, span.begin, span.end, [label]))
                }
            }
            return rows.map { row in
                "\(lane.name.printable) #\(row.id)  \(time(row.begin)) to \(time(row.end))  "
                    + row.labels.joined(separator: ", then ")
            }
        }
    }

    private func restrictions() -> [String] {
        timeline.lanes.flatMap { lane in
            lane.spans.compactMap { span in
                guard case .restricted = span.state else { return nil }
                return "\(lane.name.printable)  \(time(span.begin)) to \(time(span.end))  "
                    + span.state.label.printable
            }
        }
    }

    private func finishedRecordings() -> [String] {
        timeline.lanes.flatMap { lane in
            lane.recordings.map { recording in
                let end =
                    recording.finished.map {
                        "\($0.why.rawValue) after \($0.duration.shortText)\($0.frames == 0 ? "" : ", \($0.frames) frames")"
                    } ?? "not finished"
                return
                    "\(lane.name.printable) \(recording.id)  \(time(recording.begin)) to \(time(recording.end))  \(end)"
            }
        }
    }

    private func table(_ title: String, _ rows: [String]) -> [String] {
        rows.isEmpty ? [] : ["", style.paint(title.fitted(width), .bold)] + rows.map { ("  " + $0).fitted(width) }
    }

    private func trimmed(_ text: String) -> String {
        var end = text.endIndex
        while end > text.startIndex, text[text.index(before: end)] == " " { end = text.index(before: end) }
        return String(text[..<end])
    }
}

/// Round times for an axis.
enum TimeAxis {
    /// Steps people count in, in milliseconds.
    private static let steps: [Int64] = [
        10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
        1_800_000, 3_600_000,
    ]

    /// A tick's name: in seconds below a minute, so that neighbours look alike.
    static func text(_ tick: Duration) -> String {
        let milliseconds = tick.wholeNanoseconds / 1_000_000
        return milliseconds < 60_000 ? "\((Double(milliseconds) / 1000).shortDescription)s" : tick.shortText
    }

    /// From 0 up to `duration`, in the smallest step that makes at most `count` intervals.
    static func ticks(_ duration: Duration, atMost count: Int) -> [Duration] {
        let milliseconds = max(0, duration.wholeNanoseconds / 1_000_000)
        let longest: Int64 = 3_600_000
        // Beyond the longest step its multiples go on, so that a week has no more ticks than a minute.
        let step =
            steps.first { milliseconds / $0 <= Int64(count) }
            ?? longest * ((milliseconds / longest + Int64(count) - 1) / Int64(count))
        return stride(from: 0, through: milliseconds, by: Int(step)).map { .milliseconds($0) }
    }
}
