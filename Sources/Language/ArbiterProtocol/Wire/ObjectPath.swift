public import Vocabulary

public enum ObjectPath {
    /// The object manager's root.
    public static let root = "/org/camarb"
    public static let broker = "/org/camarb/Broker1"
    public static let shell = "/org/camarb/Shell1"
    /// On a connection between broker and recorder.
    public static let recorder = "/org/camarb/Recorder1"
    public static let cameras = "/org/camarb/camera"
    public static let sessions = "/org/camarb/session"

    public static func session(_ id: SessionID) -> String { "\(sessions)/\(id.rawValue)" }

    /// Bytes that a D-Bus path cannot have are written `_` and two hexadecimal digits, as sd-bus does.
    public static func camera(_ id: CameraID) -> String {
        var label = ""
        for (index, byte) in id.name.utf8.enumerated() {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
                label.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: "0")...UInt8(ascii: "9") where index > 0:
                label.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let hex = String(byte, radix: 16)
                label += "_" + (hex.utf8.count == 1 ? "0" + hex : hex)
            }
        }
        return "\(cameras)/\(label.isEmpty ? "_" : label)"
    }

    /// `nil` for a path of something else.
    public static func sessionID(_ path: String) -> SessionID? {
        guard path.hasPrefix(sessions + "/") else { return nil }
        let label = path.utf8.dropFirst(sessions.utf8.count + 1)
        guard let number = UInt64(Substring(label)), String(number).utf8.elementsEqual(label) else { return nil }
        return SessionID(number)
    }
}

public enum InterfaceName {
    public static let broker = "org.camarb.Broker1"
    public static let camera = "org.camarb.Camera1"
    public static let session = "org.camarb.Session1"
    public static let shell = "org.camarb.Shell1"
    public static let recorder = "org.camarb.Recorder1"
}
