/// Android's rules for cameras, independently of the arbiter: one pass over the apps that have a camera, in the order of their openings.
package struct AndroidCameras {
    package typealias Camera = (conflicts: Set<String>, cost: Int)

    /// Smaller is stronger; the score is compared first.
    package struct Priority: Equatable, Comparable {
        package var score: Int
        package var processState: Int

        package static func < (a: Priority, b: Priority) -> Bool {
            a.score != b.score ? a.score < b.score : a.processState < b.processState
        }
    }

    package struct Holder: Equatable {
        package var opening: Int
        package var app: String
        package var camera: String
    }

    package enum Outcome: Equatable {
        case refused
        /// In ascending order.
        case granted(evicted: [Int])
    }

    static let budget = 100

    package let cameras: [String: Camera]
    /// Least recently opened first.
    package private(set) var holders: [Holder] = []
    /// The system's values of each app, and those that its clients gave up.
    private var told: [String: [String: String]] = [:]
    private var lowered: [Int: (app: String, values: [String: String])] = [:]

    package init(cameras: [String: Camera]) { self.cameras = cameras }

    package mutating func tell(_ app: String, _ attribute: String, _ value: String) {
        told[app, default: [:]][attribute] = value
    }

    /// - Returns: false where the client asked for more than its app has.
    package mutating func lower(_ client: Int, of app: String, _ attribute: String, to value: String) -> Bool {
        guard Self.number(attribute, value) >= number(of: app, attribute) else { return false }
        lowered[client, default: (app, [:])].values[attribute] = value
        return true
    }

    package mutating func disconnect(_ client: Int) { lowered[client] = nil }

    private func number(of app: String, _ attribute: String) -> Int {
        let gaveUp = lowered.values.filter { $0.app == app }.compactMap { $0.values[attribute] }
        return ([told[app]?[attribute] ?? Self.unknown[attribute, default: ""]] + gaveUp)
            .map { Self.number(attribute, $0) }.max() ?? 0
    }

    func priority(of app: String) -> Priority {
        Priority(score: number(of: app, "score"), processState: number(of: app, "process-state"))
    }

    package mutating func close(_ opening: Int) { holders.removeAll { $0.opening == opening } }

    package mutating func open(_ opening: Int, app: String, camera: String) -> Outcome {
        guard let evicted = evictions(app: app, camera: camera) else { return .refused }
        holders.removeAll { evicted.contains($0.opening) }
        holders.append(Holder(opening: opening, app: app, camera: camera))
        return .granted(evicted: evicted.sorted())
    }

    /// `nil` where the newcomer is refused.
    private func evictions(app: String, camera: String) -> [Int]? {
        let newcomer = priority(of: app)
        let isStrongest = strongestApp(with: app) == app
        var total = cost(camera) + holders.reduce(0) { $0 + cost($1.camera) }
        var evicted: [Int] = []
        for holder in holders {
            let holderPriority = priority(of: holder.app)
            if conflict(holder.camera, camera) {
                if holder.app == app {
                    guard holder.camera == camera else { return nil }
                } else if holderPriority < newcomer {
                    return nil
                }
            } else {
                let isInTheWay = total > Self.budget && cost(holder.camera) > 0 && !(holderPriority < newcomer)
                guard isInTheWay, !(holder.app == app && isStrongest) else { continue }
            }
            evicted.append(holder.opening)
            total -= cost(holder.camera)
        }
        return total > Self.budget && !isStrongest ? nil : evicted
    }

    /// Among equals the newcomer, else the app that opened a camera last.
    private func strongestApp(with newcomer: String) -> String {
        let best = (holders.map(\.app) + [newcomer]).map { priority(of: $0) }.min()
        if priority(of: newcomer) == best { return newcomer }
        return holders.last { priority(of: $0.app) == best }?.app ?? newcomer
    }

    private func conflict(_ a: String, _ b: String) -> Bool {
        a == b || cameras[a]?.conflicts.contains(b) == true || cameras[b]?.conflicts.contains(a) == true
    }

    private func cost(_ camera: String) -> Int { cameras[camera]?.cost ?? 0 }

    /// The values of an app of which the system has said nothing.
    static let unknown = ["score": "unknown", "process-state": "nonexistent"]

    /// The numbers that Android compares, by the names of `ProcessList` and `ActivityManager`, in alphabetical order.
    package static let numbers: [String: [String: Int]] = [
        "score": [
            "backup-app": 300, "cached-app-lmk-first": 950, "cached-app-max": 999, "cached-app-min": 900,
            "foreground-app": 0, "heavy-weight-app": 400, "home-app": 600, "native": -1000, "perceptible-app": 200,
            "perceptible-low-app": 250, "perceptible-medium-app": 225, "perceptible-recent-foreground-app": 50,
            "persistent-proc": -800, "persistent-service": -700, "previous-app": 700, "service": 500,
            "service-b": 800, "system": -900, "unknown": 1001, "visible-app": 100,
        ],
        "process-state": [
            "backup": 9, "bound-foreground-service": 5, "bound-top": 3, "cached-activity": 16,
            "cached-activity-client": 17, "cached-empty": 19, "cached-recent": 18, "foreground-service": 4,
            "heavy-weight": 13, "home": 14, "important-background": 7, "important-foreground": 6,
            "last-activity": 15, "nonexistent": 20, "persistent": 0, "persistent-ui": 1, "receiver": 11,
            "service": 10, "top": 2, "top-sleeping": 12, "transient-background": 8,
        ],
    ]

    static func number(_ attribute: String, _ value: String) -> Int {
        guard let number = numbers[attribute]?[value] else {
            preconditionFailure("\(attribute) has no value \"\(value)\"")
        }
        return number
    }
}
