package import ArbiterProtocol

/// A camera's configuration in force. A batch changes it as a whole or not at all.
package struct Settings: Hashable {
    package var format: CameraFormat
    /// Frames a second.
    package var frameRate: Double
    package var videoZoomFactor: Double
    /// The camera's controls that were set; the others are as they usually are.
    package var controls = Configuration()

    package init(defaultsOf capabilities: CameraCapabilities) {
        format = capabilities.defaultFormat ?? capabilities.formats[0]
        frameRate = format.maxFrameRate
        videoZoomFactor = 1
    }

    /// A ramp that a batch asks for: doublings a second to the new zoom.
    package struct Change: Hashable {
        package var settings: Settings
        var rampRate: Double?
    }

    /// The settings after a batch.
    ///
    /// `activeFormat` counts first, then the others are held against the new format. A frame rate or a zoom that
    /// the batch does not name is kept where the new format has it; else it is the format's highest rate, and zoom 1.
    /// `camera`, `usesAudio` and `whenBusy` are the broker's own and pass by.
    /// - Parameter isRecording: the format of a running recording cannot change.
    /// - Throws: `.unsupportedConfiguration`, naming the key, the value and what is allowed.
    package func applying(
        _ batch: Configuration, _ capabilities: CameraCapabilities, isRecording: Bool
    ) throws(BrokerError) -> Change {
        var next = self
        if case .text(let name)? = batch[.activeFormat] {
            next.format = try Self.format(name, capabilities)
            if next.format != format {
                guard !isRecording else {
                    throw BrokerError(
                        .unsupportedConfiguration,
                        """
                        activeFormat is \(name.quotedShort) while a recording of \(format.name) runs; \
                        stop the recording first. Nothing changed.
                        """)
                }
                if !(next.format.minFrameRate...next.format.maxFrameRate).contains(frameRate) {
                    next.frameRate = next.format.maxFrameRate
                }
                if videoZoomFactor > next.format.videoMaxZoomFactor { next.videoZoomFactor = 1 }
            }
        }
        if case .number(let rate)? = batch[.frameRate] {
            try Self.check(.frameRate, rate, next.format.minFrameRate, next.format.maxFrameRate, next.format)
            next.frameRate = rate
        }
        var rampRate: Double?
        if case .number(let rate)? = batch[.videoZoomRampRate] {
            guard batch[.videoZoomFactor] != nil else {
                throw BrokerError(
                    .unsupportedConfiguration,
                    """
                    videoZoomRampRate is \(rate.shortDescription) without a videoZoomFactor to ramp to; \
                    give both in one batch. Nothing changed.
                    """)
            }
            try Self.check(.videoZoomRampRate, rate, Self.rampRates.lowerBound, Self.rampRates.upperBound, next.format)
            rampRate = rate
        }
        if case .number(let zoom)? = batch[.videoZoomFactor] {
            try Self.check(.videoZoomFactor, zoom, 1, next.format.videoMaxZoomFactor, next.format)
            next.videoZoomFactor = zoom
        }
        if let problem = capabilities.controlProblem(batch, over: controls) {
            throw BrokerError(.unsupportedConfiguration, "\(problem) Nothing changed.")
        }
        for (key, value) in batch.ordered where key.isControl { next.controls[key] = value }
        return Change(settings: next, rampRate: rampRate)
    }

    /// Doublings a second: slower is no movement, faster is a jump at any frame rate.
    static let rampRates = 0.01...1000.0

    /// What is in force, whole.
    var configuration: Configuration {
        Configuration([
            .activeFormat: .text(format.name), .frameRate: .number(frameRate),
            .videoZoomFactor: .number(videoZoomFactor),
        ])
    }

    /// Nanoseconds from one frame to the next.
    var frameInterval: Int64 { Int64(1e9 / frameRate) }

    private static func check(
        _ key: ConfigurationKey, _ value: Double, _ least: Double, _ most: Double, _ format: CameraFormat
    ) throws(BrokerError) {
        guard value.isFinite, value >= least, value <= most else {
            throw BrokerError(
                .unsupportedConfiguration,
                """
                \(key.rawValue) is \(value.shortDescription); \(format.name) takes \(least.shortDescription) \
                to \(most.shortDescription). Nothing changed.
                """)
        }
    }

    /// By its whole name, or by the beginning that tells it from those before it: `1280x720` is the first of that size.
    private static func format(_ name: String, _ capabilities: CameraCapabilities) throws(BrokerError) -> CameraFormat {
        if let exact = capabilities.formats.first(where: { $0.name == name }) { return exact }
        let short = capabilities.formats.first {
            name == "\($0.width)x\($0.height)" || name == "\($0.pixelFormat) \($0.width)x\($0.height)"
        }
        guard let short else {
            let known = capabilities.formats.map(\.name).joined(separator: ", ")
            throw BrokerError(
                .unsupportedConfiguration,
                "activeFormat is \(name.quotedShort); the \(capabilities.name) has \(known). Nothing changed.")
        }
        return short
    }
}
