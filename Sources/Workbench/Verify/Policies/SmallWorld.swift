import Arbiter
package import ArbiterProtocol
import Explain
package import Scenario

/// A small world made of what policies read: so many clients, on cameras that have to do with each other, and as
/// moves only what some rule, or the contention for a camera, can see.
package struct SmallWorld: Sendable {
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
    package let cast: FoldedCast
    package let names: Names
    let castNumber: Int

    package static func worlds(
        _ policies: [Policy], _ casting: Casting, cameras: Int, scope: WalkScope
    ) throws(ScenarioError) -> [SmallWorld] {
        try worlds(policies, PolicyReads(policies), casting, cameras: cameras, scope: scope)
    }

    package static func worlds(
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

extension SmallWorld {
    typealias Stage = [(id: CameraID, position: CameraPosition)]

    /// Cameras that do not touch each other are looked at one by one, all that a rule tells apart; of those that touch
    /// each other, every choice of so many.
    static func stages(_ reads: PolicyReads, cameras: Int, isLinked: Bool) -> [Stage] {
        let told = reads.cameras
        var all: [Stage] = told.map { camera in reads.positionsToldApart.map { (camera, $0) } }
        // Where rules read where a camera looks, one that they do not name may look anywhere, too.
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
        guard isLinked else { return all.flatMap { variants in variants.map { [$0] } } }
        for other in others where all.count < cameras && !all.contains(where: { $0[0].id == other[0].id }) {
            all.append(other)
        }
        return linked(reads, all, cameras)
    }

    /// Every choice of so many cameras, but one of those that have the same costs and conflicts, and the same rules.
    private static func linked(_ reads: PolicyReads, _ all: [Stage], _ count: Int) -> [Stage] {
        var seen: [[String]] = []
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
                reads.character(of: $0.id, among: cameras) + (reads.positions.isEmpty ? "" : " \($0.position.rawValue)")
            }.sorted()
            if seen.contains(signature) { return false }
            seen.append(signature)
            return true
        }
    }

    /// Which session is on which camera. Sessions of one key may change places without changing anything.
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

/// What may happen in a state of a small world. Choices are numbers, so that a path is a list of numbers.
extension SmallWorld {
    package static let timePasses = Int(UInt16.max)

    package func beginning(_ policy: Policy) -> ExploredState {
        var state = ExploredState(policy)
        for action in setup { if let event = state.event(action) { _ = state.take(event) } }
        return state
    }

    /// Calls with every choice that there is, and what happens then: events of one moment.
    /// - Parameter answers: recorders answer as a step of their own, at any time; else at once, within the step.
    package func forEachChoice(
        in state: ExploredState, answers: Bool, _ body: (_ choice: Int, _ events: [Event], _ now: Moment) -> Bool
    ) -> Bool {
        for index in moves.indices {
            guard let events = events(of: index, in: state) else { continue }
            if !body(index, events, state.now) { return false }
        }
        var owed = false
        if answers {
            for (index, answer) in state.duties.answers([]).enumerated() {
                owed = true
                if !body(moves.count + index, [answer], state.now) { return false }
            }
        }
        // Recorders answer in time here: what happens when they do not is no question of the policy.
        if !owed, let deadline = state.arbiter.deadline, deadline < .distantFuture {
            return body(Self.timePasses, [.timePassed], max(deadline, state.now))
        }
        return true
    }

    /// Nil: it cannot happen, or says what is known.
    func events(of move: Int, in state: ExploredState) -> [Event]? {
        guard let events = moves[move].events else {
            // Of one action, which answers what was said last.
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
        // A client that asks for nothing has nothing to leave. One that records is expected to stop that first, and
        // have its file finished: it comes back under its old ids, which the old file's end would be taken for its own.
        case .disconnected(let client):
            let sessions = state.arbiter.sessions(of: client)
            return sessions.contains(where: state.arbiter.asksToRun)
                && !sessions.contains(where: state.duties.owesFile)
        // One trouble at a time: together they make worlds many times as large, and touch each other hardly anywhere.
        case .cameraDisappeared, .privacy(_, on: true), .sleep(true), .policyLoaded(.firstCome):
            return state.isUndisturbed && !state.arbiter.isKnown(event)
        case .configure(let session, let batch):
            // What a policy can see may be at any time.
            let isSeen = batch[.sharingMode] != nil || batch[.activeFormat] != nil
            guard isSeen || state.isUndisturbed else { return false }
            return !state.duties.areConfiguring && !state.arbiter.isConfigured(session, batch)
        default: return !state.arbiter.isKnown(event)
        }
    }

    func lived(
        _ path: [Int], _ policy: Policy, answers: Bool
    ) -> (events: [(event: Event, moment: Moment)], end: ExploredState) {
        var state = beginning(policy)
        var found: [(Event, Moment)] = []
        for choice in path {
            _ = forEachChoice(in: state, answers: answers) { candidate, events, now in
                guard candidate == choice else { return true }
                state.now = now
                for event in events {
                    found.append((event, now))
                    _ = state.take(event)
                }
                if !answers { _ = state.answerAll() }
                return false
            }
        }
        return (found, state)
    }
}

extension ExploredState {
    /// The machine is whole and awake, nobody has configured the camera, and the policy is the one that a walk is about.
    fileprivate var isUndisturbed: Bool { arbiter.isMachineWhole && policy != Self.builtIn && !arbiter.isAnybodyZoomed }
    private static let builtIn = Policy.firstCome.fingerprint

    package mutating func answerAll() -> (effects: [Effect], wrong: [String]) {
        var effects: [Effect] = []
        var wrong: [String] = []
        for _ in 0..<Self.answersMax {
            guard let answer = duties.firstAnswer else { return (effects, wrong) }
            let (more, mistakes) = take(answer)
            effects += more
            wrong += mistakes
        }
        return (effects, wrong + [Self.endless])
    }

    /// Two recorders that answer each other's orders for ever would be the arbiter's fault.
    static let answersMax = 200
    static let endless = "orders and answers do not come to an end"

    /// - Parameter mark: what a walk remembers of a session besides.
    package func fold(_ cast: FoldedCast, into fold: inout StateFold, mark: ((SessionID) -> UInt64)? = nil) {
        for row in arbiter.state.sessions.rows.indices {
            let session = SessionID(arbiter.state.sessions.rows[row].id)
            var own = checker.mark(of: session) | duties.mark(of: session) << 20
            if cast.tellsWhoIsInTheWay { own ^= arbiter.markOfWhoIsInTheWay(of: session, cast) }
            if let mark { own ^= mark(session) }
            fold.note(session: row, own)
        }
        for slot in arbiter.state.cameraOrder {
            let camera = arbiter.state.id(slot)
            // Under another policy the same state goes on otherwise.
            let own = checker.mark(of: camera) | duties.mark(of: camera) << 8 ^ policy.first << 48
            fold.note(camera: Int(slot.index), own)
        }
        arbiter.fold(cast, into: &fold)
    }
}
