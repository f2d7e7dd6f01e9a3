import ArbiterProtocol

extension Timeline {
    /// The page's place that explains why a span began.
    public struct Link: Sendable {
        /// The id of an element of the page.
        public var target: String
        public var words: String
    }

    /// The picture as an SVG document for browsers and print: each cause with a colour, a hatching and a letter of its own, and
    /// beneath it a legend and tables. A description and a title at each shape are there for screen readers and for the mouse.
    ///
    /// The document stays within some megabytes: parts that are narrower than a pixel are drawn as one, and of long lists the
    /// beginning is shown with the number of the rest.
    public func svg(title: String = "Who had the camera") -> String {
        SVGDrawing(timeline: self, title: title).document()
    }

    /// The picture as an element, without the parts that all pictures of a page share (`svgShared`, `svgStyle`) and without tables.
    /// - Parameters:
    ///   - id: unique in the page.
    ///   - link: called for each span that is drawn. A link can be reached by keyboard, and needs no script.
    public func svgElement(
        id: String, title: String, link: @escaping (Lane, Span) -> Link? = { _, _ in nil }
    ) -> String { SVGDrawing(timeline: self, title: title, link: link).element(id: id) }

    /// The hatchings, once in a page, before the first picture.
    public static var svgShared: String {
        """
        <svg width="0" height="0" class="shared" aria-hidden="true" focusable="false"><defs>
        \(SVGPalette.patterns(causes: Cause.allCases))</defs></svg>

        """
    }

    /// The rules of a page's style sheet for its pictures.
    public static var svgStyle: String { "svg.timeline {\n\(SVGPalette.style)\n}\n" }
}

struct SVGDrawing {
    /// As many lanes as fit onto a few pages.
    private static let lanesMax = 60
    /// As many rows of a table, and numbered notes, as somebody reads.
    private static let rowsMax = 60

    let timeline: Timeline
    private let lanes: [Timeline.Lane]
    private let title: String
    let link: (Timeline.Lane, Timeline.Span) -> Timeline.Link?
    let names: ShortNames
    private var notes: [NoteGroup] = []

    // In px; 1000 wide prints on a page without scaling.
    let width = 1000.0
    let margin = 24.0
    let left: Double
    private let right = 40.0
    let laneHeight = 26.0
    private let laneGap = 30.0
    private let rowHeight = 18.0
    /// A column of the 12 px sans font, at the wide end: labels must not overlap.
    let columnWidth = 7.4
    /// A column of the 10 px font.
    static let smallColumnWidth = 6.2

    init(
        timeline: Timeline, title: String,
        link: @escaping (Timeline.Lane, Timeline.Span) -> Timeline.Link? = { _, _ in nil }
    ) {
        (self.timeline, self.title, self.link) = (timeline, title, link)
        lanes = Array(timeline.lanes.prefix(Self.lanesMax))
        let names = lanes.map(\.shownName)
        // Bold letters are a little wider. Names take a quarter of the picture at most.
        let boldWidth = columnWidth * 1.1
        left = margin + min(250, max(70, Double(names.map(\.columns).max() ?? 0) * boldWidth)) + 12
        self.names = ShortNames(names, columns: Int((left - margin - 12) / boldWidth))
        for (index, note) in timeline.notes.prefix(Self.rowsMax).enumerated() {
            let x = x(note.moment)
            if let last = notes.indices.last, x < notes[last].x + notes[last].width + 2 {
                notes[last].last = index + 1
            } else {
                notes.append(NoteGroup(x: x, first: index + 1, last: index + 1))
            }
        }
    }

    /// The numbers of notes in the table beneath the picture, at the time of the first of them.
    private struct NoteGroup {
        var x: Double
        var first: Int
        var last: Int

        var words: String { first == last ? "\(first)" : "\(first)–\(last)" }
        var width: Double { max(16, Double(words.count) * SVGDrawing.smallColumnWidth + 8) }
    }

    private var top: Double { notes.isEmpty ? 84 : 104 }
    var plotWidth: Double { width - left - right }
    private var plotBottom: Double { top + Double(lanes.count) * (laneHeight + laneGap) }

    func x(_ moment: Moment) -> Double { left + timeline.share(moment) * plotWidth }

    private func plot() -> (body: String, bottom: Double) {
        var body = axis()
        for (index, lane) in lanes.enumerated() {
            body += draw(lane, names[index], top + Double(index) * (laneHeight + laneGap))
        }
        var bottom = plotBottom
        if timeline.lanes.count > lanes.count {
            let more = "… and \(timeline.lanes.count - lanes.count) more lanes, which are not drawn"
            body += text(more, margin, bottom + 4, "legend")
            bottom += rowHeight
        }
        let (legend, end) = legend(from: bottom + 8)
        return (body + legend, end)
    }

    func document() -> String {
        var (body, legendBottom) = plot()
        let (words, height) = tables(from: legendBottom + 26)
        body += words
        // A long title gets smaller, and is cut only where it could not be read.
        let size = min(18, max(9, (width - 2 * margin) / 0.68 / Double(max(1, title.columns))))
        let shown = title.fitted(Int((width - 2 * margin) / 0.68 / size))
        let causes = CauseSet(lanes.flatMap { $0.spans.compactMap(\.state.reason) }).ordered
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width.px) \(height.px)" width="\(width.px)" \
            height="\(height.px)" role="img" aria-labelledby="title desc">
            <title id="title">\(title.xml)</title>
            <desc id="desc">\(description.xml)</desc>
            <style>
            \(SVGPalette.style)
            .title { font-size: \(size.px)px; font-weight: bold; }
            </style>
            <defs>
            \(SVGPalette.patterns(causes: causes))</defs>
            <rect class="paper" width="\(width.px)" height="\(height.px)" fill="#ffffff"/>
            \(text(shown, margin, 34, "title"))\(body)</svg>

            """
    }

    func element(id: String) -> String {
        let (body, height) = plot()
        // A page has its own heading in the place of the title.
        let above = notes.isEmpty ? 54.0 : 34.0
        return """
            <svg class="timeline" viewBox="0 \(above.px) \(width.px) \((height + 12 - above).px)" role="group" \
            aria-labelledby="\(id.xml)-title \(id.xml)-desc">
            <title id="\(id.xml)-title">\(title.xml)</title>
            <desc id="\(id.xml)-desc">\(description.xml)</desc>
            \(body)</svg>

            """
    }

    /// Lanes and interruptions, for screen readers; each shape has a title of its own.
    private var description: String {
        let rows = timeline.tables(lanes).first { $0.title == "interrupted" }?.rows ?? []
        let more = rows.count > 5 ? "; and \(rows.count - 5) more" : ""
        return
            "\(timeline.lanes.count) lanes over \(timeline.duration.shortText): \(lanes.map(\.shownName).joined(separator: ", ")). "
            + (rows.isEmpty ? "No interruption." : "Interrupted: \(rows.prefix(5).joined(separator: "; "))\(more).")
    }

    private func axis() -> String {
        let bottom = plotBottom - laneGap + 16
        var svg = ""
        for tick in TimeAxis.ticks(timeline.duration, atMost: 12) {
            let x = x(timeline.begin + tick)
            svg += line(x, top - 8, x, bottom, "class=\"grid\" stroke=\"#e1e5ea\"")
            svg += text(TimeAxis.text(tick), x, top - 14, "tick")
        }
        for note in notes {
            let texts = timeline.notes[(note.first - 1)..<note.last].map(\.text).joined(separator: "; ")
            svg += line(note.x, top - 30, note.x, bottom, "class=\"grid\" stroke=\"#adb5bd\" stroke-dasharray=\"2 3\"")
            svg += rect(note.x - 8, top - 46, note.width, 16, SVGPalette.note, texts)
            svg += text(note.words, note.x - 8 + note.width / 2, top - 34.5, "number")
        }
        return svg
    }

    func text(_ text: String, _ x: Double, _ y: Double, _ style: String, hint: String? = nil) -> String {
        // XML would make one space of the two at a column's edge.
        let space = text.contains("  ") ? " xml:space=\"preserve\"" : ""
        return "<text x=\"\(x.px)\" y=\"\(y.px)\" class=\"\(style)\"\(space)>\(text.xml)\(title(hint))</text>\n"
    }

    func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ stroke: String) -> String {
        "<line x1=\"\(x1.px)\" y1=\"\(y1.px)\" x2=\"\(x2.px)\" y2=\"\(y2.px)\" \(stroke)/>\n"
    }

    private func title(_ words: String?) -> String { words.map { "<title>\($0.xml)</title>" } ?? "" }

    func rect(
        _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ paint: String, _ hint: String? = nil
    ) -> String {
        "<rect x=\"\(x.px)\" y=\"\(y.px)\" width=\"\(width.px)\" height=\"\(height.px)\" \(paint)>\(title(hint))</rect>\n"
    }

    func mark(_ kind: Timeline.Mark.Kind, _ x: Double, _ y: Double, _ hint: String? = nil) -> String {
        "<path d=\"M\(x.px) \(y.px) \(kind.look.shape)\" \(kind.look.paint)>\(title(hint))</path>\n"
    }
}

/// Words beneath the lanes.
extension SVGDrawing {
    private typealias Entry = (name: String, sample: (Double, Double) -> String)

    private func legend(from top: Double) -> (svg: String, bottom: Double) {
        // From a column's left edge to its label, and from a label to the next column.
        let (swatch, gap, room) = (32.0, 18.0, width - margin * 2)
        let entries = entries()
        var svg = ""
        var (x, y) = (margin, top)
        for entry in entries {
            let length = swatch + Double(entry.name.columns) * columnWidth
            if x > margin, x + length > margin + room { (x, y) = (margin, y + 24) }
            let name = entry.name.fitted(Int((room - swatch) / columnWidth))
            svg += entry.sample(x, y) + text(name, x + swatch, y + 11, "legend")
            x += length + gap
        }
        return (svg, entries.isEmpty ? top : y + 14)
    }

    private func entries() -> [Entry] {
        func bar(_ name: String, _ paint: String, where has: (Timeline.Lane) -> Bool) -> [Entry] {
            lanes.contains(where: has) ? [(name, { rect($0, $1 + 5, 24, 5, paint) })] : []
        }
        let states: [Entry] = lanes.statesToExplain.filter { $0.state != .stopped }.map { state, words in
            (
                words,
                { x, y in
                    let letter = state.reason.map { text(String($0.look.letter), x + 12, y + 11, "label") }
                    return rect(x, y, 24, 14, "rx=\"2\" \(state.look.paint)")
                        + (letter.map { rect(x + 6, y + 1, 12, 12, SVGPalette.plate) + $0 } ?? "")
                }
            )
        }
        return states + bar("recording", SVGPalette.recording) { !$0.recordings.isEmpty }
            + bar("told to yield", SVGPalette.grace) { !$0.warnings.isEmpty }
            + Timeline.Deadline.Kind.allCases.flatMap { kind in
                bar(kind.look.words, kind.look.paint) { $0.deadlines.contains { $0.kind == kind } }
            } + lanes.marks.map { kind in (kind.look.words, { mark(kind, $0 + 12, $1 + 7) }) }
            + names.shortened.map { ("\($0.short) is \($0.name)", { _, _ in "" }) }
    }

    /// On paper nobody has a mouse: here is every word, as far as somebody reads.
    private func tables(from top: Double) -> (svg: String, bottom: Double) {
        // A column of a whole line of the 12 px font, in which wide letters and narrow ones even out.
        let (columnWidth, linesMax) = (6.9, 4)
        var (svg, y) = ("", top)
        func write(_ line: Substring, _ style: String) {
            let words = line.drop { $0 == " " }
            svg += text(String(words), margin + Double(line.count - words.count) * columnWidth, y, style)
            y += rowHeight
        }
        for (title, rows) in timeline.tables(lanes) {
            write(title[...], "heading")
            for (index, row) in rows.prefix(Self.rowsMax).enumerated() {
                let row = title == "meanwhile" ? "\(index + 1)  \(row)" : row
                let lines = TextColumns.wrap(row, width: Int((width - 2 * margin) / columnWidth), first: "", hang: 4)
                for (number, line) in lines.prefix(linesMax).enumerated() {
                    write(number + 1 == linesMax && lines.count > linesMax ? "\(line) …" : line[...], "words")
                }
            }
            if rows.count > Self.rowsMax { write("… and \(rows.count - Self.rowsMax) more", "words") }
            y += 10
        }
        return (svg, y)
    }
}
