import ArbiterProtocol

/// The paints of an SVG timeline: colours light enough for dark words on them, and hatchings that tell causes apart without any.
enum SVGPalette {
    /// Fonts, and what a dark screen changes; paper is white whatever the screen is.
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
    static let recording = "rx=\"2\" fill=\"#c92a2a\""

    static func mark(_ kind: Timeline.Mark.Kind, at x: Double, _ y: Double, _ hint: String) -> String {
        "<path d=\"M\(x.px) \(y.px) \(kind.look.shape)\" \(kind.look.paint)>\(hint)</path>\n"
    }

    static func colour(_ cause: Cause?) -> String { cause?.look.colour ?? "#868e96" }
    static func hatching(_ cause: Cause?) -> String { "url(#\(pattern(cause)))" }
    private static func pattern(_ cause: Cause?) -> String { "why-\(cause?.rawValue ?? 0)" }

    static func patterns(causes: [Cause]) -> String {
        let all: [Cause?] = causes.map { $0 } + [nil]
        return all.map { cause in
            let colour = colour(cause)
            let (degrees, stripes, isDotted) = cause?.look.hatching ?? (90, [1, 2], false)
            var x = 0
            var shapes = ""
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
    var px: String {
        let hundredths = Int((self * 100).rounded())
        let fraction = abs(hundredths % 100)
        let sign = hundredths < 0 ? "-" : ""
        let whole = abs(hundredths / 100)
        if fraction == 0 { return "\(sign)\(whole)" }
        if fraction % 10 == 0 { return "\(sign)\(whole).\(fraction / 10)" }
        return "\(sign)\(whole).\(fraction < 10 ? "0" : "")\(fraction)"
    }
}

extension String {
    /// The text for XML 1.0, in which two more are no characters.
    var xml: String {
        let safe: [Unicode.Scalar] = printable.unicodeScalars.map { $0 == "\u{fffe}" || $0 == "\u{ffff}" ? "?" : $0 }
        return String(String.UnicodeScalarView(safe)).markupEscaped(inAttribute: true)
    }
}
