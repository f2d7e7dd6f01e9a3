import ArbiterProtocol

extension SVGDrawing {
    /// From a column's left edge to its label, and from the widest label to the next column.
    private static let swatch = 32.0
    private static let gap = 18.0

    private struct Entry {
        var name: String
        var sample: (Double, Double) -> String
    }

    func legend(from top: Double) -> (svg: String, bottom: Double) {
        var entries = entries()
        for pair in names.shortened { entries.append(Entry(name: "\(pair.short) is \(pair.name)") { _, _ in "" }) }
        let room = width - margin * 2
        var svg = ""
        var (x, y) = (margin, top)
        for entry in entries {
            let length = Self.swatch + Double(entry.name.columns) * Self.columnWidth
            if x > margin, x + length > margin + room {
                x = margin
                y += 24
            }
            let name = entry.name.fitted(Int((room - Self.swatch) / Self.columnWidth))
            svg += entry.sample(x, y) + text(name, x + Self.swatch, y + 11, "legend")
            x += length + Self.gap
        }
        return (svg, entries.isEmpty ? top : y + 14)
    }

    private func box(_ state: Timeline.State) -> (Double, Double) -> String {
        { x, y in
            var svg =
                "<rect x=\"\(x.px)\" y=\"\(y.px)\" width=\"24\" height=\"14\" rx=\"2\" \(state.look.paint)/>\n"
            if let letter = state.reason?.look.letter {
                svg +=
                    "<rect class=\"plate\" x=\"\((x + 6).px)\" y=\"\((y + 1).px)\" width=\"12\" height=\"12\" rx=\"2\" "
                svg += "fill=\"#ffffff\" fill-opacity=\"0.86\"/>\n"
                svg += text(String(letter), x + 12, y + 11, "label")
            }
            return svg
        }
    }

    private func entries() -> [Entry] {
        var entries = lanes.statesToExplain.filter { $0.state != .stopped }
            .map { Entry(name: $0.words, sample: box($0.state)) }
        func bar(_ paint: String) -> (Double, Double) -> String {
            { x, y in "<rect x=\"\(x.px)\" y=\"\((y + 5).px)\" width=\"24\" height=\"5\" \(paint)/>\n" }
        }
        func add(_ name: String, _ paint: String, where has: (Timeline.Lane) -> Bool) {
            if lanes.contains(where: has) { entries.append(Entry(name: name, sample: bar(paint))) }
        }
        add("recording", SVGPalette.recording) { !$0.recordings.isEmpty }
        add("told to yield", SVGPalette.grace) { !$0.warnings.isEmpty }
        for kind in Timeline.Deadline.Kind.allCases {
            add(kind.look.words, kind.look.paint) { $0.deadlines.contains { $0.kind == kind } }
        }
        for kind in lanes.marks {
            entries.append(Entry(name: kind.look.words) { x, y in SVGPalette.mark(kind, at: x + 12, y + 7, "") })
        }
        return entries
    }

    /// A column of a whole line of the 12 px font: wide letters and narrow ones even out.
    private static let wordsColumnWidth = 6.9
    /// As many lines of one row as somebody reads.
    private static let linesMax = 4

    /// What is short for a span is whole here, and on paper nobody has a mouse.
    func words(from top: Double) -> (svg: String, bottom: Double) {
        let interruptions = lanes.flatMap { lane in lane.interruptions.map { (lane, $0) } }.enumerated()
            .sorted { ($0.element.1.begin, $0.offset) < ($1.element.1.begin, $1.offset) }
            .map { timeline.words($0.element.0, $0.element.1) }
        let marks = lanes.flatMap { lane in
            lane.marks.compactMap { timeline.words(lane, $0) } + lane.deadlines.map { timeline.words(lane, $0) }
        }
        let notes = timeline.notes.prefix(Self.rowsMax).enumerated().map { "\($0 + 1)  \(timeline.words($1))" }
        var svg = ""
        var y = top
        for (title, rows, count) in [
            ("Interrupted", interruptions, interruptions.count), ("Besides", marks, marks.count),
            ("Meanwhile", notes, timeline.notes.count),
        ] where !rows.isEmpty {
            svg += text(title, margin, y, "heading")
            y += Self.rowHeight
            let columns = Int((width - 2 * margin) / Self.wordsColumnWidth)
            for row in rows.prefix(Self.rowsMax) {
                let lines = TextColumns.wrap(row, width: columns, first: "", hang: 4)
                for line in lines.prefix(Self.linesMax - 1)
                    + lines.dropFirst(Self.linesMax - 1).prefix(1).map({
                        lines.count > Self.linesMax ? "\($0) …" : $0
                    })
                {
                    let words = String(line.drop { $0 == " " })
                    svg += text(words, margin + Double(line.count - words.count) * Self.wordsColumnWidth, y, "words")
                    y += Self.rowHeight
                }
            }
            if count > Self.rowsMax {
                svg += text("… and \(count - Self.rowsMax) more", margin, y, "words")
                y += Self.rowHeight
            }
            y += 10
        }
        return (svg, y)
    }
}
