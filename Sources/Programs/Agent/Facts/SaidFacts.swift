/// One thing said to the broker.
public enum Saying: Hashable, Sendable {
    /// From now on it is known where apps are: here, and all others in the background.
    case attach([PlacedApp])
    /// What that is known from, in words for people.
    case describe(String)
    /// It is not known any more.
    case detach
    case place(PlacedApp)
    /// From now on it is known which apps have a microphone, or no longer.
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

/// What the broker was told on the present connection, and what has to be said so that it knows the rest.
///
/// A broker forgets with the connection: on a new one begin with a fresh value, and everything is said again.
public struct SaidFacts: Hashable, Sendable {
    private var isAttached = false
    private var source = ""
    private var placements: [String: Placement] = [:]
    private var reportsMicrophones = false
    private var microphones: Set<String> = []

    public init() {}

    /// What to say, in order, so that the broker knows `facts`. They count as said.
    ///
    /// Apps that step back come first and the focused one last, so that no moment shows two apps in front where there
    /// never were two. Names are sorted: the same change is always said in the same order.
    public mutating func toSay(_ facts: UserFacts) -> [Saying] {
        var sayings: [Saying] = []
        if let wanted = facts.placements {
            // An app without windows is in the background, as one that nobody placed.
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
