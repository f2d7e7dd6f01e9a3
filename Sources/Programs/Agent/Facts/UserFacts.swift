/// What is known about one user's desktop: where the apps are, and which have a microphone.
///
/// Nil is "not known" and is said to the broker as such; empty is "known, and there is none".
public struct UserFacts: Hashable, Sendable {
    public var placements: [String: Placement]?
    public var microphones: Set<String>?
    /// What the windows are known from, for people: `X11 display :0`.
    public var source: String

    public init(placements: [String: Placement]? = nil, microphones: Set<String>? = nil, source: String = "") {
        (self.placements, self.microphones, self.source) = (placements, microphones, source)
    }

    /// - Parameters:
    ///   - desktop: nil where the windows are not known.
    ///   - captures: nil where the microphones are not known.
    public init(desktop: Desktop?, captures: [CaptureStream]?, user: UInt32, names: AppNames, source: String = "") {
        self.source = source
        placements = desktop.map { Self.placements(on: $0, names) }
        microphones = captures.map { captures in
            Set(captures.filter { $0.usesMicrophone && $0.isOf(user) }.flatMap { names.apps(of: $0.believedProcess) })
        }
    }

    private static func placements(on desktop: Desktop, _ names: AppNames) -> [String: Placement] {
        var owners: [Int32: Placement] = [:]
        for (place, window) in desktop.windows.enumerated() where window.kind == .application {
            guard let process = window.process else { continue }
            owners[process] = max(owners[process] ?? .background, desktop.placement(of: place))
        }
        var placements: [String: Placement] = [:]
        for (process, placement) in owners {
            for app in names.apps(of: process) { placements[app] = max(placements[app] ?? .background, placement) }
        }
        let behind = names.clients(behind: Set(owners.keys))
        for (app, owner) in behind {
            let placement = owners[owner] ?? .background
            placements[app] = max(placements[app] ?? .background, placement)
        }
        return keepingOneFocus(placements, desktop, names, behind)
    }

    /// The focus is one for each user. Of several apps behind the active window the one whose process owns it has it,
    /// unless that one is no client: then the first of the clients it started, by name.
    private static func keepingOneFocus(
        _ placements: [String: Placement], _ desktop: Desktop, _ names: AppNames,
        _ behind: [(app: String, owner: Int32)]
    ) -> [String: Placement] {
        var focused = placements.filter(\.value.isFocused).map(\.key).sorted()
        guard focused.count > 1 else { return placements }
        if let owner = desktop.windows.first(where: { $0.id == desktop.active })?.process {
            let started = behind.filter { $0.owner == owner }.map(\.app).filter(focused.contains).sorted()
            let own = names.isClient(owner) ? names.apps(of: owner).filter(focused.contains) : []
            if let chosen = own.first ?? started.first { focused = [chosen] }
        }
        var kept = placements
        for (app, placement) in placements where placement.isFocused && app != focused.first {
            kept[app] = Placement(placement.presence)
        }
        return kept
    }
}
