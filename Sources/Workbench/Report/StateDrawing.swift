/// The state graph as a picture in layers: the beginning on top, each situation as far below it as it takes moves.
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
            "svg",
            [
                "class": "states", "viewBox": "0 0 \(width.px) \(height.px)", "role": "group",
                "aria-labelledby": "\(id)-title",
            ]
        ) {
            html("title", ["id": "\(id)-title"]) {
                "\(count(graph.situations.count, "situation")) and what leads from one to another; the table below says the same"
            }
            html("defs") {
                html(
                    "marker",
                    [
                        "id": "\(id)-arrow", "viewBox": "0 0 8 8", "refX": "7", "refY": "4", "markerWidth": "7",
                        "markerHeight": "7", "orient": "auto-start-reverse",
                    ]
                ) { html("path", ["d": "M0 0 L8 4 L0 8 z", "class": "tip"]) }
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
            path = "M\(x1.px) \(y.px) C\(x1.px) \(bow.px) \(x2.px) \(bow.px) \(x2.px) \(y.px)"
        } else {
            let isDown = to.row > from.row
            let shift = isDown ? 18.0 : -18.0
            let (x1, y1) = (from.x + half + shift, from.y + (isDown ? boxHeight : 0))
            let (x2, y2) = (to.x + half + shift, to.y + (isDown ? 0 : boxHeight))
            let bend = (y2 - y1) * 0.5
            path = "M\(x1.px) \(y1.px) C\(x1.px) \((y1 + bend).px) \(x2.px) \((y2 - bend).px) \(x2.px) \(y2.px)"
        }
        return html(
            "path",
            [
                "class": "edge", "d": path, "marker-end": "url(#\(id)-arrow)", "data-from": "\(step.from + 1)",
                "data-to": "\(step.to + 1)",
            ]
        ) { html("title") { "\(step.from + 1) to \(step.to + 1): \(step.moves.joined(separator: ", or "))" } }
    }

    private func box(_ index: Int) -> Markup {
        let (situation, box) = (graph.situations[index], boxes[index])
        let room = Int((Self.boxWidth - 16) / Self.columnWidth)
        return html(
            "a",
            [
                "href": "#\(id)-row-\(index + 1)", "class": "box \(situation.style)", "data-number": "\(index + 1)",
                "aria-label": "Situation \(index + 1): \(situation.sentence)",
            ]
        ) {
            html(
                "rect",
                ["x": box.x.px, "y": box.y.px, "width": Self.boxWidth.px, "height": boxHeight.px, "rx": "6"]
            ) { html("title") { situation.sentence } }
            html("text", ["class": "number", "x": (box.x + 10).px, "y": (box.y + 18).px]) {
                index == 0 ? "1, the beginning" : "\(index + 1)"
            }
            situation.sessions.enumerated().map { line, session in
                html(
                    "text", ["x": (box.x + 10).px, "y": (box.y + 34 + Double(line) * Self.lineHeight).px]
                ) { "\(session.name): \(session.does.words)".fitted(room) }
            }
        }
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
            list(steps, "plain") { step in
                html("a", ["href": "#\(id)-row-\(step.to + 1)"]) { "to \(step.to + 1)" }
                ": "
                html("code") { Self.moves(step.moves) }
            }
        }
        return row(
            ["id": "\(id)-row-\(index + 1)"], head: Markup("\(index + 1): \(graph.situations[index].sentence)"), [leads]
        )
    }

    private static func moves(_ moves: [String]) -> String {
        moves.prefix(4).joined(separator: ", or ") + (moves.count > 4 ? ", and \(moves.count - 4) more" : "")
    }
}

extension StateGraph.Situation {
    fileprivate var style: String {
        let isHeld = sessions.contains { if case .has = $0.does { true } else { false } }
        return sessions.contains { $0.does == .waits } ? "contested" : isHeld ? "held" : "idle"
    }

    fileprivate var sentence: String { sessions.map { "\($0.name) \($0.does.sentence)" }.joined(separator: ", ") }
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
