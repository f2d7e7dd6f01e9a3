/// The facts about one user's desktop: where the apps are, and which have a microphone.
///
/// `nil` is "not known" and is sent to the broker as such; empty is "known, and there is none".
public struct UserFacts: Hashable, Sendable {
    public var placements: [String: Placement]?
    public var microphones: Set<String>?
    /// The source of the windows, for people: `X11 display :0`.
    public var source: String

    public init(placements: [String: Placement]? = nil, microphones: Set<String>? = nil, source: String = "") {
        (self.placements, self.microphones, self.source) = (placements, microphones, source)
    }

    /// - Parameters:
    /// - desktop: `nil`: the windows are not known.
    /// - captures: `nil`: the microphones are not known.
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

    /// One focus for each user. Of several apps behind the active window the app whose process owns it has it, unless
    /// that is no client: then the first of the clients it started, by name.
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

public enum Saying: Hashable, Sendable {
    /// Placements are known from now on: these, and all others in the background.
    case attach([PlacedApp])
    case describe(String)
    case detach
    case place(PlacedApp)
    /// The apps with a microphone are known from now on, or no longer.
    case reportMicrophones(Bool)
    case takeMicrophone(String)
    case releaseMicrophone(String)
}

public struct PlacedApp: Hashable, Sendable {
    public var app: String
    public var placement: Placement

    public init(_ app: String, _ placement: Placement) {
        self.app = app
        self.placement = placement
    }
}

/// The facts that the broker has on the present connection, with which it forgets them: a new connection begins with a
/// fresh value.
public struct SaidFacts: Hashable, Sendable {
    private var isAttached = false
    private var source = ""
    private var placements: [String: Placement] = [:]
    private var reportsMicrophones = false
    private var microphones: Set<String> = []

    public init() {}

    /// The calls that bring the broker to `facts`; they count as sent. Apps that step back come first and the focused
    /// one last, so that no moment shows two in front. Names are sorted: the same change is always sent in the same
    /// order.
    public mutating func toSay(_ facts: UserFacts) -> [Saying] {
        var sayings: [Saying] = []
        if let wanted = facts.placements {
            // An app without windows is in the background, like an app without a placement.
            let gone = placements.keys.filter { wanted[$0] == nil && placements[$0] != .background }
            let changed =
                wanted.filter { placements[$0.key] != $0.value }.map { PlacedApp($0.key, $0.value) }
                + gone.map { PlacedApp($0, .background) }
            let ordered = changed.sorted { ($0.placement, $0.app) < ($1.placement, $1.app) }
            sayings += isAttached ? ordered.map { .place($0) } : [.attach(ordered)]
            if facts.source != source { sayings.append(.describe(facts.source)) }
            isAttached = true
            placements = wanted
            source = facts.source
        } else if isAttached {
            sayings.append(.detach)
            isAttached = false
            placements = [:]
            source = ""
        }
        let taken = facts.microphones ?? []
        sayings += microphones.subtracting(taken).sorted().map { .releaseMicrophone($0) }
        if (facts.microphones != nil) != reportsMicrophones {
            reportsMicrophones.toggle()
            sayings.append(.reportMicrophones(reportsMicrophones))
        }
        sayings += taken.subtracting(microphones).sorted().map { .takeMicrophone($0) }
        microphones = taken
        return sayings
    }
}
