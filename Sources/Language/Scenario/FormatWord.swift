import ArbiterProtocol

/// A word of a format in a camera's line: how it is written, and read back.
struct FormatWord: Sendable {
    let key: String
    /// The message for a word that cannot be read.
    let problem: String
    /// `nil` where the line leaves it out; `""` for the key alone.
    let text: @Sendable (CameraFormat) -> String?
    /// - Returns: `nil` for what cannot be read.
    let take: @Sendable (inout CameraFormat, String) -> Void?

    func isMeant(by word: Word) -> Bool { word.key == key || (word.key == nil && word.text == key && key == "hdr") }

    static let all: [FormatWord] = [
        number("zoom", \.videoMaxZoomFactor, usual: 1, zoomProblem) { $0 >= 1 && $0.isFinite },
        number("lossless", \.videoZoomFactorUpscaleThreshold, usual: 1, zoomProblem) { $0 >= 1 && $0.isFinite },
        number(
            "fov", \.fieldOfView, usual: 60,
            "a field of view is 1 to 180 degrees, or 0 where it is not known, behind the format that has it"
        ) { $0 == 0 || (1...180).contains($0) },
        FormatWord(
            key: "stills", problem: "it is written stills=2576x1932",
            text: { $0.optics.highResolutionStill.map { "\($0.width)x\($0.height)" } },
            take: { format, text in
                CameraText.size(text).map {
                    format.optics.highResolutionStill = .init(width: $0.width, height: $0.height)
                }
            }),
        FormatWord(
            key: "focus", problem: "it is written focus=contrast or focus=phase",
            text: { $0.optics.autoFocusSystem == .none ? nil : $0.optics.autoFocusSystem.rawValue },
            take: { format, text in
                CameraFormat.AutoFocusSystem(rawValue: text).map { format.optics.autoFocusSystem = $0 }
            }),
        range("iso", \.optics.iso, "it is written iso=34..2176"),
        range("exposure", \.optics.exposureDuration, "it is written exposure=0.000013..0.5, in seconds"),
        list("stabilization", \.optics.videoStabilizationModes, "it is written stabilization=standard,cinematic"),
        FormatWord(
            key: "hdr", problem: "", text: { $0.optics.isVideoHDRSupported ? "" : nil },
            take: { format, _ in format.optics.isVideoHDRSupported = true }),
        list(
            "assumed", \.assumed,
            "what is assumed are fields such as fieldOfView,minISO, behind the format that has them"),
    ]

    private static let zoomProblem = "a zoom is a number from 1, behind the format that has it"

    private static func number(
        _ key: String, _ path: any WritableKeyPath<CameraFormat, Double> & Sendable, usual: Double, _ problem: String,
        where isAllowed: @escaping @Sendable (Double) -> Bool
    ) -> FormatWord {
        FormatWord(
            key: key, problem: problem,
            text: { $0[keyPath: path] == usual ? nil : $0[keyPath: path].shortDescription },
            take: { format, text in
                guard let number = Double(text), isAllowed(number) else { return nil }
                format[keyPath: path] = number
            })
    }

    private static func range(
        _ key: String, _ path: any WritableKeyPath<CameraFormat, CameraFormat.Optics.Range?> & Sendable,
        _ problem: String
    ) -> FormatWord {
        FormatWord(
            key: key, problem: problem,
            text: { $0[keyPath: path].map { "\($0.least.plainDescription)..\($0.most.plainDescription)" } },
            take: { format, text in
                guard let (least, most) = CameraText.ends(text), least > 0, most.isFinite else { return nil }
                format[keyPath: path] = .init(least: least, most: most)
            })
    }

    private static func list<Value: WireWord>(
        _ key: String, _ path: any WritableKeyPath<CameraFormat, [Value]> & Sendable, _ problem: String
    ) -> FormatWord {
        FormatWord(
            key: key, problem: problem,
            text: { format in
                let words = format[keyPath: path].map(\.wireName)
                return words.isEmpty ? nil : words.joined(separator: ",")
            },
            take: { format, text in
                let words = text.split(separator: ",", omittingEmptySubsequences: false)
                let values = words.compactMap { Value(wireName: String($0)) }
                guard values.count == words.count else { return nil }
                format[keyPath: path] = values
            })
    }
}
