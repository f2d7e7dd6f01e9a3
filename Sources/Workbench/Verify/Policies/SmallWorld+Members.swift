import Arbiter
import ArbiterProtocol
import Scenario

/// The members of a small world and its moves, as lines of a scenario.
extension SmallWorld {
    /// The app that takes the microphone: it is no member, so that it concerns all of its user's apps.
    static let caller = "phone"

    struct Member {
        var client: String
        var session: String
        var app: AppID
        var role: Role
        var camera: CameraID
        /// The lines with which it comes, at the beginning and later; a client's second session has only its own line.
        var entry: [String]

        /// Equal for apps with one session each that are mirror images.
        var kind: [AnyHashable] { [AnyHashable(role), AnyHashable(camera)] }
    }

    static func members(_ population: Population, _ cameras: [CameraID], _ placing: [Int]) -> [Member] {
        var names = Names()
        var members: [Member] = []
        for (index, role) in population.sessions.enumerated() {
            let camera = cameras[placing[index]]
            if index > 0, population.clients[index] == population.clients[index - 1], let first = members.last {
                let name = "\(first.client)-inset"
                let line = "session \(quoted(name)) of \(quoted(first.client))\(wishes(role, camera))"
                members.append(
                    Member(
                        client: first.client, session: name, app: first.app, role: role, camera: camera,
                        entry: [line]))
                continue
            }
            let name = names.freeClientName(role.name)
            // All clients of a named app are one app; each other client is an app of its own.
            let app = AppID(role.app ?? name, user: role.user)
            names.addClient(name, app: app)
            let lines = [connecting(name, app, role), "session \(quoted(name))\(wishes(role, camera))"]
            members.append(
                Member(client: name, session: name, app: app, role: role, camera: camera, entry: lines))
        }
        return members
    }

    private static func connecting(_ name: String, _ app: AppID, _ role: Role) -> String {
        var words = ["connect", quoted(name)]
        if app.name != name { words.append("app=\(quoted(app.name))") }
        if role.user != Names.usualUser { words.append("user=\(role.user)") }
        if let login = role.login { words.append("login=\(login)") }
        if let group = role.group { words.append("groups=\(group)") }
        if role.isWeak { words.append("weak") }
        if role.kind != .app { words.append("kind=\(role.kind.rawValue)") }
        if role.multitasking { words.append("multitasking") }
        if role.isClaimed { words.append("claimed") }
        return words.joined(separator: " ")
    }

    private static func wishes(_ role: Role, _ camera: CameraID) -> String {
        " camera=\(quoted(camera.name))" + (role.usesAudio ? " audio" : "")
            + (role.watches ? " sharingMode=sharedReadOnly" : "")
    }

    static func users(_ members: [Member]) -> [UInt32] { unique(members.map(\.role.user)) }

    static func sourceLines(_ reads: PolicyReads) -> [String] {
        var lines: [String] = []
        if reads.sources.contains(.shell) { lines.append("shell attach") }
        if reads.sources.contains(.agent) { lines.append("agent attach") }
        return lines + logins(reads, active: 0)
    }

    private static func answers(_ reads: PolicyReads, _ members: [Member]) -> [[String]] {
        guard reads.asks else { return [] }
        let lines = unique(
            members.filter { $0.app.user != 0 }.map { ($0.app, $0.role.isClaimed ? " claimed" : "") }
                .flatMap { app, claimed in ["allow", "deny"].map { "answer \(text(app)) \($0)\(claimed)" } })
        return lines.map { [$0] }
    }

    private static func logins(_ reads: PolicyReads, active: Int?) -> [String] {
        guard reads.login else { return [] }
        return reads.users.enumerated().map { index, user in
            "login-session c\(index + 1) \(index == active ? "active" : "inactive") user=\(user)"
        }
    }

    static func moveLines(
        _ reads: PolicyReads, _ members: [Member], _ cameras: [CameraID], _ scope: WalkScope
    ) -> [[String]] {
        var moves: [[String]] = []
        let clients = unique(members.map(\.client))
        for member in members {
            let name = quoted(member.session)
            moves += [["start \(name)"], ["stop \(name)"]]
            if reads.recording {
                // A session with audio attaches its microphone for each recording.
                let microphone = member.role.usesAudio ? ["attach-microphone \(name)"] : []
                moves += [microphone + ["record \(name)"], ["stop-record \(name)"]]
            }
            if reads.graces { moves.append(["ready \(name)"]) }
            if reads.commits { moves.append([commit(name)]) }
            let formats = reads.formats(of: member.camera)
            if formats.count > 1 { moves += formats.map { ["configure \(name) activeFormat=\"\($0)\""] } }
        }
        for rank in reads.lowering { moves += clients.map { ["lower \(quoted($0)) \(quoted(rank))"] } }
        let apps = unique(members.map(\.app))
        let attributes = reads.attributes(among: apps.count)
        for app in apps {
            moves += presence(reads, app, members)
            if reads.operatorChoice { moves.append(["operator \(text(app))"]) }
            for (attribute, values) in attributes {
                moves += values.map { ["attribute \(text(app)) \(attribute)" + ($0.map { " \($0)" } ?? "")] }
            }
        }
        moves += answers(reads, members)
        if reads.operatorChoice { moves.append(["operator none"]) }
        if reads.microphone {
            for user in users(members) {
                let caller = text(AppID(caller, user: user))
                moves += [["microphone \(caller) taken"], ["microphone \(caller) released"]]
            }
        }
        if reads.login { moves += reads.users.indices.map { logins(reads, active: $0) } + [logins(reads, active: nil)] }
        // A mode that is set by hand decides like one of the calendar.
        for mode in reads.modes { moves.append(["calendar \(quoted(mode ?? Mode.none))"]) }
        for level in reads.pressures { moves.append(["pressure \(level.wireName)"]) }
        return scope.machineEvents ? moves + machine(reads, members, cameras) : moves
    }

    private static func machine(_ reads: PolicyReads, _ members: [Member], _ cameras: [CameraID]) -> [[String]] {
        var moves: [[String]] = [["sleep"], ["wake"]]
        // A client that vanishes and is back at once: a longer absence makes no difference.
        for client in unique(members.map(\.client)) {
            moves.append(["disconnect \(quoted(client))"] + members.filter { $0.client == client }.flatMap(\.entry))
        }
        for camera in cameras.map({ quoted($0.name) }) {
            moves += [["unplug \(camera)"], ["plug \(camera)"], ["privacy \(camera) on"], ["privacy \(camera) off"]]
        }
        for member in members {
            if !reads.commits { moves.append([commit(quoted(member.session))]) }
            guard reads.sharing else { continue }
            let other = member.role.watches ? "exclusiveControl" : "sharedReadOnly"
            moves.append(["configure \(quoted(member.session)) sharingMode=\(other)"])
        }
        return moves
    }

    private static func commit(_ session: String) -> String { "configure \(session) videoZoomFactor=2" }

    /// Reloads of the policy itself and of the built-in policy.
    static func reloads(_ reads: PolicyReads, _ scope: WalkScope) -> [Move] {
        guard scope.machineEvents, reads.policies.count == 1, let policy = reads.policies.first else { return [] }
        return [policy, .firstCome].map { policy in
            let line = "policy-reload \(policy == .firstCome ? "built-in" : policy.name)"
            return Move(lines: [line], actions: [.event(.policyLoaded(policy))])
        }
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
                moves += layouts.map { ["declare-presence \(quoted(speaker.client)) \($0)"] }
            case .loginSession: continue
            }
        }
        return moves
    }

    private static func text(_ app: AppID) -> String {
        quoted(app.user == Names.usualUser ? app.name : "\(app.name)@\(app.user)")
    }

    static func returning(_ move: Move, to names: Names) -> Move {
        guard move.actions.count > 1, case .event(.connected(let newID, let app, let identity)) = move.actions[1],
            let name = move.lines.first.map({ word(1, of: $0) }), let client = names.client(name)
        else { return move }
        var sessions = move.lines.filter { $0.hasPrefix("session ") }.map { names.session(word(1, of: $0)) }[...]
        var move = move
        move.actions = move.actions.map { action in
            switch action {
            case .event(.connected): .event(.connected(client, app: app, identity))
            case .event(.declared(newID, let attributes)): .event(.declared(client, attributes))
            case .event(.created(let fresh, newID, let camera, let asked, let again)):
                .event(
                    .created(
                        sessions.popFirst().flatMap { $0 } ?? fresh, client, camera: camera, asked, reestablished: again
                    ))
            default: action
            }
        }
        return move
    }

    private static func word(_ place: Int, of line: String) -> String {
        let words = line.split(separator: " ")
        guard words.indices.contains(place) else { return "" }
        let word = String(words[place])
        return word.hasPrefix("\"") ? String(word.dropFirst().dropLast()) : word
    }
}
