/// The apps to which the portal's permission store (table `devices`, id `camera`) says no.
public struct DeniedApps: Hashable, Sendable {
    /// As many as the broker takes (`Shell1.SetDenied`).
    public static let appsMax = 1024

    /// By name.
    public private(set) var apps: [String]
    /// Those beyond the bound.
    public private(set) var leftOut: Int

    /// - Parameter permissions: what the store has for each app: "yes", "no" or "ask".
    ///
    /// Its keys are the ids of Flatpak's apps. The empty key stands for all programs outside a sandbox that come through
    /// the portal: it names no app, so that the broker can be told of none, and needs not be, since the portal gives none of
    /// them its connection to PipeWire then. Whoever comes another way never was the portal's to refuse.
    public init(_ permissions: [String: [String]]) {
        let denied = permissions.filter { !$0.key.isEmpty && $0.value.first == "no" }.keys.sorted()
        apps = Array(denied.prefix(Self.appsMax))
        leftOut = denied.count - apps.count
    }
}
