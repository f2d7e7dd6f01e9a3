import ArbiterProtocol

extension Timeline {
    /// The picture as an SVG document for browsers and print: light background, hatched where a session was
    /// interrupted so that it reads without colour, with lane labels, an axis, a legend, and the notes' list.
    public func svg(title: String = "Who had the camera") -> String {
        SVGDrawing(timeline: self, title: title).document()
    }
}

private struct SVGDrawing {
    let timeline: Timeline
    let title: String

    // Measures in px of the document; 1000 wide prints on a page without scaling trouble.
    private let width = 1000.0
    private let left = 130.0
    private let right = 24.0
    private let noteRowHeight = 20.0
    private let laneHeight = 28.0
    private let laneGap = 22.0
    /// A character of the 12 px sans font, on average: to know whether a label fits.
    private let characterWidth = 6.6

    /// The row of each note's number above the lanes: neighbours evade each other upwards.
    private let noteRows: [Int]
    private let top: Double

    private static let noteRowsMax = 4
    /// A character of a legend's label, at the wide end: labels must not run into the next column.
    private static let legendCharacterWidth = 7.2
    /// From a column's left edge to its label, and from the widest label to the next column.
    private static let legendSwatch = 24.0
    private static let legendGap = 20.0

    init(timeline: Timeline, title: String) {
        self.timeline = timeline
        self.title = title
        var rows: [Int] = []
        var ends = [Double](repeating: -.infinity, count: Self.noteRowsMax)
        let whole = max(1, Double(timeline.duration.wholeNanoseconds))
        for note in timeline.notes {
            let x = Double((note.moment - timeline.begin).wholeNanoseconds) / whole * (width - left - right)
            let row = ends.firstIndex { $0 <= x } ?? Self.noteRowsMax - 1
            ends[row] = x + 18
            rows.append(row)
        }
        noteRows = rows
        top = 76 + Double((rows.max() ?? 0) + (rows.isEmpty ? 0 : 1)) * noteRowHeight
    }

    private var plotWidth: Double { width - left - right }
    private var plotHeight: Double { Double(timeline.lanes.count) * (laneHeight + laneGap) }

    private func x(_ moment: Moment) -> Double {
        let whole = Double(timeline.duration.wholeNanoseconds)
        guard whole > 0 else { return left }
        let share = Double((moment - timeline.begin).wholeNanoseconds) / whole
        return left + min(1, max(0, share)) * plotWidth
    }

    private func y(_ lane: Int) -> Double { top + Double(lane) * (laneHeight + laneGap) }

    func document() -> String {
        let legend = legendEntries()
        let legendTop = top + plotHeight + 14
        let widest = Double(legend.map(\.name.count).max() ?? 0) * Self.legendCharacterWidth
        let columnWidth = Self.legendSwatch + widest + Self.legendGap
        let columns = max(1, Int((plotWidth + Self.legendGap) / columnWidth))
        let legendRows = (legend.count + columns - 1) / columns
        let notesTop = legendTop + Double(legendRows) * 22 + 18
        let height = notesTop + Double(timeline.notes.count) * 18 + (timeline.notes.isEmpty ? 0 : 14)
        var body = ""
        body += axis()
        body += notes(notesTop)
        for (index, lane) in timeline.lanes.enumerated() { body += draw(lane, index) }
        for (index, entry) in legend.enumerated() {
            let x = left + Double(index % columns) * columnWidth
            let y = legendTop + Double(index / columns) * 22
            body += "<rect x=\"\(x.px)\" y=\"\(y.px)\" width=\"18\" height=\"12\" rx=\"2\" \(entry.paint)/>\n"
            body += text(entry.name, x + Self.legendSwatch, y + 10, "legend")
        }
        // A claim may be a long sentence: it gets smaller rather than cut. A bold character is 0.68 of its size wide.
        let titleSize = min(18, max(9, (width - 48) / 0.68 / Double(max(1, title.count))))
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width.px) \(height.px)" width="\(width.px)" \
            height="\(height.px)" role="img" aria-label="\(title.xml)">
            <title>\(title.xml)</title>
            <style>
            text { font: 12px "DejaVu Sans", Verdana, Helvetica, sans-serif; fill: #1d232a; }
            .title { font-size: \(titleSize.px)px; font-weight: bold; } .lane { font-weight: bold; text-anchor: end; }
            .tick { font-size: 11px; fill: #5a6572; text-anchor: middle; } .small { font-size: 10px; fill: #5a6572; }
            .label { fill: #101418; text-anchor: middle; } .number { font-size: 10px; text-anchor: middle; }
            </style>
            <defs>
            \(SVGPalette.patterns(causes: causesShown))</defs>
            <rect width="\(width.px)" height="\(height.px)" fill="#ffffff"/>
            \(text(title, 24, 32, "title"))\(body)</svg>

            """
    }

    private var causesShown: [Cause] {
        let shown = timeline.lanes.flatMap { $0.spans.compactMap(\.state.reason) }
        return CauseSet(shown).ordered
    }

    private func axis() -> String {
        var svg = ""
        let bottom = top + plotHeight - laneGap + 6
        for tick in TimeAxis.ticks(timeline.duration, atMost: 12) {
            let x = x(timeline.begin + tick)
            svg += line(x, top - 8, x, bottom, "stroke=\"#e1e5ea\"")
            svg += text(TimeAxis.text(tick), x, top - 14, "tick")
        }
        return svg
    }

    private func draw(_ lane: Timeline.Lane, _ index: Int) -> String {
        let y = y(index)
        var svg = text(lane.name, left - 12, y + 18, "lane")
        svg += line(left, y + laneHeight / 2, left + plotWidth, y + laneHeight / 2, "stroke=\"#eef1f4\"")
        for span in lane.spans { svg += draw(span, y) }
        for warning in lane.warnings {
            let (from, to) = (x(warning.begin), x(warning.end))
            let end = warning.isWithdrawn ? "withdrawn" : "was due \((warning.deadline - timeline.begin).shortText)"
            svg += """
                <rect x="\(from.px)" y="\((y - 6).px)" width="\(max(2, to - from).px)" height="4" fill="#d9480f">\
                <title>\("told to yield: \(warning.cause.shortName), \(end)".xml)</title></rect>

                """
        }
        for recording in lane.recordings {
            let (from, to) = (x(recording.begin), x(recording.end))
            let end =
                recording.finished.map {
                    "\($0.why.rawValue) after \($0.duration.shortText)\($0.frames == 0 ? "" : ", \($0.frames) frames")"
                }
                ?? "not finished"
            svg += """
                <rect x="\(from.px)" y="\((y + laneHeight + 2).px)" width="\(max(2, to - from).px)" height="5" rx="2" \
                fill="#c92a2a"><title>\("recording \(recording.id): \(end)".xml)</title></rect>

                """
            let words = "recording \(recording.id): \(recording.finished?.why.rawValue ?? "not finished")"
            svg += text(words, min(from, left + plotWidth - Double(words.count) * 5.6), y + laneHeight + 17, "small")
        }
        for mark in lane.marks {
            let x = x(mark.moment)
            let middle = y + laneHeight / 2
            let fill = mark.kind == .photo ? "#1864ab" : "#c92a2a"
            svg += """
                <path d="M\(x.px) \((middle - 7).px) l7 7 l-7 7 l-7 -7 z" fill="\(fill)" stroke="#ffffff">\
                <title>\(mark.label.xml)</title></path>

                """
        }
        return svg
    }

    private func draw(_ span: Timeline.Span, _ y: Double) -> String {
        let (from, to) = (x(span.begin), x(span.end))
        // Too short to see is still wide enough to be there.
        let spanWidth = max(1.5, to - from)
        let isThin = span.state == .stopped || span.state == .free
        let (top, height) = isThin ? (y + laneHeight / 2 - 1.5, 3.0) : (y, laneHeight)
        let hint =
            "\(span.state.name), \((span.begin - timeline.begin).shortText) to \((span.end - timeline.begin).shortText)"
        var svg = """
            <rect x="\(from.px)" y="\(top.px)" width="\(spanWidth.px)" height="\(height.px)" rx="\(isThin ? 1 : 3)" \
            \(SVGPalette.paint(span.state))><title>\(hint.xml)</title></rect>

            """
        let room = Int((spanWidth - 8) / characterWidth)
        let labels: [String]
        switch span.state {
        case .interrupted, .restricted: labels = span.state.labels + [span.state.labels.last?.fitted(room) ?? ""]
        case .held(let holder): labels = [holder, holder.fitted(room)]
        case .starting: labels = [span.state.label]
        case .running, .stopped, .free: labels = []
        }
        if let shown = labels.first(where: { $0.count <= room }), shown.count >= 3 {
            // A plate under the words keeps them readable on the hatching.
            let plate = Double(shown.count) * characterWidth + 6
            if case .held = span.state {
            } else {
                svg += """
                    <rect x="\(((from + to) / 2 - plate / 2).px)" y="\((y + 6).px)" width="\(plate.px)" height="16" rx="3" \
                    fill="#ffffff" fill-opacity="0.82"/>

                    """
            }
            svg += text(shown, (from + to) / 2, y + 18, "label")
        }
        return svg
    }

    private func notes(_ top: Double) -> String {
        var svg = ""
        for (index, note) in timeline.notes.enumerated() {
            let x = x(note.moment)
            let number = String(index + 1)
            let middle = self.top - 34 - Double(noteRows[index]) * noteRowHeight
            svg += line(
                x, middle, x, self.top + plotHeight - laneGap + 6, "stroke=\"#868e96\" stroke-dasharray=\"2 3\"")
            svg += "<circle cx=\"\(x.px)\" cy=\"\(middle.px)\" r=\"8\" fill=\"#f1f3f5\" stroke=\"#868e96\"/>\n"
            svg += text(number, x, middle + 3.5, "number")
            svg += text(
                "\(number)  \((note.moment - timeline.begin).shortText)  \(note.text)", left, top + Double(index) * 18,
                "legend")
        }
        return svg
    }

    private func legendEntries() -> [(name: String, paint: String)] {
        let states = timeline.lanes.flatMap { $0.spans.map(\.state) }
        var entries: [(String, String)] = []
        if states.contains(.running) { entries.append(("running", SVGPalette.paint(.running))) }
        if states.contains(.starting) { entries.append(("starting", SVGPalette.paint(.starting))) }
        let restricted = states.filter { if case .restricted = $0 { true } else { false } }
        if !restricted.isEmpty {
            let causes = CauseSet(restricted.compactMap(\.reason)).ordered.map(\.shortName)
            entries.append(
                (
                    (["restricted"] + [causes.joined(separator: ", ")]).filter { !$0.isEmpty }.joined(separator: ": "),
                    SVGPalette.paint(.restricted(.none, CauseSet()))
                ))
        }
        let interrupted = CauseSet(
            states.compactMap { if case .interrupted(_, let causes, _) = $0 { causes.reason } else { nil } })
        for cause in interrupted.ordered {
            entries.append(
                ("interrupted: \(cause.shortName)", SVGPalette.paint(.interrupted(0, CauseSet([cause]), by: nil))))
        }
        if states.contains(where: { if case .held = $0 { true } else { false } }) {
            entries.append(("holds the camera", SVGPalette.paint(.held(by: ""))))
        }
        if timeline.lanes.contains(where: { !$0.recordings.isEmpty }) {
            entries.append(("recording", "fill=\"#c92a2a\""))
        }
        if timeline.lanes.contains(where: { !$0.warnings.isEmpty }) {
            entries.append(("told to yield", "fill=\"#d9480f\""))
        }
        if timeline.lanes.contains(where: { $0.marks.contains { $0.kind == .photo } }) {
            entries.append(("photo", "fill=\"#1864ab\""))
        }
        return entries
    }

    private func text(_ text: String, _ x: Double, _ y: Double, _ style: String) -> String {
        "<text x=\"\(x.px)\" y=\"\(y.px)\" class=\"\(style)\">\(text.xml)</text>\n"
    }

    private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ stroke: String) -> String {
        "<line x1=\"\(x1.px)\" y1=\"\(y1.px)\" x2=\"\(x2.px)\" y2=\"\(y2.px)\" \(stroke)/>\n"
    }
}

extension Timeline.State {
    /// The state in full, for hints.
    fileprivate var name: String {
        switch self {
        case .stopped: "stopped"
        case .starting: "starting"
        case .running: "running"
        case .restricted: "running, \(label)"
        case .interrupted(let id, _, _): "interrupted #\(id): \(label)"
        case .held(let holder): "held by \(holder)"
        case .free: "free"
        }
    }
}
