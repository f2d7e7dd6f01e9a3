import ArbiterProtocol

/// The colours of an SVG timeline, light enough for dark words on them, apart enough for most eyes; the hatching of
/// interruptions does not depend on them.
enum SVGPalette {
    static func paint(_ state: Timeline.State) -> String {
        switch state {
        case .running: "fill=\"#69db7c\" stroke=\"#2b8a3e\""
        case .starting: "fill=\"#ebfbee\" stroke=\"#2b8a3e\" stroke-dasharray=\"3 2\""
        case .restricted: "fill=\"#ffe066\" stroke=\"#e67700\""
        case .interrupted(_, let causes, _):
            "fill=\"url(#\(pattern(causes.reason)))\" stroke=\"\(colour(causes.reason))\""
        case .stopped, .free: "fill=\"#ced4da\""
        case .held: "fill=\"#d0ebff\" stroke=\"#1971c2\""
        }
    }

    static func colour(_ cause: Cause?) -> String {
        switch cause {
        case .videoDeviceInUseByAnotherClient: "#9c36b5"
        case .audioDeviceInUseByAnotherClient: "#3b5bdb"
        case .videoDeviceNotAvailableInBackground: "#0c8599"
        case .videoDeviceNotAvailableWithMultipleForegroundApps: "#e8590c"
        case .videoDeviceNotAvailableDueToSystemPressure: "#c92a2a"
        case .sensitiveContentMitigationActivated: "#a61e4d"
        case .videoDeviceDisconnected: "#495057"
        case .videoDeviceBlockedByPrivacy: "#5f3dc4"
        case .loginSessionInactive: "#5c940d"
        case .systemSleep: "#364fc7"
        case .deviceError: "#d9480f"
        case .recorderReset: "#862e9c"
        case .brokerRestarted: "#087f5b"
        case nil: "#868e96"
        }
    }

    private static func pattern(_ cause: Cause?) -> String { "why-\(cause?.rawValue ?? 0)" }

    static func patterns(causes: [Cause]) -> String {
        let all: [Cause?] = causes.map { $0 } + [nil]
        return all.map { cause in
            """
            <pattern id="\(pattern(cause))" width="8" height="8" patternUnits="userSpaceOnUse" \
            patternTransform="rotate(45)"><rect width="8" height="8" fill="\(colour(cause))" fill-opacity="0.18"/>\
            <rect width="3" height="8" fill="\(colour(cause))" fill-opacity="0.55"/></pattern>

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
        for character in printable {
            switch character {
            case "&": safe += "&amp;"
            case "<": safe += "&lt;"
            case ">": safe += "&gt;"
            case "\"": safe += "&quot;"
            default: safe.append(character)
            }
        }
        return safe
    }
}
