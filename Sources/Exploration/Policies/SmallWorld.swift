import Arbiter
import ArbiterProtocol
import Scenario

/// A small world made of what policies read: so many clients, on cameras that have to do with each other, and as
/// moves only what some rule, or the contention for a camera, can see.
struct SmallWorld: Sendable {
    struct Move: Sendable {
        /// As a scenario has them; all happen at one moment.
        var lines: [String]
        var actions: [Action]
    }

    /// The scenario's lines that describe the machine, and those that lead to where the walk begins.
    let cameraLines: [String]
    let setupLines: [String]
    let setup: [Action]
    let moves: [Move]
    let cast: FoldedCast
    let names: Names
    let clients: Int
    let cameras: [CameraID]

    /// Every world of so many clients and cameras; `all`: every cast, not only enough of them that every two kinds
    /// of clients meet.
    static func worlds(
        _ policies: [Policy], clients: Int, cameras: Int, scope: WalkScope = .everything, allCasts: Bool = false
    ) throws(ScenarioError) -> [SmallWorld] {
        let reads = PolicyReads(policies)
        let casts = Character.all(reads).casts(of: clients, all: allCasts)
        let isLinked = policies.contains(where: \.linksCameras)
        let stages = stages(reads, cameras: cameras, isLinked: isLinked)
        var worlds: [SmallWorld] = []
        for stage in stages {
            for cast in casts {
                for placing in placings(of: cast, on: stage.count) {
                    worlds.append(try SmallWorld(reads, cast, stage, placing, scope))
                }
            }
        }
        return worlds
    }

    private init(
        _ reads: PolicyReads, _ cast: [Character], _ stage: [(id: CameraID, position: CameraPosition)],
        _ placing: [Int], _ scope: WalkScope
    ) throws(ScenarioError) {
        clients = cast.count
        cameras = stage.map(\.id)
        cameraLines = stage.map { "camera \(quoted($0.id.name)) \($0.position.rawValue)" }
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
        // Connecting again gives a client its old identity, so that it is the same one who comes back.
        self.names = scenario.names
        self.moves = moves.map { Self.returning($0, to: scenario.names) }
        let kinds = unique(members.map { [AnyHashable($0.character), AnyHashable($0.camera)] })
        var apps: [(app: AppID, kind: Int)] = []
        for member in members where !apps.contains(where: { $0.app == member.app }) {
            let kind = kinds.firstIndex(of: [AnyHashable(member.character), AnyHashable(member.camera)]) ?? 0
            // Two clients of one app are nobody's mirror image but each other's.
            let isSingle = members.filter { $0.app == member.app }.count == 1
            apps.append((member.app, isSingle ? kind : 100 + apps.count))
        }
        apps.append((AppID(Self.caller, user: 1000), 1000))
        self.cast = FoldedCast(apps, readsClaims: reads.claims)
    }

    /// Who takes the microphone: nobody of the cast, so that it concerns all of them.
    static let caller = "phone"

    // MARK: Who is there

    private struct Member {
        var name: String
        var app: AppID
        var character: Character
        var camera: CameraID
        /// The lines with which it comes, at the beginning and later on.
        var entry: [String]
    }

    private static func members(_ cast: [Character], _ cameras: [CameraID], _ placing: [Int]) -> [Member] {
        var names = Names()
        return cast.indices.map { index in
            let character = cast[index]
            let camera = cameras[placing[index]]
            let name = names.freeClientName(character.name)
            // A named app is one app, however many clients it has; the others are each their own.
            let app = AppID(character.app ?? name, user: character.user)
            names.addClient(name, app: app)
            var words = ["connect", quoted(name)]
            if app.name != name { words.append("app=\(quoted(app.name))") }
            if character.user != Names.usualUser { words.append("user=\(character.user)") }
            if let login = character.login { words.append("login=\(login)") }
            if character.kind != .app { words.append("kind=\(character.kind.rawValue)") }
            if character.multitasking { words.append("multitasking") }
            if character.isClaimed { words.append("claimed") }
            var session = "session \(quoted(name)) camera=\(quoted(camera.name))"
            if character.usesAudio { session += " audio" }
            if character.watches { session += " sharingMode=sharedReadOnly" }
            return Member(
                name: name, app: app, character: character, camera: camera,
                entry: [words.joined(separator: " "), session])
        }
    }

    private static func sourceLines(_ reads: PolicyReads) -> [String] {
        var lines: [String] = []
        if reads.sources.contains(.shell) { lines.append("shell attach") }
        if reads.sources.contains(.agent) { lines.append("agent attach") }
        if reads.login { lines += ["login-session c1 active", "login-session c2 inactive"] }
        return lines
    }

    // MARK: What may happen

    private static func moveLines(
        _ reads: PolicyReads, _ members: [Member], _ cameras: [CameraID], _ scope: WalkScope
    ) -> [[String]] {
        var moves: [[String]] = []
        for member in members {
            let name = quoted(member.name)
            moves += [["start \(name)"], ["stop \(name)"]]
            if reads.recording { moves += [["record \(name)"], ["stop-record \(name)"]] }
            if reads.graces { moves.append(["ready \(name)"]) }
            for rank in reads.lowering { moves.append(["lower \(name) \(quoted(rank))"]) }
        }
        for app in unique(members.map(\.app)) {
            moves += presence(reads, app, members)
            if reads.operatorChoice { moves.append(["operator \(text(app))"]) }
            for (attribute, values) in reads.attributes {
                moves += values.map { ["attribute \(text(app)) \(attribute) \($0)"] }
            }
        }
        if reads.operatorChoice { moves.append(["operator none"]) }
        if reads.microphone { moves += [["microphone \(caller) taken"], ["microphone \(caller) released"]] }
        if reads.login {
            moves += [
                ["login-session c1 active", "login-session c2 inactive"],
                ["login-session c1 inactive", "login-session c2 active"],
            ]
        }
        for level in reads.pressures { moves.append(["pressure \(level.wireName)"]) }
        guard scope.machineEvents else { return moves }
        // A client that vanishes and is back at once: what it held is free, and whether it is away makes no difference.
        for member in members { moves.append(["disconnect \(quoted(member.name))"] + member.entry) }
        for camera in cameras { moves += [["unplug \(quoted(camera.name))"], ["plug \(quoted(camera.name))"]] }
        return moves
    }

    private static func presence(_ reads: PolicyReads, _ app: AppID, _ members: [Member]) -> [[String]] {
        guard reads.presence else { return [] }
        var layouts = ["background"]
        for layout in reads.layout ? reads.layouts : [.fullscreen] {
            layouts.append(layout.rawValue)
            if reads.focus { layouts.append("\(layout.rawValue) focused") }
        }
        var moves: [[String]] = []
        for source in reads.sources {
            switch source {
            case .shell: moves += layouts.map { ["presence \(text(app)) \($0)"] }
            case .agent: moves += layouts.map { ["presence \(text(app)) \($0) by agent"] }
            case .selfDeclared:
                guard let speaker = members.first(where: { $0.app == app }) else { continue }
                moves += layouts.map { ["declare-presence \(quoted(speaker.name)) \($0)"] }
            case .loginSession: continue
            }
        }
        return moves
    }

    private static func text(_ app: AppID) -> String {
        quoted(app.user == Names.usualUser ? app.name : "\(app.name)@\(app.user)")
    }

    /// The move with the ids that its names have had from the beginning.
    private static func returning(_ move: Move, to names: Names) -> Move {
        guard move.actions.count > 1,
            case .event(.connected(let newID, let app, let verified, let login)) = move.actions[1],
            let name = move.lines.first?.split(separator: " ").dropFirst().first,
            let client = names.client(String(name).trimmingQuotes)
        else { return move }
        let session = names.session(String(name).trimmingQuotes)
        var move = move
        move.actions = move.actions.map { action in
            switch action {
            case .event(.connected): .event(.connected(client, app: app, verified: verified, loginSession: login))
            case .event(.declared(newID, let attributes)): .event(.declared(client, attributes))
            case .event(.created(let fresh, newID, let camera, let asked, let again)):
                .event(.created(session ?? fresh, client, camera: camera, asked, reestablished: again))
            default: action
            }
        }
        return move
    }
}

private func quoted(_ name: String) -> String { name.contains(" ") || name.isEmpty ? "\"\(name)\"" : name }

extension String {
    fileprivate var trimmingQuotes: String { hasPrefix("\"") ? String(dropFirst().dropLast()) : self }
}
