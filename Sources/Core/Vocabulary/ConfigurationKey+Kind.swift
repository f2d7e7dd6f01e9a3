/// What a key takes. The broker and the recorder check a value against a camera's capabilities later;
/// this is what no camera could mean.
extension ConfigurationKey {
    public enum Kind: Hashable, Sendable {
        case text
        case number
        /// A number of either sign.
        case level
        /// How often something was.
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
        case .camera, .sessionPreset, .activeFormat, .whenBusy, .sharingMode, .captureMode: .text
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

    /// The only words a key takes, where there is such a list.
    public var allowedWords: [String]? {
        switch self {
        case .whenBusy: ["refuse", "interrupt"]
        case .sharingMode: ["exclusiveControl", "sharedReadOnly"]
        case .captureMode: ["photo", "video"]
        case .sessionPreset: SessionPreset.allCases.map(\.rawValue)
        // Which of a mode's words there are, a camera's capabilities say.
        default: nil
        }
    }

    /// Set on the camera itself, where its capabilities list it: every camera has others.
    public var isControl: Bool {
        switch self {
        case .camera, .usesAudio, .whenBusy, .sharingMode, .captureMode: false
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

    /// A session's own, and of no concern to the recorder core: nothing is set there for it.
    package var isOfTheBroker: Bool { self == .sharingMode || self == .captureMode }

    /// Said by the camera, and never asked of it.
    public var isReadOnly: Bool { self == .activeVideoStabilizationMode || isPassing }

    /// Said of this moment, and nothing that a session could have back later.
    public var isPassing: Bool {
        switch self {
        case .adjustingFocus, .adjustingExposure, .adjustingWhiteBalance, .pipelineRebuilds: true
        default: false
        }
    }

    /// What a camera says of itself while it runs (`CameraStateChanged`): where its automatic modes have brought it, and a
    /// mode that ended by itself.
    public var isCameraState: Bool {
        switch self {
        case .lensPosition, .exposureDuration, .iso, .focusMode, .exposureMode, .whiteBalanceMode: true
        default: isPassing
        }
    }

    /// The keys whose automatic modes would overrule a value of this one, each with the values that do not: the first that
    /// a camera lists counts.
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
