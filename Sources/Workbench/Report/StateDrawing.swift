/// The state graph as a picture in layers: the beginning on top, each situation as far below it as it takes moves. Its
/// layout is a page of code, since situations are few; a library for large graphs would be larger than all else here.
struct StateDrawing {
    private static let boxWidth = 312.0
    private static let lineHeight = 16.0
    private static let gapX = 22.0
    private static let gapY = 62.0
    private static let perRow = 3
    private static let margin = 16.0
    /// The mean width of a letter of the 12 px font: wide and narrow letters even out.
    private static let columnWidth = 6.6

    private let graph: StateGraph
    private let id: String
    private var boxes: [(x: Double, y: Double, row: Int)] = []
    private var height = 0.0
    private let boxHeight: Double

    init(_ graph: StateGraph, id: String) {
        self.graph = graph
        self.id = id
        boxHeight = 26 + Self.lineHeight * Double(graph.situations.map(\.sessions.count).max() ?? 1)
        place()
    }

    private var width: Double {
        Self.margin * 2 + Double(Self.perRow) * Self.boxWidth + Double(Self.perRow - 1) * Self.gapX
    }

    /// Rows of a layer's situations, each below those that lead to it as far as there is room.
    private mutating func place() {
        boxes = graph.situations.map { _ in (0, 0, 0) }
        var y = Self.margin
        var row = 0
        for depth in 0...(graph.situations.map(\.depth).max() ?? 0) {
            let layer = graph.situations.indices.filter { graph.situations[$0].depth == depth }
                .map { (index: $0, pull: pull($0)) }.sorted { ($0.pull, $0.index) < ($1.pull, $1.index) }.map(\.index)
            var rest = layer[...]
            while !rest.isEmpty {
                let line = rest.prefix(Self.perRow)
                rest = rest.dropFirst(Self.perRow)
                let used = Double(line.count) * Self.boxWidth + Double(line.count - 1) * Self.gapX
                var x = (width - used) / 2
                for index in line {
                    boxes[index] = (x, y, row)
                    x += Self.boxWidth + Self.gapX
                }
                y += boxHeight + Self.gapY
                row += 1
            }
        }
        // Room for the ways between neighbours of the last row.
        height = y - Self.gapY * 0.4 + Self.margin
    }

    private func pull(_ index: Int) -> Double {
        let above = graph.steps.filter {
            $0.to == index && graph.situations[$0.from].depth < graph.situations[index].depth
        }
        guard !above.isEmpty else { return 0 }
        return above.reduce(0) { $0 + boxes[$1.from].x } / Double(above.count)
    }

    var svg: Markup {
        html(
            "svg", .style("states"), .set("viewBox", "0 0 \(px(width)) \(px(height))"), .set("role", "group"),
            .set("aria-labelledby", "\(id)-title")
        ) {
            html("title", .id("\(id)-title")) {
                "\(count(graph.situations.count, "situation")) and what leads from one to another; the table below says the same"
            }
            html("defs") {
                html(
                    "marker", .id("\(id)-arrow"), .set("viewBox", "0 0 8 8"), .set("refX", "7"), .set("refY", "4"),
                    .set("markerWidth", "7"), .set("markerHeight", "7"), .set("orient", "auto-start-reverse")
                ) { html("path", .set("d", "M0 0 L8 4 L0 8 z"), .style("tip")) }
            }
            graph.steps.map(edge)
            graph.situations.indices.map(box)
        }
    }

    private func edge(_ step: StateGraph.Step) -> Markup {
        let (from, to) = (boxes[step.from], boxes[step.to])
        let half = Self.boxWidth / 2
        // Ways down leave right of the middle and ways up left of it, so that there and back are two lines.
        let path: String
        if from.row == to.row {
            let side = from.x < to.x ? 1.0 : -1.0
            let (x1, x2) = (from.x + half + side * half * 0.6, to.x + half - side * half * 0.6)
            let y = from.y + (side > 0 ? boxHeight : 0)
            let bow = y + side * Self.gapY * 0.55
            path = "M\(px(x1)) \(px(y)) C\(px(x1)) \(px(bow)) \(px(x2)) \(px(bow)) \(px(x2)) \(px(y))"
        } else {
            let isDown = to.row > from.row
            let shift = isDown ? 18.0 : -18.0
            let (x1, y1) = (from.x + half + shift, from.y + (isDown ? boxHeight : 0))
            let (x2, y2) = (to.x + half + shift, to.y + (isDown ? 0 : boxHeight))
            let bend = (y2 - y1) * 0.5
            path = "M\(px(x1)) \(px(y1)) C\(px(x1)) \(px(y1 + bend)) \(px(x2)) \(px(y2 - bend)) \(px(x2)) \(px(y2))"
        }
        return html(
            "path", .style("edge"), .set("d", path), .set("marker-end", "url(#\(id)-arrow)"),
            .set("data-from", "\(step.from + 1)"), .set("data-to", "\(step.to + 1)")
        ) { html("title") { "\(step.from + 1) to \(step.to + 1): \(step.moves.joined(separator: ", or "))" } }
    }

    private func box(_ index: Int) -> Markup {
        let (situation, box) = (graph.situations[index], boxes[index])
        let kind = StateKind(situation)
        let room = Int((Self.boxWidth - 16) / Self.columnWidth)
        return html(
            "a", .to("\(id)-row-\(index + 1)"), .style("box \(kind.rawValue)"), .set("data-number", "\(index + 1)"),
            .set("aria-label", "Situation \(index + 1): \(situation.sentence)")
        ) {
            html(
                "rect", .set("x", px(box.x)), .set("y", px(box.y)), .set("width", px(Self.boxWidth)),
                .set("height", px(boxHeight)), .set("rx", "6")
            ) { html("title") { situation.sentence } }
            html("text", .style("number"), .set("x", px(box.x + 10)), .set("y", px(box.y + 18))) {
                index == 0 ? "1, the beginning" : "\(index + 1)"
            }
            situation.sessions.enumerated().map { line, session in
                html(
                    "text", .set("x", px(box.x + 10)), .set("y", px(box.y + 34 + Double(line) * Self.lineHeight))
                ) { Self.fitted("\(session.name): \(session.does.words)", room) }
            }
        }
    }

    private static func fitted(_ text: String, _ room: Int) -> String {
        text.count <= room ? text : text.prefix(room - 1) + "…"
    }

    /// Tenths of a pixel are finer than anybody sees.
    private func px(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }

    var asTable: Markup {
        table(
            "What leads from each situation to which other", ["Situation", "What happens, and where it leads"],
            rows: graph.situations.indices.map(tableRow))
    }

    private func tableRow(_ index: Int) -> Markup {
        let steps = graph.steps.filter { $0.from == index }
        let leads = markup {
            if steps.isEmpty { "nothing that shows" }
            list(steps, .style("plain")) { step in
                html("a", .to("\(id)-row-\(step.to + 1)")) { "to \(step.to + 1)" }
                ": "
                html("code") { Self.moves(step.moves) }
            }
        }
        return row(
            .id("\(id)-row-\(index + 1)"), head: Markup("\(index + 1): \(graph.situations[index].sentence)"), [leads])
    }

    private static func moves(_ moves: [String]) -> String {
        let shownMax = 4
        let more = moves.count > shownMax ? ", and \(moves.count - shownMax) more" : ""
        return moves.prefix(shownMax).joined(separator: ", or ") + more
    }
}

private enum StateKind: String {
    case idle, held, contested

    init(_ situation: StateGraph.Situation) {
        let isHeld = situation.sessions.contains { if case .has = $0.does { true } else { false } }
        let isWaiting = situation.sessions.contains { $0.does == .waits }
        self = isWaiting ? .contested : isHeld ? .held : .idle
    }
}

extension StateGraph.Situation {
    var sentence: String { sessions.map { "\($0.name) \($0.does.sentence)" }.joined(separator: ", ") }
}

extension StateGraph.Doing {
    fileprivate var sentence: String {
        switch self {
        case .off: "is off"
        case .heldBack(let cause): "is held back (\(cause))"
        case .begins, .has, .watches, .waits: words
        }
    }
}
