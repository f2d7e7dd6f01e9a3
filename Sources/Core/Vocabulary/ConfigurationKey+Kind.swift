/// A key's kind of value. The broker and the recorder check a value against a camera's capabilities later; a kind
/// excludes values that no camera could have.
extension ConfigurationKey {
    public enum Kind: Hashable, Sendable {
        case text
        case number
        /// A number of either sign.
        case level
        /// A number of occurrences.
        case count
        case flag
        case point
        case gains

        public var sentence: String {
            switch self {
            case .text: "text"
            case .number: "a finite number above 0"
            case .level: "a finite number"
            case .count: "a whole number from 0"
            case .flag: "true or false"
            case .point: "two numbers from 0 to 1, such as 0.5,0.5"
            case .gains: "three numbers from 1, such as 1,1.5,2"
            }
        }
    }

    public var kind: Kind {
        switch self {
        case .camera, .sessionPreset, .activeFormat, .whenBusy, .formatMatch, .sharingMode, .captureMode: .text
        case .focusMode, .exposureMode, .isoMode, .gainMode, .whiteBalanceMode, .preferredVideoStabilizationMode,
            .activeVideoStabilizationMode, .torchMode, .flashMode, .videoOrientation:
            .text
        case .frameRate, .activeVideoMinFrameDuration, .activeVideoMaxFrameDuration, .videoZoomFactor,
            .videoZoomRampRate:
            .number
        case .exposureDuration, .iso, .whiteBalanceTemperature: .number
        case .usesAudio, .cancelVideoZoomRamp, .smoothAutofocus, .automaticallyAdjustsVideoHDREnabled, .videoHDREnabled,
            .highResolutionStillImageOutputEnabled, .stillImageStabilization, .lensStabilizationDuringBracket,
            .videoMirrored, .videoFlipped, .adjustingFocus, .adjustingExposure, .adjustingWhiteBalance:
            .flag
        case .pipelineRebuilds: .count
        case .lensPosition, .exposureTargetBias, .gain, .torchLevel, .brightness, .contrast, .saturation, .hue,
            .sharpness:
            .level
        case .focusPointOfInterest, .exposurePointOfInterest: .point
        case .whiteBalanceGains: .gains
        }
    }

    /// The only words of a key, where there is such a list.
    public var allowedWords: [String]? {
        switch self {
        case .whenBusy: ["refuse", "interrupt"]
        case .formatMatch: ["nearest", "exact"]
        case .sharingMode: ["exclusiveControl", "sharedReadOnly"]
        case .captureMode: ["photo", "video"]
        case .sessionPreset: SessionPreset.allCases.map(\.rawValue)
        // A camera's capabilities list a mode's words.
        default: nil
        }
    }

    /// Set on the camera itself, where its capabilities list it: cameras differ.
    public var isControl: Bool {
        switch self {
        case .camera, .usesAudio, .whenBusy, .formatMatch, .sharingMode, .captureMode: false
        case .sessionPreset, .activeFormat, .frameRate, .activeVideoMinFrameDuration, .activeVideoMaxFrameDuration,
            .videoZoomFactor, .videoZoomRampRate, .cancelVideoZoomRamp:
            false
        case .activeVideoStabilizationMode, .adjustingFocus, .adjustingExposure, .adjustingWhiteBalance,
            .pipelineRebuilds:
            false
        case .focusMode, .focusPointOfInterest, .lensPosition, .smoothAutofocus, .exposureMode,
            .exposurePointOfInterest, .exposureDuration, .exposureTargetBias, .isoMode, .iso, .gainMode, .gain,
            .whiteBalanceMode, .whiteBalanceTemperature, .whiteBalanceGains, .automaticallyAdjustsVideoHDREnabled,
            .videoHDREnabled, .preferredVideoStabilizationMode, .torchMode, .torchLevel, .flashMode,
            .highResolutionStillImageOutputEnabled, .stillImageStabilization, .lensStabilizationDuringBracket,
            .videoOrientation, .videoMirrored, .videoFlipped, .brightness, .contrast, .saturation, .hue, .sharpness:
            true
        }
    }

    /// A session's own, whatever camera it has.
    package var isOfTheSession: Bool { self == .usesAudio || isOfTheBroker }

    /// The session's own, and never set in the recorder core.
    package var isOfTheBroker: Bool { self == .sharingMode || self == .captureMode }

    /// The format and the rate of a session's own picture on a shared camera.
    package var isWish: Bool {
        switch self {
        case .sessionPreset, .activeFormat, .frameRate, .activeVideoMinFrameDuration, .activeVideoMaxFrameDuration: true
        default: false
        }
    }

    /// Counts for its batch alone, and is not remembered.
    package var governsItsBatch: Bool { self == .camera || self == .whenBusy || self == .formatMatch }

    /// Reported by the camera, and never set.
    public var isReadOnly: Bool { self == .activeVideoStabilizationMode || isPassing }

    /// A passing value, which is never restored.
    public var isPassing: Bool {
        switch self {
        case .adjustingFocus, .adjustingExposure, .adjustingWhiteBalance, .pipelineRebuilds: true
        default: false
        }
    }

    /// A camera's state while it runs (`CameraStateChanged`): the results of its automatic modes, and a mode that ended
    /// by itself.
    public var isCameraState: Bool {
        switch self {
        case .lensPosition, .exposureDuration, .iso, .focusMode, .exposureMode, .whiteBalanceMode: true
        default: isPassing
        }
    }

    /// The keys whose automatic modes would overrule a value of this one, each with the values that do not: the first
    /// that a camera lists counts.
    public var modes: [(key: ConfigurationKey, manual: [ConfigurationValue])] {
        switch self {
        case .lensPosition: [(.focusMode, [.text("locked")])]
        case .exposureDuration: [(.exposureMode, [.text("custom")])]
        case .iso: [(.isoMode, [.text("custom")]), (.exposureMode, [.text("custom")])]
        case .gain: [(.gainMode, [.text("locked")])]
        case .whiteBalanceTemperature, .whiteBalanceGains: [(.whiteBalanceMode, [.text("locked")])]
        case .torchLevel: [(.torchMode, [.text("on")])]
        case .videoHDREnabled: [(.automaticallyAdjustsVideoHDREnabled, [.flag(false)])]
        default: []
        }
    }
}
