/// What a key takes. The broker and the recorder check a value against a camera's capabilities later;
/// this is what no camera could mean.
extension ConfigurationKey {
    public enum Kind: Hashable, Sendable {
        case text
        case number
        /// A number of either sign.
        case level
        case flag

        public var sentence: String {
            switch self {
            case .text: "text"
            case .number: "a finite number above 0"
            case .level: "a finite number"
            case .flag: "true or false"
            }
        }
    }

    public var kind: Kind {
        switch self {
        case .camera, .activeFormat, .whenBusy, .sharingMode: .text
        case .frameRate, .videoZoomFactor, .videoZoomRampRate: .number
        case .usesAudio, .videoHDREnabled, .videoMirrored, .videoFlipped: .flag
        case .focusMode, .exposureMode, .isoMode, .gainMode, .whiteBalanceMode, .preferredVideoStabilizationMode,
            .torchMode, .flashMode:
            .text
        case .exposureDuration, .iso, .whiteBalanceTemperature: .number
        case .lensPosition, .exposureTargetBias, .gain, .torchLevel, .brightness, .contrast, .saturation, .hue,
            .sharpness:
            .level
        }
    }

    /// The only words a key takes, where there is such a list.
    public var allowedWords: [String]? {
        switch self {
        case .whenBusy: ["refuse", "interrupt"]
        case .sharingMode: ["exclusiveControl", "sharedReadOnly"]
        // Which of a mode's words there are, a camera's capabilities say.
        default: nil
        }
    }
}
