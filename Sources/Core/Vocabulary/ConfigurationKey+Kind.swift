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

    /// Whom a value is for, and how long it counts.
    private enum Subject {
        /// The batch alone: it is not remembered.
        case batch
        /// A session, whatever camera it has.
        case session
        /// A session, too, and never set in the recorder core.
        case broker
        /// The format and the rate of the camera, or of a session's own picture on a shared camera.
        case format
        case zoom
        /// A ramp, which ends by itself and is not restored.
        case ramp
        /// The camera itself, where its capabilities list the key: cameras differ.
        case control
        /// Reported by the camera, and never set.
        case report
        /// Reported, and old by the time of its notice.
        case passing
    }

    /// The table of the keys: all that follows from whom a key is for is read here.
    private var row: (subject: Subject, kind: Kind) {
        switch self {
        case .camera, .whenBusy, .formatMatch: (.batch, .text)
        case .usesAudio: (.session, .flag)
        case .sharingMode, .captureMode: (.broker, .text)
        case .sessionPreset, .activeFormat: (.format, .text)
        case .frameRate, .activeVideoMinFrameDuration, .activeVideoMaxFrameDuration: (.format, .number)
        case .videoZoomFactor: (.zoom, .number)
        case .videoZoomRampRate: (.ramp, .number)
        case .cancelVideoZoomRamp: (.ramp, .flag)
        case .focusMode, .exposureMode, .isoMode, .gainMode, .whiteBalanceMode, .preferredVideoStabilizationMode,
            .torchMode, .flashMode, .videoOrientation:
            (.control, .text)
        case .exposureDuration, .iso, .whiteBalanceTemperature: (.control, .number)
        case .smoothAutofocus, .automaticallyAdjustsVideoHDREnabled, .videoHDREnabled,
            .highResolutionStillImageOutputEnabled, .stillImageStabilization, .lensStabilizationDuringBracket,
            .videoMirrored, .videoFlipped:
            (.control, .flag)
        case .lensPosition, .exposureTargetBias, .gain, .torchLevel, .brightness, .contrast, .saturation, .hue,
            .sharpness:
            (.control, .level)
        case .focusPointOfInterest, .exposurePointOfInterest: (.control, .point)
        case .whiteBalanceGains: (.control, .gains)
        case .activeVideoStabilizationMode: (.report, .text)
        case .adjustingFocus, .adjustingExposure, .adjustingWhiteBalance: (.passing, .flag)
        case .pipelineRebuilds: (.passing, .count)
        }
    }

    public var kind: Kind { row.kind }

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
    public var isControl: Bool { row.subject == .control }

    /// A session's own, whatever camera it has.
    package var isOfTheSession: Bool { row.subject == .session || isOfTheBroker }

    /// The session's own, and never set in the recorder core.
    package var isOfTheBroker: Bool { row.subject == .broker }

    /// The format and the rate of a session's own picture on a shared camera.
    package var isWish: Bool { row.subject == .format }

    /// Part of a ramp, which is never restored.
    package var isOfARamp: Bool { row.subject == .ramp }

    /// Counts for its batch alone, and is not remembered.
    package var governsItsBatch: Bool { row.subject == .batch }

    /// Reported by the camera, and never set.
    public var isReadOnly: Bool { row.subject == .report || isPassing }

    /// A passing value, which is never restored.
    public var isPassing: Bool { row.subject == .passing }

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
