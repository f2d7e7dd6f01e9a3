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

    static func paint(_ state: Timeline.State) -> String {
        switch state {
        case .running: "fill=\"#69db7c\" stroke=\"#2b8a3e\""
        case .starting: "fill=\"#ebfbee\" stroke=\"#2b8a3e\" stroke-dasharray=\"3 2\""
        case .restricted(_, let causes):
            // A restricted session runs: its frame is the running one's, and its hatching the cause's.
            causes.reason.map { "fill=\"url(#\(pattern($0)))\" stroke=\"#e67700\" stroke-width=\"2\"" }
                ?? "fill=\"#ffe066\" stroke=\"#e67700\" stroke-width=\"2\""
        case .interrupted(_, let causes, _):
            "fill=\"url(#\(pattern(causes.reason)))\" stroke=\"\(colour(causes.reason))\""
        case .stopped, .free: "fill=\"#adb5bd\""
        case .held: "fill=\"#d0ebff\" stroke=\"#1971c2\""
        }
    }

    static let grace = "fill=\"#d9480f\""

    static func deadline(_ kind: Timeline.Deadline.Kind) -> String {
        switch kind {
        case .lease: "fill=\"#868e96\""
        case .confirmation: "fill=\"#f08c00\" stroke=\"#495057\" stroke-dasharray=\"2 2\""
        }
    }

    /// A photo is a diamond, a stop for good a cross, trouble a triangle.
    static func mark(_ kind: Timeline.Mark.Kind, at x: Double, _ y: Double, _ hint: String) -> String {
        let (shape, paint) =
            switch kind {
            case .photo: ("m0 -6 l6 6 l-6 6 l-6 -6 z", "fill=\"#1864ab\" stroke=\"#ffffff\"")
            case .stoppedForGood:
                ("m-5 -5 l10 10 m0 -10 l-10 10", "fill=\"none\" stroke=\"#c92a2a\" stroke-width=\"3\"")
            case .trouble: ("m0 -6 l6 11 l-12 0 z", "fill=\"#c92a2a\" stroke=\"#ffffff\"")
            }
        return "<path d=\"M\(x.px) \(y.px) \(shape)\" \(paint)>\(hint)</path>\n"
    }

    static func colour(_ cause: Cause?) -> String { cause?.look.colour ?? "#868e96" }

    private static func pattern(_ cause: Cause?) -> String { "why-\(cause?.rawValue ?? 0)" }

    static func patterns(causes: [Cause]) -> String {
        let all: [Cause?] = causes.map { $0 } + [nil]
        return all.map { cause in
            let colour = colour(cause)
            let (degrees, stripes, isDotted) =
                cause.map { ($0.look.degrees, $0.look.stripes, $0.look.isDotted) } ?? (90, [1, 2], false)
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
    /// The text for XML: markup escaped, and what XML forbids replaced.
    var xml: String {
        var safe = ""
        for scalar in printable.unicodeScalars {
            switch scalar {
            case "&": safe += "&amp;"
            case "<": safe += "&lt;"
            case ">": safe += "&gt;"
            case "\"": safe += "&quot;"
            // No characters in XML 1.0.
            case "\u{fffe}", "\u{ffff}": safe += "?"
            default: safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }
}
