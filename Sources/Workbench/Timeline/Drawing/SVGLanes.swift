import ArbiterProtocol

extension SVGDrawing {
    func draw(_ lane: Timeline.Lane, _ short: String, _ y: Double) -> String {
        let name = lane.shownName
        return "<g role=\"group\" aria-label=\"\(name.xml)\">\n"
            + text(short, left - 12, y + 17, "lane", hint: short == name ? nil : name)
            + line(left, y + laneHeight / 2, left + plotWidth, y + laneHeight / 2, "class=\"grid\" stroke=\"#eef1f4\"")
            + merged(lane.spans).map { draw($0, of: lane, y) }.joined() + graces(lane, y) + recordings(lane, y)
            + deadlines(lane, y) + marks(lane, y) + "</g>\n"
    }

    /// A span as it is drawn: the longest of several that share a pixel.
    private struct Drawn {
        var span: Timeline.Span
        var begin: Moment
        var end: Moment
        var count = 1
    }

    private func merged(_ spans: [Timeline.Span]) -> [Drawn] {
        var found: [Drawn] = []
        for span in spans {
            guard let last = found.indices.last, found[last].end == span.begin, x(span.end) - x(found[last].begin) < 1
            else {
                found.append(Drawn(span: span, begin: span.begin, end: span.end))
                continue
            }
            found[last].count += 1
            found[last].end = span.end
            let longest = found[last].span
            if span.end - span.begin > longest.end - longest.begin { found[last].span = span }
        }
        return found
    }

    private func draw(_ drawn: Drawn, of lane: Timeline.Lane, _ y: Double) -> String {
        let (span, from, to) = (drawn.span, x(drawn.begin), x(drawn.end))
        let spanWidth = max(1.5, to - from)
        let isThin = span.state == .stopped || span.state == .free
        let (top, height) = isThin ? (y + laneHeight / 2 - 1.5, 3.0) : (y, laneHeight)
        let changes = drawn.count == 1 ? span.state.name : "\(drawn.count) changes"
        let words = "\(changes), \(timeline.times(drawn.begin, drawn.end))"
        let paint = "rx=\"\((isThin ? 1 : min(3, spanWidth / 3)).px)\" \(span.state.look.paint)"
        let label = label(of: span.state, from, to, y)
        guard let link = link(lane, span) else { return rect(from, top, spanWidth, height, paint, words) + label }
        let hint = "\(lane.shownName): \(words). \(link.words)"
        return "<a href=\"#\(link.target.xml)\" aria-label=\"\(hint.xml)\">"
            + "\(rect(from, top, spanWidth, height, paint, hint))\(label)</a>\n"
    }

    /// The longest label that fits, else the letter of the cause; on a plate where the hatching would make it unreadable.
    private func label(of state: Timeline.State, _ from: Double, _ to: Double, _ y: Double) -> String {
        let room = Int((to - from - 10) / columnWidth)
        var labels = state.labels.map(\.printable)
        switch state {
        case .interrupted, .restricted: labels += state.reason.map { [String($0.look.letter)] } ?? []
        case .held: labels.append(names.told(labels[0]).fitted(room))
        case .starting: break
        case .running, .stopped, .free: return ""
        }
        // Two letters of a name and an ellipsis name nobody.
        guard let shown = labels.first(where: { $0.columns <= room }), !shown.isEmpty,
            shown.columns >= 3 || state.reason != nil
        else { return "" }
        let plate = Double(shown.columns) * columnWidth + 6
        return (state.reason == nil ? "" : rect((from + to - plate) / 2, y + 5, plate, 16, SVGPalette.plate))
            + text(shown, (from + to) / 2, y + 17.5, "label")
    }

    /// Bars of a lane, in order: at least 2 px wide, and one for each pixel.
    private func bars<Part: TimelinePart>(
        _ parts: [Part], _ draw: (_ index: Int, Part, _ from: Double, _ to: Double) -> String
    ) -> String {
        var (svg, drawnTo) = ("", -Double.infinity)
        for (index, part) in parts.enumerated() where x(part.end) >= drawnTo + 1 {
            drawnTo = max(x(part.end), x(part.begin) + 2)
            svg += draw(index, part, x(part.begin), drawnTo)
        }
        return svg
    }

    /// Above the lane: from the warning to its end, and thin on to its deadline.
    private func graces(_ lane: Timeline.Lane, _ y: Double) -> String {
        bars(lane.warnings) { _, warning, from, to in
            let isOpen = warning.end < warning.deadline && warning.deadline <= timeline.end
            return rect(from, y - 7, to - from, 5, SVGPalette.grace, "told to yield: \(timeline.words(warning))")
                + (isOpen ? line(to, y - 4.5, x(warning.deadline), y - 4.5, SVGPalette.graceLeft) : "")
        }
    }

    private func recordings(_ lane: Timeline.Lane, _ y: Double) -> String {
        var writtenTo = -Double.infinity
        return bars(lane.recordings) { index, recording, from, to in
            let words = recording.words
            var svg = rect(
                from, y + laneHeight + 3, to - from, 5, SVGPalette.recording, "recording \(recording.id): \(words)")
            let why = recording.finished?.why.rawValue ?? words
            let next = index + 1 < lane.recordings.count ? x(lane.recordings[index + 1].begin) : width - margin
            // Beneath its beginning, or as far to the left as the edge of the picture needs.
            for words in ["recording \(recording.id): \(why)", "rec. \(recording.id)", "\(recording.id)"] {
                let length = Double(words.columns) * Self.smallColumnWidth
                let place = min(from, width - margin - length)
                guard place >= writtenTo, place + length <= max(next - 6, from) || next >= width - margin else {
                    continue
                }
                svg += text(words, place, y + laneHeight + 18, "small")
                writtenTo = place + length + 6
                break
            }
            return svg
        }
    }

    /// Beneath a camera: each time as long as it ran, and on to its due end.
    private func deadlines(_ lane: Timeline.Lane, _ y: Double) -> String {
        var writtenTo = -Double.infinity
        let middle = y + laneHeight + 5.5
        return bars(lane.deadlines) { _, deadline, from, to in
            let kind = deadline.kind.rawValue
            let words = "\(kind), \(timeline.words(deadline))"
            // A gap keeps one lease apart from the next.
            var svg = rect(from, middle - 2, max(2, to - from - 2), 4, deadline.kind.look.paint, words)
            if !deadline.isMet {
                svg += line(to, middle - 5, to, middle + 5, SVGPalette.ranOut)
            } else if deadline.end < timeline.end, deadline.due <= timeline.end {
                svg += line(to, middle, x(deadline.due), middle, SVGPalette.timeLeft)
            }
            let label = [words, kind].first { Double($0.columns) * Self.smallColumnWidth <= to - from }
            if let label, from >= writtenTo {
                svg += text(label, from, middle + 13, "small")
                writtenTo = from + Double(label.columns) * Self.smallColumnWidth + 6
            }
            return svg
        }
    }

    private func marks(_ lane: Timeline.Lane, _ y: Double) -> String {
        var last: (x: Double, kind: Timeline.Mark.Kind)?
        return lane.marks.map { one in
            let x = x(one.moment)
            if let last, last.kind == one.kind, x < last.x + 2 { return "" }
            last = (x, one.kind)
            return mark(one.kind, x, y - 1, one.words)
        }.joined()
    }
}

extension Timeline.State {
    fileprivate var name: String {
        switch self {
        case .stopped: "stopped"
        case .starting: "starting"
        case .running: "running"
        case .restricted: "running, \(label)"
        case .interrupted(let id, _, _, _): "interrupted #\(id): \(label)"
        case .held(let holder): "held by \(holder)"
        case .free: "free"
        }
    }
}
