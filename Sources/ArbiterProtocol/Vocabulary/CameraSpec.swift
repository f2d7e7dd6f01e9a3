/// What `--camera` takes: which camera a recorder core serves.
public enum CameraSpec: Hashable, Sendable {
    /// `simulated` or `simulated:MODEL`.
    case simulated(model: String)
    /// `file:PATH`, anything libav decodes.
    case file(path: String)

    /// The camera a development machine without any gets.
    public static let modelUsual = "iphone6s-back"

    /// The simulated cameras that a recorder core knows.
    public static let models = [
        "iphone5-back", "iphone6-back", "iphone6-front", "iphone6plus-back", "iphone6plus-front", "iphone6s-back",
        "iphone6s-front", "iphone6splus-back", "iphone6splus-front",
    ]

    /// - Throws: `.invalidValue`, with what is allowed.
    public init(parsing text: String) throws(BrokerError) {
        if text == "simulated" {
            self = .simulated(model: Self.modelUsual)
        } else if text.hasPrefix("simulated:") {
            let model = String(text.dropFirst("simulated:".count))
            guard Self.models.contains(model) else {
                throw BrokerError(
                    .invalidValue,
                    "\(model.quotedShort) is no simulated camera; there are \(Self.models.joined(separator: ", ")).")
            }
            self = .simulated(model: model)
        } else if text.hasPrefix("file:"), text.utf8.count > "file:".utf8.count {
            self = .file(path: String(text.dropFirst("file:".count)))
        } else {
            throw BrokerError(
                .invalidValue, "\(text.quotedShort) is no camera; write simulated, simulated:MODEL or file:PATH.")
        }
    }
}
