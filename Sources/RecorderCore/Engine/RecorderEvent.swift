public import ArbiterProtocol

/// What a capture says by itself. Given on one of its own threads; the receiver must not block.
public enum RecorderEvent: Hashable, Sendable {
    case recordingFinished(Recording)
    case photoCaptured(PhotoCaptured)
    case rampFinished(grant: GrantID, videoZoomFactor: Double)
    /// `ok`, `error`: as `DeviceChanged` of `Recorder1`.
    case deviceChanged(state: String, message: String)
    case runtimeError(code: String, message: String)
    /// Nothing was open and nothing was being written for as long as the capture was told.
    case idle
    /// Clients keep more memory of earlier grants than another one may be opened beside: an order to open was not carried
    /// out, nor answered, and another process is to be asked.
    case spent

    public struct Recording: Hashable, Sendable {
        public var id: RecordingID
        public var why: RecordingEnd
        public var frames: UInt64
        /// Nanoseconds, from the first frame's capture to the end of the last one's display.
        public var duration: Int64
        public var bytes: UInt64
    }
}

/// Limits of one recording; nil for none.
public struct RecordingLimits: Hashable, Sendable {
    /// Seconds; the recording ends with the last frame that fits.
    public var maxDuration: Double?
    /// Bytes of the file.
    public var maxBytes: UInt64?

    public init(maxDuration: Double? = nil, maxBytes: UInt64? = nil) {
        self.maxDuration = maxDuration
        self.maxBytes = maxBytes
    }

    /// Reads `maxDuration` and `maxBytes`.
    /// - Throws: `.invalidValue`, naming the key, the value and what is allowed.
    public init(wire: WireDictionary) throws(BrokerError) {
        self.init()
        for entry in wire.entries {
            switch entry.key {
            case "maxDuration":
                guard let seconds = entry.value.number, seconds.isFinite, seconds > 0 else {
                    throw BrokerError(
                        .invalidValue, "maxDuration is \(entry.value.sentence); it takes seconds above 0.")
                }
                maxDuration = seconds
            case "maxBytes":
                let least = UInt64(MatroskaFile.bytesLeast)
                guard let bytes = entry.value.uint64, bytes >= least, bytes <= UInt64(Int64.max) else {
                    throw BrokerError(
                        .invalidValue, "maxBytes is \(entry.value.sentence); it takes bytes from \(least).")
                }
                maxBytes = bytes
            default:
                throw BrokerError(
                    .invalidValue,
                    "\(entry.key.quotedShort) is no option of a recording; there are maxDuration and maxBytes.")
            }
        }
    }
}
