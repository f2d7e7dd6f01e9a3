import Arbiter
package import ArbiterProtocol
import Explain
package import Scenario

/// A small world for policies: some clients, on cameras that are linked, with the moves that a rule or the contention for a
/// camera can see.
package struct SmallWorld: Sendable {
    struct Move: Sendable {
        /// Scenario lines of one moment.
        var lines: [String]
        var actions: [Action] { didSet { prepare() } }
        /// The same events in every state; `nil` where they depend on the state.
        private(set) var events: [Event]?
        private(set) var need = Need.asked

        init(lines: [String], actions: [Action]) {
            self.lines = lines
            self.actions = actions
            prepare()
        }

        /// When the move is possible, as far as that is known before: it is checked in every state.
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

    /// Scenario lines that describe the machine, and those that lead to the first state.
    let cameraLines: [String]
    let setupLines: [String]
    let setup: [Action]
    let moves: [Move]
    package let symmetry: AppSymmetry
    package let names: Names
    let populationNumber: Int

    static func worlds(
        _ reads: PolicyReads, _ populations: Populations, cameras: Int, scope: WalkScope
    ) throws(ScenarioError) -> [SmallWorld] {
        var worlds: [SmallWorld] = []
        for stage in stages(reads, cameras: cameras) {
            for population in populations.all {
                for placing in placings(of: population.keys, on: stage.count) {
                    worlds.append(try SmallWorld(reads, population, stage, placing, scope))
                }
            }
        }
        return worlds
    }

    private init(
        _ reads: PolicyReads, _ population: Population, _ stage: Stage, _ placing: [Int], _ scope: WalkScope
    ) throws(ScenarioError) {
        populationNumber = population.number
        cameraLines = stage.map { camera in
            let formats = reads.formats(of: camera.id).map { " format=\"\($0)\"" }.joined()
            return "camera \(quoted(camera.id.name)) \(camera.position.rawValue)\(formats)"
        }
        let members = Self.members(population, stage.map(\.id), placing)
        setupLines = Self.sourceLines(reads) + members.flatMap(\.entry)
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
        // A client that connects again keeps its old identity.
        self.names = scenario.names
        self.moves = moves.map { Self.returning($0, to: scenario.names) } + Self.reloads(reads, scope)
        let kinds = unique(members.map(\.kind))
        var apps: [(app: AppID, kind: Int)] = []
        for member in members where !apps.contains(where: { $0.app == member.app }) {
            let kind = kinds.firstIndex(of: member.kind) ?? 0
            // Only apps with a single session can be exchanged.
            let isSingle = members.filter { $0.app == member.app }.count == 1
            apps.append((member.app, isSingle ? kind : 100 + apps.count))
        }
        for user in Self.users(members) { apps.append((AppID(Self.caller, user: user), 1000 + apps.count)) }
        symmetry = AppSymmetry(apps, readsBids: reads.bids)
    }
}

func quoted(_ name: String) -> String { name.contains(" ") || name.isEmpty ? "\"\(name)\"" : name }

extension SmallWorld {
    typealias Stage = [(id: CameraID, position: CameraPosition)]

    /// Cameras that are not linked are walked one by one, as many as rules tell apart; of linked cameras, every choice of so many.
    static func stages(_ reads: PolicyReads, cameras: Int) -> [Stage] {
        let told = reads.cameras
        var all: [Stage] = told.map { camera in reads.positionsToldApart.map { (camera, $0) } }
        // Where rules read a camera's position, a camera that they do not name may have any.
        let isNamed = reads.tests.contains { if case .camera = $0 { true } else { false } }
        var others: [Stage] = []
        for position in [CameraPosition.back, .front, .external] {
            let plain = position == .external ? "desk" : position.rawValue
            let name = told.contains(CameraID(plain)) ? "other-\(plain)" : plain
            others.append([(CameraID(name), position)])
        }
        if !reads.positions.isEmpty {
            all += others.filter { other in reads.positionsToldApart.contains { $0 == other[0].position } }
        } else if told.isEmpty || isNamed {
            all.append(others[0])
        }
        guard reads.policies.contains(where: \.linksCameras) else {
            return all.flatMap { variants in variants.map { [$0] } }
        }
        for other in others where all.count < cameras && !all.contains(where: { $0[0].id == other[0].id }) {
            all.append(other)
        }
        return linked(reads, all, cameras)
    }

    /// Every choice of so many cameras, once for all with the same costs, conflicts and rules.
    private static func linked(_ reads: PolicyReads, _ all: [Stage], _ count: Int) -> [Stage] {
        var seen: Set<[String]> = []
        var choices: [[Int]] = [[]]
        for _ in 0..<count {
            choices = choices.flatMap { choice in
                all.indices.filter { $0 > choice.last ?? -1 }.map { choice + [$0] }
            }
        }
        let stages = choices.flatMap { choice in
            choice.reduce([Stage()]) { stages, camera in stages.flatMap { stage in all[camera].map { stage + [$0] } } }
        }
        return stages.filter { stage in
            let cameras = stage.map(\.id)
            let signature = stage.map {
                reads.signature(of: $0.id, among: cameras) + (reads.positions.isEmpty ? "" : " \($0.position.rawValue)")
            }.sorted()
            return seen.insert(signature).inserted
        }
    }

    /// Which session is on which camera; sessions of one key can be exchanged.
    static func placings(of keys: [[Int]], on cameras: Int) -> [[Int]] {
        var found: [[Int]] = []
        var seen: Set<[[Int]]> = []
        func place(_ rest: Int, _ placed: [Int]) {
            guard rest > 0 else {
                let sorted = unique(keys).map { key in
                    keys.indices.filter { keys[$0] == key }.map { placed[$0] }.sorted()
                }
                if seen.insert(sorted).inserted { found.append(placed) }
                return
            }
            for camera in 0..<cameras { place(rest - 1, placed + [camera]) }
        }
        place(keys.count, [])
        return found
    }
}

/// Choices in a state are numbers, so that a path is a list of numbers.
extension SmallWorld {
    package static let timePasses = Int(UInt16.max)

    package func beginning(_ policy: Policy) -> ExploredState {
        var state = ExploredState(policy)
        for action in setup { if let event = state.event(action) { _ = state.take(event) } }
        return state
    }

    /// Calls the body with every choice and its events, which are of one moment.
    /// - Parameter answers: recorders answer in steps of their own, at any time; else at once, within the step.
    package func forEachChoice(
        in state: ExploredState, answers: Bool, _ body: (_ choice: Int, _ events: [Event], _ now: Moment) -> Bool
    ) -> Bool {
        if !state.duties.areBehind {
            for index in moves.indices {
                guard let events = events(of: index, in: state) else { continue }
                if !body(index, events, state.now) { return false }
            }
        }
        var owed = false
        if answers {
            for (index, answer) in state.duties.answers([]).enumerated() {
                owed = true
                if !body(moves.count + index, [answer], state.now) { return false }
            }
        }
        // Recorders answer in time: a late recorder is no question of the policy.
        if !owed, let deadline = state.arbiter.deadline, deadline < .distantFuture {
            return body(Self.timePasses, [.timePassed], max(deadline, state.now))
        }
        return true
    }

    /// `nil` where the move cannot happen or changes nothing.
    func events(of move: Int, in state: ExploredState) -> [Event]? {
        guard let events = moves[move].events else {
            // A single action, which answers the last notice.
            return moves[move].actions.first.flatMap { state.event($0) }.map { [$0] }
        }
        switch moves[move].need {
        case .start(let session):
            return state.checker.exists(session) && !state.arbiter.asksToRun(session) ? events : nil
        case .stop(let session): return state.arbiter.asksToRun(session) ? events : nil
        case .place(let app, let placed, let source): return state.arbiter.isPlaced(app, placed, source) ? nil : events
        case .asked: return isNews(events[0], in: state) ? events : nil
        }
    }

    private func isNews(_ event: Event, in state: ExploredState) -> Bool {
        guard state.isPossible(event), state.duties.allows(event) else { return false }
        switch event {
        case .startRecording(let session, _), .attachMicrophone(let session, _):
            return state.checker.isRunning(session) && state.checker.mark(of: session) & 16 == 0
        case .stopRecording(let session): return state.checker.mark(of: session) & 16 != 0
        // A client that asks for nothing has nothing to leave. A client that records has its file finished first: it comes
        // back under its old ids, and the end of the old file would be taken for its own.
        case .disconnected(let client):
            let sessions = state.arbiter.sessions(of: client)
            return sessions.contains(where: state.arbiter.asksToRun)
                && !sessions.contains(where: state.duties.owesFile)
        // One trouble at a time: together they make worlds many times as large, and hardly interact.
        case .cameraDisappeared, .privacy(_, on: true), .sleep(true), .policyLoaded(.firstCome):
            return state.isUndisturbed && !state.arbiter.isKnown(event)
        case .configure(let session, let batch):
            let isSeen = batch[.sharingMode] != nil || batch[.activeFormat] != nil
            guard isSeen || state.isUndisturbed else { return false }
            return !state.duties.areConfiguring && !state.arbiter.isConfigured(session, batch)
        default: return !state.arbiter.isKnown(event)
        }
    }

    /// The events of a path, and the state at its end.
    func replay(
        _ path: [Int], _ policy: Policy, answers: Bool
    ) -> (events: [(event: Event, moment: Moment)], end: ExploredState) {
        var state = beginning(policy)
        var found: [(Event, Moment)] = []
        for choice in path {
            _ = forEachChoice(in: state, answers: answers) { candidate, events, now in
                guard candidate == choice else { return true }
                found += events.map { ($0, now) }
                state.now = now
                for event in events { _ = state.take(event) }
                if !answers { _ = state.answerAll() }
                return false
            }
        }
        return (found, state)
    }
}
