import ArbiterProtocol

extension SVGDrawing {
    func draw(_ lane: Timeline.Lane, _ index: Int) -> String {
        let y = y(index)
        let name = lane.shownName
        var svg = "<g role=\"group\" aria-label=\"\(name.xml)\">\n"
        svg += "<text x=\"\((left - 12).px)\" y=\"\((y + 17).px)\" class=\"lane\">\(names[index].xml)"
        svg += "\(names[index] == name ? "" : hint(name))</text>\n"
        svg += line(left, y + laneHeight / 2, left + plotWidth, y + laneHeight / 2, "class=\"grid\" stroke=\"#eef1f4\"")
        for span in merged(lane.spans) { svg += draw(span, of: lane, y) }
        svg += graces(lane, y) + recordings(lane, y) + deadlines(lane, y) + marks(lane, y)
        return svg + "</g>\n"
    }

    /// A span as it is drawn: of several that no eye could tell apart, the longest.
    private struct Drawn {
        var span: Timeline.Span
        var begin: Moment
        var end: Moment
        var count = 1
        var longest: Duration
    }

    /// Neighbours that together are narrower than a pixel become one: the picture has no more spans than pixels.
    private func merged(_ spans: [Timeline.Span]) -> [Drawn] {
        var found: [Drawn] = []
        for span in spans {
            let length = span.end - span.begin
            guard let last = found.indices.last, found[last].end == span.begin, x(span.end) - x(found[last].begin) < 1
            else {
                found.append(Drawn(span: span, begin: span.begin, end: span.end, longest: length))
                continue
            }
            found[last].count += 1
            found[last].end = span.end
            if length > found[last].longest { (found[last].span, found[last].longest) = (span, length) }
        }
        return found
    }

    private func draw(_ drawn: Drawn, of lane: Timeline.Lane, _ y: Double) -> String {
        let (span, from, to) = (drawn.span, x(drawn.begin), x(drawn.end))
        // Too short to see is still wide enough to be there.
        let spanWidth = max(1.5, to - from)
        let isThin = span.state == .stopped || span.state == .free
        let (top, height) = isThin ? (y + laneHeight / 2 - 1.5, 3.0) : (y, laneHeight)
        let times = timeline.words(from: drawn.begin, to: drawn.end)
        let words = drawn.count == 1 ? "\(span.state.name), \(times)" : "\(drawn.count) changes, \(times)"
        let paint = "rx=\"\((isThin ? 1 : min(3, spanWidth / 3)).px)\" \(span.state.look.paint)"
        let label = label(of: span.state, from, to, y)
        guard let link = link(lane, span) else { return rect(from, top, spanWidth, height, paint, words) + label }
        let said = "\(lane.shownName): \(words). \(link.words)"
        return "<a href=\"#\(link.target.xml)\" aria-label=\"\(said.xml)\">"
            + "\(rect(from, top, spanWidth, height, paint, said))\(label)</a>\n"
    }

    /// The cause and the other app, as far as they fit; else the letter of the cause.
    private func label(of state: Timeline.State, _ from: Double, _ to: Double, _ y: Double) -> String {
        let room = Int((to - from - 10) / Self.columnWidth)
        let shown: String
        switch state {
        case .interrupted, .restricted:
            let long = state.labels.map(\.printable).first { $0.columns <= room }
            guard let label = long ?? state.reason.map({ String($0.look.letter) }), label.columns <= room else {
                return ""
            }
            shown = label
        case .held(let holder):
            let name = holder.printable
            shown = name.columns <= room ? name : names.told(name).fitted(room)
        case .starting: shown = state.label.columns <= room ? state.label : ""
        case .running, .stopped, .free: return ""
        }
        // Two letters of a name and an ellipsis name nobody.
        guard !shown.isEmpty, shown.columns >= 3 || state.reason != nil else { return "" }
        var svg = ""
        if state.reason != nil {
            // A plate under the words keeps them readable on the hatching.
            let plate = Double(shown.columns) * Self.columnWidth + 6
            svg += "<rect class=\"plate\" x=\"\(((from + to - plate) / 2).px)\" y=\"\((y + 5).px)\" "
            svg += "width=\"\(plate.px)\" height=\"16\" rx=\"3\" fill=\"#ffffff\" fill-opacity=\"0.86\"/>\n"
        }
        return svg + text(shown, (from + to) / 2, y + 17.5, "label")
    }

    /// Above the lane: from the warning to its end, and thin on to where it would have ended.
    private func graces(_ lane: Timeline.Lane, _ y: Double) -> String {
        var svg = ""
        var drawnTo = -Double.infinity
        for warning in lane.warnings {
            let (from, to) = (x(warning.begin), x(warning.end))
            guard to >= drawnTo + 1 else { continue }
            drawnTo = max(to, from + 2)
            let words = "told to yield: \(warning.words(since: timeline.begin))"
            svg += rect(from, y - 7, drawnTo - from, 5, SVGPalette.grace, words)
            if warning.end < warning.deadline, warning.deadline <= timeline.end {
                svg += line(
                    drawnTo, y - 4.5, x(warning.deadline), y - 4.5, "stroke=\"#d9480f\" stroke-dasharray=\"2 2\"")
            }
        }
        return svg
    }

    private func recordings(_ lane: Timeline.Lane, _ y: Double) -> String {
        var svg = ""
        var drawnTo = -Double.infinity
        var writtenTo = -Double.infinity
        for (index, recording) in lane.recordings.enumerated() {
            let (from, to) = (x(recording.begin), x(recording.end))
            guard to >= drawnTo + 1 else { continue }
            drawnTo = max(to, from + 2)
            svg += rect(
                from, y + laneHeight + 3, drawnTo - from, 5, SVGPalette.recording,
                "recording \(recording.id): \(recording.words)")
            let why = recording.finished?.why.rawValue ?? "not finished"
            let next = index + 1 < lane.recordings.count ? x(lane.recordings[index + 1].begin) : width - margin
            let labels = ["recording \(recording.id): \(why)", "rec. \(recording.id)", "\(recording.id)"]
            // Beneath its beginning, or as far to the left as the edge of the picture asks for.
            for words in labels {
                let length = Double(words.columns) * Self.smallColumnWidth
                let place = min(from, width - margin - length)
                guard place >= writtenTo, place + length <= max(next - 6, from) || next >= width - margin else {
                    continue
                }
                svg += text(words, place, y + laneHeight + 18, "small")
                writtenTo = place + length + 6
                break
            }
        }
        return svg
    }

    /// Beneath a camera: how long each time ran, and on to where it would have been over.
    private func deadlines(_ lane: Timeline.Lane, _ y: Double) -> String {
        var svg = ""
        var writtenTo = -Double.infinity
        var drawnTo = -Double.infinity
        let middle = y + laneHeight + 5.5
        for deadline in lane.deadlines {
            let (from, to) = (x(deadline.begin), x(deadline.end))
            guard to >= drawnTo + 1 else { continue }
            drawnTo = max(to, from + 2)
            let words = deadline.words(since: timeline.begin, until: timeline.end)
            // A little short of its end, so that one lease is told from the next.
            svg += rect(
                from, middle - 2, max(2, drawnTo - from - 2), 4, deadline.kind.look.paint,
                "\(deadline.kind.rawValue), \(words)")
            if !deadline.isMet {
                svg += line(
                    drawnTo, middle - 5, drawnTo, middle + 5, "class=\"ink\" stroke=\"#c92a2a\" stroke-width=\"2\"")
            } else if deadline.end < timeline.end, deadline.due <= timeline.end {
                svg += line(
                    drawnTo, middle, x(deadline.due), middle,
                    "class=\"ink\" stroke=\"#495057\" stroke-dasharray=\"2 3\"")
            }
            let long = "\(deadline.kind.rawValue), \(words)"
            for label in [long, "\(deadline.kind.rawValue)"] {
                let length = Double(label.columns) * Self.smallColumnWidth
                guard length <= drawnTo - from, from >= writtenTo else { continue }
                svg += text(label, from, middle + 13, "small")
                writtenTo = from + length + 6
                break
            }
        }
        return svg
    }

    private func marks(_ lane: Timeline.Lane, _ y: Double) -> String {
        var svg = ""
        var last: (x: Double, kind: Timeline.Mark.Kind)?
        for mark in lane.marks {
            let x = x(mark.moment)
            if let last, last.kind == mark.kind, x < last.x + 2 { continue }
            last = (x, mark.kind)
            svg += SVGPalette.mark(mark.kind, at: x, y - 1, hint(mark.words))
        }
        return svg
    }
}

extension Timeline.State {
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
