public import ArbiterProtocol

/// The live timeline, for a terminal that only appends: time runs down, each lane is a column, each event a line with every lane's
/// state and the event's words.
///
///     time    photos               call
///      0.12s  ━ running            ·                    photos didStartRunning
///      2.50s  ░ device-in-use      ╌ starting           photos wasInterrupted #1 device-in-use by call
public struct LiveTimeline: Sendable {
    private var builder = TimelineBuilder()
    private var begin: Moment?
    /// Moments of two sources may overlap.
    private var latest = Moment.zero
    private var headed: [String] = []
    private var linesSinceHeader = 0
    private let width: Int
    private let style: TerminalStyle

    /// The header stays on the screen.
    private static let linesForEachHeader = 30
    private static let timeWidth = 9
    private static let laneWidthMax = 24
    /// A narrower column has its glyph alone.
    private static let wordsWidthMin = 10

    public init(width: Int, style: TerminalStyle) {
        self.width = max(width, Timeline.terminalWidthMin)
        self.style = style
    }

    public mutating func note(_ event: SessionEvent, lane: String, at moment: Moment) -> [String] {
        builder.note(event, lane: lane, at: moment)
        return line("\(lane.printable) \(event.line)", at: moment, changed: lane)
    }

    public mutating func note(_ fact: TimelineFact, at moment: Moment) -> [String] {
        // A closed session's client leaves without news.
        if case .left(let lane) = fact, builder.state(of: lane) == nil { return [] }
        builder.note(fact, at: moment)
        switch fact {
        case .appeared(let lane): return line("\(lane.printable) appeared", at: moment, changed: lane)
        case .left(let lane): return line("\(lane.printable) left", at: moment, changed: lane)
        case .holder(let camera, let holder):
            return line("\(camera.printable) \(holder.map { "held by \($0.printable)" } ?? "free")", at: moment)
        case .deadline(let camera, let kind, let due):
            let text = due.map { "due in \(($0 - moment).shortText)" } ?? "over"
            return line("\(camera.printable) \(kind.rawValue) \(text)", at: moment)
        case .note(let text): return line(text.printable, at: moment)
        }
    }

    private mutating func line(_ text: String, at moment: Moment, changed: String? = nil) -> [String] {
        if begin == nil { begin = moment }
        latest = max(latest, moment)
        let since = begin.map { latest - $0 } ?? .zero
        let lanes = builder.appLanes
        // Half of the line is for the lanes, half for the words.
        let laneWidth = min(Self.laneWidthMax, max(2, (width - Self.timeWidth) / 2 / max(1, lanes.count)))
        var lines: [String] = []
        if lanes != headed || linesSinceHeader >= Self.linesForEachHeader {
            headed = lanes
            linesSinceHeader = 0
            let names = lanes.map { $0.printable.fitted(laneWidth - 1).padded(laneWidth) }.joined()
            lines.append(style.paint(("time".padded(Self.timeWidth) + names).trimmedAtEnd.fitted(width), .bold))
        }
        linesSinceHeader += 1
        var shown = since.seconds.padded(Self.timeWidth)
        var used = Self.timeWidth
        for lane in lanes where used + laneWidth <= width {
            shown += cell(lane, laneWidth, isChanged: lane == changed)
            used += laneWidth
        }
        shown += text.fitted(width - used)
        lines.append(shown.trimmedAtEnd)
        return lines
    }

    private func cell(_ lane: String, _ width: Int, isChanged: Bool) -> String {
        guard let state = builder.state(of: lane) else { return "".padded(width) }
        let recording = builder.isRecording(lane)
        var text = String(state.look.glyph)
        if recording { text += "●" }
        if isChanged, width >= Self.wordsWidthMin {
            text += " " + (recording ? "recording" : state.label.isEmpty ? "stopped" : state.label.printable)
        }
        return style.paint(text.fitted(width - 1).padded(width), recording ? .brightRed : state.look.ink)
    }
}

extension Duration {
    var seconds: String {
        let hundredths = wholeNanoseconds / 10_000_000
        let fraction = abs(hundredths % 100)
        let text = "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)s"
        return String(repeating: " ", count: max(0, 7 - text.count)) + text
    }
}
