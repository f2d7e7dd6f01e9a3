public import Vocabulary

/// A client's claims about itself. They narrow what a policy gives and never widen it.
public struct ClientDeclaration: Hashable, Sendable, Described {
    /// A name for people; the broker's own comes from the kernel.
    public var app: String?
    public var kind = ClientKind.app
    /// Whether the app can share the screen and keep the camera, where a policy allows that.
    public var multitasking: Bool?
    public var requiresFullScreen: Bool?
    /// For a broker that trusts claims.
    package var loginSession: String?

    package init() {}

    public init(
        app: String? = nil, kind: ClientKind = .app, multitasking: Bool? = nil, requiresFullScreen: Bool? = nil
    ) {
        (self.app, self.kind, self.multitasking) = (app, kind, multitasking)
        self.requiresFullScreen = requiresFullScreen
    }

    private static let nameWords = "name of 1 to \(AppID.nameBytesMax) bytes"
    private static let isName: @Sendable (String) -> Bool = { (1...AppID.nameBytesMax).contains($0.utf8.count) }

    package static let fields: [Field<Self>] = [
        Field("kind", \.kind, since: "kind"),
        .ifAny("app", \.app, takes: "a \(nameWords)", where: isName),
        .ifAny("multitasking", \.multitasking), .ifAny("requiresFullScreen", \.requiresFullScreen),
        .ifAny("loginSession", \.loginSession, takes: "a login session's \(nameWords)", where: isName),
    ]

    /// - Parameter trustsClaims: whether there is a `loginSession`.
    /// - Throws: `.invalidValue`, naming the key, the value and what is allowed.
    package init(_ wire: WireDictionary, trustsClaims: Bool) throws(BrokerError) {
        func unknown(_ key: String) -> String {
            "There is no attribute \(key.quotedShort); there are app, kind, multitasking, requiresFullScreen."
        }
        if !trustsClaims, wire["loginSession"] != nil { throw BrokerError(.invalidValue, unknown("loginSession")) }
        try self.init(checking: wire) { unknown($0.key) }
        // `NAME@USER` means another user's app.
        if let app, AppID.namingUser(app) != nil {
            throw BrokerError(
                .invalidValue,
                "app is \(app.quotedShort); it takes a name that does not end in @ and a number, which stands for a user."
            )
        }
    }
}
