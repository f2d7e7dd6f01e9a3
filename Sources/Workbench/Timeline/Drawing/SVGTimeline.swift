import ArbiterProtocol

extension Timeline {
    /// The picture as an SVG document for browsers and print: light background (dark where a browser asks for it, never
    /// on paper), each cause with a colour, a hatching and a letter of its own, and beneath it a legend and what happened
    /// in words. A description and a title at each shape are there for screen readers and for the mouse.
    ///
    /// However many events there were, the document stays within some megabytes: what is narrower than a pixel is drawn
    /// as one, and of long lists the beginning is shown with how much is left out.
    public func svg(title: String = "Who had the camera") -> String {
        SVGDrawing(timeline: self, title: title).document()
    }
}

struct SVGDrawing {
    /// As many lanes as fit onto a few pages; the others are counted.
    static let lanesMax = 60
    /// As many lines of words beneath the picture as somebody reads; the others are counted.
    static let rowsMax = 60

    let timeline: Timeline
    let lanes: [Timeline.Lane]
    let title: String
    let link: (Timeline.Lane, Timeline.Span) -> Timeline.Link?
    package let names: ShortNames

    // Measures in px of the document; 1000 wide prints on a page without scaling trouble.
    let width = 1000.0
    let margin = 24.0
    let left: Double
    let right = 40.0
    let laneHeight = 26.0
    let laneGap = 30.0
    let top: Double
    let noteGroups: [NoteGroup]
    static let noteRowHeight = 20.0
    private static let noteRowsMax = 4
    static let rowHeight = 18.0

    /// A column of the 12 px sans font, at the wide end: a label taken for too short would lie over its neighbour.
    static let columnWidth = 7.4
    /// The same of the 10 px font.
    static let smallColumnWidth = 6.2

    init(
        timeline: Timeline, title: String,
        link: @escaping (Timeline.Lane, Timeline.Span) -> Timeline.Link? = { _, _ in nil }
    ) {
        self.timeline = timeline
        self.title = title
        self.link = link
        lanes = Array(timeline.lanes.prefix(Self.lanesMax))
        let names = lanes.map(\.shownName)
        // Bold letters are a little wider. A quarter of the picture is enough for names.
        let boldWidth = Self.columnWidth * 1.1
        let longest = Double(names.map(\.columns).max() ?? 0)
        left = margin + min(250, max(70, longest * boldWidth)) + 12
        self.names = ShortNames(names, columns: Int((left - margin - 12) / boldWidth))
        var groups: [NoteGroup] = []
        var ends = [Double](repeating: -.infinity, count: Self.noteRowsMax)
        let whole = max(1, Double(timeline.duration.wholeNanoseconds))
        for (index, note) in timeline.notes.prefix(Self.rowsMax).enumerated() {
            let x = left + Double((note.moment - timeline.begin).wholeNanoseconds) / whole * (width - left - right)
            let row = ends.firstIndex { $0 <= x }
            // Notes of one place share a number, and so do those that find no row free.
            if let last = groups.indices.last, row == nil || x < groups[last].x + 1 {
                groups[last].last = index + 1
                let group = groups[last]
                ends[group.row] = group.x + group.width + 2
            } else {
                let group = NoteGroup(x: x, row: row ?? 0, first: index + 1, last: index + 1)
                ends[group.row] = x + group.width + 2
                groups.append(group)
            }
        }
        noteGroups = groups
        let used = (groups.map(\.row).max() ?? -1) + 1
        top = 84 + Double(used) * Self.noteRowHeight
    }

    var plotWidth: Double { width - left - right }
    var plotBottom: Double { top + Double(lanes.count) * (laneHeight + laneGap) }

    func x(_ moment: Moment) -> Double {
        let whole = Double(timeline.duration.wholeNanoseconds)
        guard whole > 0 else { return left }
        let share = Double((moment - timeline.begin).wholeNanoseconds) / whole
        return left + min(1, max(0, share)) * plotWidth
    }

    func y(_ lane: Int) -> Double { top + Double(lane) * (laneHeight + laneGap) }

    func plot() -> (body: String, bottom: Double) {
        var body = axis() + noteMarks()
        for (index, lane) in lanes.enumerated() { body += draw(lane, index) }
        var bottom = plotBottom
        if timeline.lanes.count > lanes.count {
            let more = "… and \(timeline.lanes.count - lanes.count) more lanes, which are not drawn"
            body += text(more, margin, bottom + 4, "legend")
            bottom += Self.rowHeight
        }
        let (legend, end) = legend(from: bottom + 8)
        return (body + legend, end)
    }

    func document() -> String {
        var (body, legendBottom) = plot()
        let (words, height) = words(from: legendBottom + 26)
        body += words
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width.px) \(height.px)" width="\(width.px)" \
            height="\(height.px)" role="img" aria-labelledby="title desc">
            <title id="title">\(title.xml)</title>
            <desc id="desc">\(description.xml)</desc>
            <style>
            \(SVGPalette.style)
            .title { font-size: \(titleSize.px)px; font-weight: bold; }
            </style>
            <defs>
            \(SVGPalette.patterns(causes: causesShown))</defs>
            <rect class="paper" width="\(width.px)" height="\(height.px)" fill="#ffffff"/>
            \(text(shownTitle, margin, 34, "title"))\(body)</svg>

            """
    }

    /// A claim may be a long sentence: it gets smaller rather than cut, down to what can still be read.
    private var titleSize: Double { min(18, max(9, (width - 2 * margin) / 0.68 / Double(max(1, title.columns)))) }
    private var shownTitle: String { title.fitted(Int((width - 2 * margin) / 0.68 / titleSize)) }

    private var causesShown: [Cause] { CauseSet(lanes.flatMap { $0.spans.compactMap(\.state.reason) }).ordered }

    var description: String {
        let whole = "\(timeline.lanes.count) lanes over \(timeline.duration.shortText)."
        return lanes.reduce(whole) { words, lane in
            switch lane.kind {
            case .camera:
                let holders = lane.spans.reduce(into: [String]()) { names, span in
                    if case .held(let name) = span.state, !names.contains(name) { names.append(name) }
                }
                return
                    "\(words) Camera \(lane.shownName): held by \(list(holders.map(\.printable), or: "nobody"))."
            case .app:
                let running = lane.spans.reduce(Duration.zero) { sum, span in
                    switch span.state {
                    case .running, .restricted: sum + (span.end - span.begin)
                    case .stopped, .starting, .interrupted, .held, .free: sum
                    }
                }
                let interruptions = lane.interruptions.map { "\($0.labels.joined(separator: ", then "))" }
                return "\(words) App \(lane.shownName): ran for \(running.shortText), interrupted"
                    + " \(interruptions.count) time\(interruptions.count == 1 ? "" : "s")\(interruptions.isEmpty ? "" : ": " + list(interruptions, or: "")),"
                    + " \(lane.recordings.count) recording\(lane.recordings.count == 1 ? "" : "s")."
            }
        }
    }

    private func list(_ items: [String], or none: String) -> String {
        let shownMax = 5
        if items.isEmpty { return none }
        let more = items.count > shownMax ? " and \(items.count - shownMax) more" : ""
        return items.prefix(shownMax).joined(separator: "; ") + more
    }

    func axis() -> String {
        var svg = ""
        for tick in TimeAxis.ticks(timeline.duration, atMost: 12) {
            let x = x(timeline.begin + tick)
            svg += line(x, top - 8, x, plotBottom - laneGap + 16, "class=\"grid\" stroke=\"#e1e5ea\"")
            svg += text(TimeAxis.text(tick), x, top - 14, "tick")
        }
        return svg
    }

    /// The numbers of notes in the list beneath the picture, at the time of the first of them.
    struct NoteGroup {
        var x: Double
        var row: Int
        var first: Int
        var last: Int

        var words: String { first == last ? "\(first)" : "\(first)–\(last)" }
        var width: Double { max(16, Double(words.count) * SVGDrawing.smallColumnWidth + 8) }
    }

    func noteMarks() -> String {
        var svg = ""
        func middle(_ group: NoteGroup) -> Double { top - 38 - Double(group.row) * Self.noteRowHeight }
        // All lines before all numbers, and none through a time of the axis.
        for group in noteGroups {
            let paint = "class=\"grid\" stroke=\"#adb5bd\" stroke-dasharray=\"2 3\""
            svg += line(group.x, middle(group), group.x, top - 26, paint)
            svg += line(group.x, top - 8, group.x, plotBottom - laneGap + 16, paint)
        }
        for group in noteGroups {
            let middle = middle(group)
            let texts = timeline.notes[(group.first - 1)..<group.last].map(\.text).joined(separator: "; ")
            // A wide one stands beside its line, so that it stays within the picture.
            let begin = group.x - 8
            svg += rect(
                begin, middle - 8, group.width, 16, "class=\"note\" rx=\"8\" fill=\"#f1f3f5\" stroke=\"#868e96\"", texts
            )
            svg += text(group.words, begin + group.width / 2, middle + 3.5, "number")
        }
        return svg
    }

    func text(_ text: String, _ x: Double, _ y: Double, _ style: String) -> String {
        // Two spaces are the edge of a column, which XML would make one.
        let space = text.utf8.contains(UInt8(ascii: " ")) && text.contains("  ") ? " xml:space=\"preserve\"" : ""
        return "<text x=\"\(x.px)\" y=\"\(y.px)\" class=\"\(style)\"\(space)>\(text.xml)</text>\n"
    }

    func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ stroke: String) -> String {
        "<line x1=\"\(x1.px)\" y1=\"\(y1.px)\" x2=\"\(x2.px)\" y2=\"\(y2.px)\" \(stroke)/>\n"
    }

    func hint(_ words: String) -> String { "<title>\(words.xml)</title>" }

    func rect(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ paint: String, _ words: String) -> String {
        "<rect x=\"\(x.px)\" y=\"\(y.px)\" width=\"\(width.px)\" height=\"\(height.px)\" \(paint)>\(hint(words))</rect>\n"
    }
}

extension Timeline {
    /// Where on the page stands why a span began.
    public struct Link: Sendable {
        /// The id of an element of the page.
        public var target: String
        public var words: String
    }

    /// The picture as an element, without what all pictures of a page share (`svgShared`, `svgStyle`) and without the words
    /// beneath it, for which a page has better places.
    /// - Parameters:
    ///   - id: no other element's.
    ///   - link: why a span began; asked for each that is drawn. A link can be reached by keyboard, and needs no script.
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

extension SVGDrawing {
    func element(id: String) -> String {
        let (body, height) = plot()
        // A page has its own heading where a document has its title, in as many px.
        let above = noteGroups.isEmpty ? 54.0 : 34.0
        return """
            <svg class="timeline" viewBox="0 \(above.px) \(width.px) \((height + 12 - above).px)" role="group" \
            aria-labelledby="\(id.xml)-title \(id.xml)-desc">
            <title id="\(id.xml)-title">\(title.xml)</title>
            <desc id="\(id.xml)-desc">\(description.xml)</desc>
            \(body)</svg>

            """
    }
}

enum TimeAxis {
    private static let steps: [Int64] = [
        10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
        1_800_000, 3_600_000,
    ]

    /// A tick's name: in seconds below a minute, so that neighbours look alike.
    static func text(_ tick: Duration) -> String {
        let milliseconds = tick.wholeNanoseconds / 1_000_000
        return milliseconds < 60_000 ? "\((Double(milliseconds) / 1000).shortDescription)s" : tick.shortText
    }

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
