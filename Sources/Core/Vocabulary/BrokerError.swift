/// An error of the broker: its D-Bus name, and a sentence with the wrong value and a way on.
public struct BrokerError: Error, Hashable, Sendable {
    public var kind: Kind
    public var message: String

    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// `RefusedByPolicy`: the D-Bus name without its constant part.
        package var shortName: String { rawValue.split(separator: ".").last.map(String.init) ?? rawValue }

        /// Whether the request itself is wrong, whoever makes it.
        package var isOfTheRequest: Bool {
            switch self {
            case .unknownCamera, .unknownSession, .unknownDecision, .unsupportedConfiguration, .unsuitableFile,
                .invalidValue, .staleGrant, .invalidArguments:
                true
            default: false
            }
        }

        // Refusals: the request was understood, and a rule forbids it.
        case accessDenied = "org.camarb.Error.AccessDenied"
        case refusedByPolicy = "org.camarb.Error.RefusedByPolicy"
        case notRunning = "org.camarb.Error.NotRunning"
        case interrupted = "org.camarb.Error.Interrupted"
        case insideConfiguration = "org.camarb.Error.InsideConfiguration"
        case notInsideConfiguration = "org.camarb.Error.NotInsideConfiguration"
        case alreadyRecording = "org.camarb.Error.AlreadyRecording"
        case notRecording = "org.camarb.Error.NotRecording"
        case priorityRaised = "org.camarb.Error.PriorityRaised"
        case microphoneBusy = "org.camarb.Error.MicrophoneBusy"
        case limitExceeded = "org.camarb.Error.LimitExceeded"
        case notTrusted = "org.camarb.Error.NotTrusted"
        case planChanged = "org.camarb.Error.PlanChanged"
        // Values without a meaning.
        case unknownCamera = "org.camarb.Error.UnknownCamera"
        case unknownSession = "org.camarb.Error.UnknownSession"
        case unknownDecision = "org.camarb.Error.UnknownDecision"
        case unsupportedConfiguration = "org.camarb.Error.UnsupportedConfiguration"
        case unsuitableFile = "org.camarb.Error.UnsuitableFile"
        case invalidValue = "org.camarb.Error.InvalidValue"
        case staleGrant = "org.camarb.Error.StaleGrant"
        // Faults of the world.
        case deviceFault = "org.camarb.Error.DeviceFault"
        case recorderFault = "org.camarb.Error.RecorderFault"
        case outOfResources = "org.camarb.Error.OutOfResources"
        case disconnected = "org.camarb.Error.Disconnected"
        // D-Bus's own names.
        case unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
        case unknownObject = "org.freedesktop.DBus.Error.UnknownObject"
        case unknownInterface = "org.freedesktop.DBus.Error.UnknownInterface"
        case unknownProperty = "org.freedesktop.DBus.Error.UnknownProperty"
        case propertyReadOnly = "org.freedesktop.DBus.Error.PropertyReadOnly"
        case nameHasNoOwner = "org.freedesktop.DBus.Error.NameHasNoOwner"
        case invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"
        case noReply = "org.freedesktop.DBus.Error.NoReply"
        case failed = "org.freedesktop.DBus.Error.Failed"
    }

    /// The error of every program about an unknown camera.
    package static func unknownCamera(_ name: String, among known: [String]) -> BrokerError {
        let instead = NearestWord.insteadOf(name, known, lists: "camclient devices")
        return BrokerError(.unknownCamera, "There is no camera \(name.quotedShort); \(instead)")
    }
}

extension String {
    /// The text in quotation marks, on one line, cut so that a hostile value cannot fill a log line.
    public var quotedShort: String {
        // An identity, a path's last part or a format's name fits; more is noise in a sentence.
        let shownMax = 64
        // By scalars: one character may have any number of marks. A sentence has no lines, and steers no terminal.
        let shown = unicodeScalars.prefix(shownMax)
        let signs = shown.map { $0.properties.generalCategory == .control ? "\u{fffd}" : $0 }
        return "“\(String(String.UnicodeScalarView(signs)))\(shown.endIndex == endIndex ? "" : "…")”"
    }
}

/// The reason of a device's failure. The raw value is the code of the `RuntimeError`.
public enum DeviceFault: String, Hashable, Sendable, CaseIterable {
    /// Every failure without a case of its own.
    case device = "device-error"
    /// The bus has no room for the camera's pictures: `ENOSPC` at `STREAMON` of a USB camera, where other devices take
    /// the isochronous bandwidth. The camera may fit at another format or frame rate, or when another camera has
    /// stopped.
    case noRoom = "bus-bandwidth"

    /// The kernel's own words for `ENOSPC`, which speak of a disk.
    private static let kernelWords = "No space left on device"

    /// The full resource and the remedy, for a sentence without its full stop.
    public static let noRoomWords =
        "the USB bus has no room for its pictures beside other cameras'; take a smaller format or a lower frame rate, stop "
        + "another camera, or use another USB controller (\(kernelWords))"

    /// Reads the fault from a recorder core's sentence: it ends with the kernel's own words for `ENOSPC`, in brackets
    /// or not, with or without a full stop after them, or it is about another fault.
    public init(message: String) {
        var bare = message.hasSuffix(".") ? message.dropLast() : message[...]
        if bare.hasSuffix(")") { bare = bare.dropLast() }
        self = bare.hasSuffix(Self.kernelWords) ? .noRoom : .device
    }
}
