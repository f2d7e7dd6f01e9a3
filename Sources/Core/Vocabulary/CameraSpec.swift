/// The value of `--camera`: the camera that a recorder core serves.
public enum CameraSpec: Hashable, Sendable {
    /// `simulated`, `simulated:MODEL` or `simulated:/PATH/MODEL.toml`: a camera that a file describes
    /// (`docs/simulated-cameras.md`).
    case simulated(model: String)
    /// `file:PATH`, anything libav decodes.
    case file(path: String)
    /// `v4l2:IDENTITY`, a camera of the machine by its serial number or by its port.
    case video4linux(identity: String)

    /// The camera of a development machine without any.
    public static let modelUsual = "iphone6s-back"

    /// - Throws: `.invalidValue`, with the allowed values.
    public init(parsing text: String) throws(BrokerError) {
        if text == "simulated" {
            self = .simulated(model: Self.modelUsual)
        } else if text.hasPrefix("simulated:") {
            let model = String(text.dropFirst("simulated:".count))
            guard model.hasPrefix("/") ? model.hasSuffix(".toml") : Self.isWord(model) else {
                throw BrokerError(
                    .invalidValue,
                    """
                    \(text.quotedShort) is not a simulated camera; write simulated:NAME, as camrecorder --help lists them, or \
                    simulated:/PATH/NAME.toml.
                    """)
            }
            self = .simulated(model: model)
        } else if text.hasPrefix("file:"), text.utf8.count > "file:".utf8.count {
            self = .file(path: String(text.dropFirst("file:".count)))
        } else if text.hasPrefix("v4l2:"), text.utf8.count > "v4l2:".utf8.count {
            let identity = String(text.dropFirst("v4l2:".count))
            guard !identity.hasPrefix("/dev/"), !Self.isNodeName(identity) else {
                throw BrokerError(
                    .invalidValue,
                    """
                    \(text.quotedShort) names a node, whose number changes from one plugging in to the next; write \
                    v4l2:IDENTITY, as camrecorder --list-cameras shows it.
                    """)
            }
            guard identity.utf8.count <= Self.identityBytesMax, identity.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
            else {
                throw BrokerError(
                    .invalidValue,
                    """
                    \(text.quotedShort) is not an identity of a camera, which has at most \(Self.identityBytesMax) printable \
                    ASCII characters without spaces; camrecorder --list-cameras shows them.
                    """)
            }
            self = .video4linux(identity: identity)
        } else {
            throw BrokerError(
                .invalidValue,
                "\(text.quotedShort) is not a camera; write simulated, simulated:MODEL, file:PATH or v4l2:IDENTITY.")
        }
    }

    /// Longer than any bus path with a serial number after it, and short enough for a camera's id.
    public static let identityBytesMax = 200

    /// The name of a file in a folder, and nothing that leads out of it.
    private static func isWord(_ text: String) -> Bool {
        (1...wordBytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { PlainWord.isLetterOrDigit($0) || "-_".utf8.contains($0) }
    }

    /// Longer than any camera's name, and short enough for a message.
    private static let wordBytesMax = 64

    private static func isNodeName(_ text: String) -> Bool {
        let digits = text.hasPrefix("video") ? text.dropFirst("video".count) : text[...]
        return !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
