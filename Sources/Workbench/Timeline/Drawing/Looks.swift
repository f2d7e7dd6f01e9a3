import ArbiterProtocol

/// How everything looks, in a terminal and in SVG: no two causes, states or marks the same, with or without colours.
extension Cause {
    /// A letter for where its name does not fit, which every legend explains; colours; and its hatching: stripes of a
    /// direction and of widths, or dots.
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
