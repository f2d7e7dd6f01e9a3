import ArbiterProtocol

/// The looks of causes, states and marks, in a terminal and in SVG: no two the same, with or without colours.
extension Cause {
    /// The letter stands where the name does not fit; the hatching has stripes of a direction and of widths, or dots.
    var look:
        (
            letter: Character, ink: TerminalStyle.Ink, colour: String,
            hatching: (degrees: Int, stripes: [Int], isDotted: Bool)
        )
    {
        switch self {
        case .videoDeviceInUseByAnotherClient: ("D", .magenta, "#9c36b5", (45, [3], false))
        case .audioDeviceInUseByAnotherClient: ("A", .blue, "#3b5bdb", (-45, [3], false))
        case .videoDeviceNotAvailableInBackground: ("B", .cyan, "#0c8599", (0, [3], false))
        case .videoDeviceNotAvailableWithMultipleForegroundApps: ("M", .yellow, "#e8590c", (90, [3], false))
        case .videoDeviceNotAvailableDueToSystemPressure: ("H", .red, "#c92a2a", (45, [3], true))
        case .sensitiveContentMitigationActivated: ("C", .red, "#a61e4d", (0, [4], true))
        case .videoDeviceDisconnected: ("U", .red, "#495057", (45, [6], false))
        case .videoDeviceBlockedByPrivacy: ("P", .red, "#5f3dc4", (-45, [6], false))
        case .loginSessionInactive: ("L", .cyan, "#5c940d", (0, [6], false))
        case .systemSleep: ("Z", .cyan, "#364fc7", (90, [6], false))
        case .deviceError: ("E", .red, "#d9480f", (45, [1, 2], false))
        case .recorderReset: ("R", .red, "#862e9c", (-45, [1, 2], false))
        case .brokerRestarted: ("X", .red, "#087f5b", (0, [1, 2], false))
        case .waitingForPermission: ("Q", .cyan, "#1971c2", (90, [4], true))
        }
    }
}

extension Timeline.State {
    var look: (glyph: Character, ink: TerminalStyle.Ink?, paint: String) {
        switch self {
        case .running: ("━", .green, "fill=\"#69db7c\" stroke=\"#2b8a3e\"")
        case .starting: ("╌", .faint, "fill=\"#ebfbee\" stroke=\"#2b8a3e\" stroke-dasharray=\"3 2\"")
        case .restricted:
            // A restricted session runs: its frame is the running one's, and its hatching the cause's.
            (
                "┅", .yellow,
                "fill=\"\(reason.map(SVGPalette.hatching) ?? "#ffe066")\" stroke=\"#e67700\" stroke-width=\"2\""
            )
        case .interrupted:
            (
                "░", reason?.look.ink ?? .red,
                "fill=\"\(SVGPalette.hatching(reason))\" stroke=\"\(SVGPalette.colour(reason))\""
            )
        case .stopped, .free: ("·", .faint, "fill=\"#adb5bd\"")
        case .held: ("─", nil, "fill=\"#d0ebff\" stroke=\"#1971c2\"")
        }
    }
}

extension Timeline.Mark.Kind {
    /// In SVG a photo is a diamond, a stop for good a cross, trouble a triangle.
    var look: (words: String, glyph: String, ink: TerminalStyle.Ink, shape: String, paint: String) {
        switch self {
        case .photo:
            ("photo", "◆", .bold, "m0 -6 l6 6 l-6 6 l-6 -6 z", "fill=\"#1864ab\" stroke=\"#ffffff\"")
        case .stoppedForGood:
            (
                "stopped for good", "✕", .brightRed, "m-5 -5 l10 10 m0 -10 l-10 10",
                "fill=\"none\" stroke=\"#c92a2a\" stroke-width=\"3\""
            )
        case .trouble: ("trouble", "!", .brightRed, "m0 -6 l6 11 l-12 0 z", "fill=\"#c92a2a\" stroke=\"#ffffff\"")
        }
    }
}

extension Timeline.Deadline.Kind {
    var look: (words: String, paint: String) {
        switch self {
        case .lease: ("lease runs", "fill=\"#868e96\"")
        case .confirmation:
            ("a cut waits to be confirmed", "fill=\"#f08c00\" stroke=\"#495057\" stroke-dasharray=\"2 2\"")
        }
    }
}

/// Colours for a terminal, or none: shapes have the same meaning without them.
public struct TerminalStyle: Hashable, Sendable {
    public var hasColour: Bool
    public init(hasColour: Bool) { self.hasColour = hasColour }

    /// SGR codes of the sixteen colours every terminal has, so that a user's theme stays in force.
    enum Ink: String {
        case green = "32"
        case yellow = "33"
        case red = "31"
        case blue = "34"
        case magenta = "35"
        case cyan = "36"
        case brightRed = "91"
        case faint = "2"
        case bold = "1"
    }

    func paint(_ text: String, _ ink: Ink?) -> String {
        guard hasColour, let ink, !text.isEmpty else { return text }
        return "\u{1b}[\(ink.rawValue)m\(text)\u{1b}[0m"
    }
}

/// The paints of an SVG timeline: colours light enough for dark words on them, and hatchings that differ without colours.
enum SVGPalette {
    /// Paper is white, whatever the screen is.
    static let style = """
        text { font: 12px "DejaVu Sans", Verdana, Helvetica, sans-serif; fill: #1d232a; }
        .lane { font-weight: bold; text-anchor: end; } .heading { font-weight: bold; }
        .tick { font-size: 11px; fill: #4a5561; text-anchor: middle; } .small { font-size: 10px; fill: #4a5561; }
        .label { fill: #101418; text-anchor: middle; } .number { font-size: 10px; text-anchor: middle; }
        @media screen and (prefers-color-scheme: dark) {
        .paper { fill: #16191d; } text { fill: #e9ecef; } .tick, .small { fill: #adb5bd; } .label { fill: #101418; }
        .grid { stroke: #3b424a; } .note { fill: #343a40; } .ink { stroke: #ced4da; }
        }
        @media print { .paper { fill: #ffffff; } }
        """

    static let grace = "fill=\"#d9480f\""
    static let graceLeft = "stroke=\"#d9480f\" stroke-dasharray=\"2 2\""
    static let recording = "rx=\"2\" fill=\"#c92a2a\""
    static let ranOut = "class=\"ink\" stroke=\"#c92a2a\" stroke-width=\"2\""
    static let timeLeft = "class=\"ink\" stroke=\"#495057\" stroke-dasharray=\"2 3\""
    static let note = "class=\"note\" rx=\"8\" fill=\"#f1f3f5\" stroke=\"#868e96\""
    /// Under words on a hatching.
    static let plate = "class=\"plate\" rx=\"3\" fill=\"#ffffff\" fill-opacity=\"0.86\""

    static func colour(_ cause: Cause?) -> String { cause?.look.colour ?? "#868e96" }
    static func hatching(_ cause: Cause?) -> String { "url(#\(pattern(cause)))" }
    private static func pattern(_ cause: Cause?) -> String { "why-\(cause?.rawValue ?? 0)" }

    static func patterns(causes: [Cause]) -> String {
        let all: [Cause?] = causes.map { $0 } + [nil]
        return all.map { cause in
            let colour = colour(cause)
            let (degrees, stripes, isDotted) = cause?.look.hatching ?? (90, [1, 2], false)
            var (x, shapes) = (0, "")
            for stripe in stripes {
                shapes += "<rect x=\"\(x)\" width=\"\(stripe)\" height=\"\(isDotted ? stripe : 8)\" fill=\"\(colour)\" "
                shapes += "fill-opacity=\"0.6\"/>"
                x += stripe + 2
            }
            return """
                <pattern id="\(pattern(cause))" width="8" height="8" patternUnits="userSpaceOnUse" \
                patternTransform="rotate(\(degrees))"><rect width="8" height="8" fill="#ffffff"/>\
                <rect width="8" height="8" fill="\(colour)" fill-opacity="0.18"/>\(shapes)</pattern>

                """
        }.joined()
    }
}

extension Double {
    /// Pixels to a hundredth, as short as possible and the same on every machine.
    var px: String { ((self * 100).rounded() / 100).shortDescription }
}

enum TimeAxis {
    private static let steps: [Int64] = [
        10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
        1_800_000, 3_600_000,
    ]

    /// In seconds below a minute, so that neighbours look alike.
    static func text(_ tick: Duration) -> String {
        let milliseconds = tick.wholeNanoseconds / 1_000_000
        return milliseconds < 60_000 ? "\((Double(milliseconds) / 1000).shortDescription)s" : tick.shortText
    }

    static func ticks(_ duration: Duration, atMost count: Int) -> [Duration] {
        let milliseconds = max(0, duration.wholeNanoseconds / 1_000_000)
        let longest: Int64 = 3_600_000
        // Multiples of the longest step follow, so that a week has no more ticks than a minute.
        let step =
            steps.first { milliseconds / $0 <= Int64(count) }
            ?? longest * ((milliseconds / longest + Int64(count) - 1) / Int64(count))
        return stride(from: 0, through: milliseconds, by: Int(step)).map { .milliseconds($0) }
    }
}

extension String {
    /// The text for XML 1.0, which excludes two more characters.
    var xml: String {
        let safe: [Unicode.Scalar] = printable.unicodeScalars.map { $0 == "\u{fffe}" || $0 == "\u{ffff}" ? "?" : $0 }
        return String(String.UnicodeScalarView(safe)).markupEscaped(inAttribute: true)
    }
}
