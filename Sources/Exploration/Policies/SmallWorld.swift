import Arbiter
import ArbiterProtocol
import Scenario

/// A small world made of what policies read: so many clients, on cameras that have to do with each other, and as
/// moves only what some rule, or the contention for a camera, can see.
struct SmallWorld: Sendable {
    struct Move: Sendable {
        /// As a scenario has them; all happen at one moment.
        var lines: [String]
        var actions: [Action] { didSet { prepare() } }
        /// What they are in every state; nil: that depends on the state.
        private(set) var events: [Event]?
        private(set) var need = Need.asked

        init(lines: [String], actions: [Action]) {
            self.lines = lines
            self.actions = actions
            prepare()
        }

        /// What has to be so for a move to be one, where that is known before: it is asked in every state.
        enum Need: Sendable {
            case start(SessionID)
            case stop(SessionID)
            case place(AppID, Placed, PresenceSource)
            case asked
        }

        private mutating func prepare() {
            let events = actions.compactMap { if case .event(let event) = $0 { event } else { nil } }
            self.events = events.count == actions.count ? events : nil
            need =
                switch events.first {
                case .startRunning(let session): .start(session)
                case .stopRunning(let session): .stop(session)
                case .placed(let app, let presence, let focused, let source):
                    .place(app, Placed(presence, isFocused: focused), source)
                default: .asked
                }
        }
    }

    /// The scenario's lines that describe the machine, and those that lead to where the walk begins.
    let cameraLines: [String]
    let setupLines: [String]
    let setup: [Action]
    let moves: [Move]
    let cast: FoldedCast
    let names: Names
    /// Which of the casts it is of.
    let castNumber: Int

    /// Every world of a casting's casts, on so many cameras.
    static func worlds(
        _ policies: [Policy], _ casting: Casting, cameras: Int, scope: WalkScope
    ) throws(ScenarioError) -> [SmallWorld] {
        try worlds(policies, PolicyReads(policies), casting, cameras: cameras, scope: scope)
    }

    /// - Parameter reads: what of the policies is to make a difference.
    static func worlds(
        _ policies: [Policy], _ reads: PolicyReads, _ casting: Casting, cameras: Int, scope: WalkScope
    ) throws(ScenarioError) -> [SmallWorld] {
        let stages = stages(reads, cameras: cameras, isLinked: policies.contains(where: \.linksCameras))
        var worlds: [SmallWorld] = []
        for stage in stages {
            for cast in casting.casts {
                for placing in placings(of: cast.keys, on: stage.count) {
                    worlds.append(try SmallWorld(reads, cast, stage, placing, scope))
                }
            }
        }
        return worlds
    }

    private init(
        _ reads: PolicyReads, _ cast: Cast, _ stage: Stage, _ placing: [Int], _ scope: WalkScope
    ) throws(ScenarioError) {
        castNumber = cast.number
        cameraLines = stage.map { camera in
            let formats = reads.formats(of: camera.id).map { " format=\"\($0)\"" }.joined()
            return "camera \(quoted(camera.id.name)) \(camera.position.rawValue)\(formats)"
        }
        let members = Self.members(cast, stage.map(\.id), placing)
        var setupLines = Self.sourceLines(reads)
        for member in members { setupLines += member.entry }
        self.setupLines = setupLines
        let text =
            (["policy built-in"] + cameraLines + ["0s"] + setupLines.map { "     \($0)" }).joined(separator: "\n")
        let scenario = try Scenario.parse(text, file: "a small world", policies: ".")
        setup = scenario.setup
        var names = scenario.names
        var moves: [Move] = []
        for lines in Self.moveLines(reads, members, stage.map(\.id), scope) {
            var actions: [Action] = []
            for line in lines { actions += try Scenario.input(line, names: &names) }
            moves.append(Move(lines: lines, actions: actions))
        }
        // Connecting again gives a client its old identity, so that the same one comes back.
        self.names = scenario.names
        self.moves = moves.map { Self.returning($0, to: scenario.names) } + Self.reloads(reads, scope)
        let kinds = unique(members.map(\.kind))
        var apps: [(app: AppID, kind: Int)] = []
        for member in members where !apps.contains(where: { $0.app == member.app }) {
            let kind = kinds.firstIndex(of: member.kind) ?? 0
            // Two sessions of one app mirror only each other.
            let isSingle = members.filter { $0.app == member.app }.count == 1
            apps.append((member.app, isSingle ? kind : 100 + apps.count))
        }
        for user in Self.users(members) { apps.append((AppID(Self.caller, user: user), 1000 + apps.count)) }
        self.cast = FoldedCast(apps, readsBids: reads.bids)
    }
}

func quoted(_ name: String) -> String { name.contains(" ") || name.isEmpty ? "\"\(name)\"" : name }
