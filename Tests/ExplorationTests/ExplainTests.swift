import Arbiter
import ArbiterProtocol
import Exploration
import Scenario
import Testing

import struct Arbiter.Explanation

/// `explain` is true: the fact that it names is flipped on a copy from before the decision, the same event
/// is given again, and the decision turns.
@Suite struct ExplainTests {
    @Test("Flip the fact that explain names, and the decision turns", arguments: UInt64(1)...8)
    func turns(_ seed: UInt64) throws {
        var run = try ExplainedRun(seed: seed)
        for _ in 0..<1000 { run.step() }
        for wrong in run.untrue.prefix(5) { Issue.record("seed \(seed): \(wrong)") }
        #expect(run.untrue.isEmpty, "\(run.untrue.count) of \(run.checked) explanations are not true")
        #expect(run.checked > 150, "only \(run.checked) explanations could be checked")
        #expect(run.kinds.count >= 5, "only facts of \(run.kinds.sorted()) were flipped")
    }

    @Test("An old decision is expired: the last 1,024 are kept")
    func expired() throws {
        var run = try ExplainedRun(seed: 1)
        for _ in 0..<4000 { run.step() }
        let arbiter = run.stage.arbiter
        #expect(arbiter.explain(1) == nil)
        #expect(arbiter.explain(0) != nil)
        #expect(arbiter.explain(arbiter.lastDecision + 1) == nil)
    }
}

/// A random life in which every fact that a rule reads can be flipped alone.
private struct ExplainedRun {
    var stage: Stage
    var random: SeededRandom
    var checked = 0
    var untrue: [String] = []
    var kinds: Set<String> = []
    private var placements: [AppID: (presence: Presence, focused: Bool)] = [:]
    private let apps = ["a", "b", "c"].map { AppID($0, user: 1000) }
    private let cameras = ["back", "front"].map(CameraID.init)
    private let capabilities: [CameraCapabilities]
    private let login = LoginSessionID("c1")

    // No grace, no min-hold and no lease: they put a decision off, and this is about which way it falls.
    private static let world = """
        policy \"""
        name = "explained"
        sources = ["shell"]
        pressure-settle = "0s"
        ranks = ["strong", "app"]
        [[cause]]
        name = "In the background"
        when = { presence = "background" }
        cause = "video-device-not-available-in-background"
        [[cause]]
        name = "Too hot"
        when = { pressure = "critical" }
        cause = "video-device-not-available-due-to-system-pressure"
        [[cause]]
        name = "Too hot to record"
        when = { pressure = "serious" }
        cause = "video-device-not-available-due-to-system-pressure"
        access = ["preview", "photo"]
        [[cause]]
        name = "Somebody is on the phone"
        when = { microphone = "taken", uses-audio = true }
        cause = "audio-device-in-use-by-another-client"
        [[rank]]
        name = "The one in the picture"
        layout = "picture-in-picture"
        rank = "strong"
        [[rank]]
        name = "Everybody"
        rank = "app"
        [contention]
        order = ["operator", "focused"]
        tie = "newcomer"
        \"""
        camera back
        camera front
        0s   shell attach
             login-session c1 active
             connect a login=c1
             connect b
             connect c
             session a camera=back audio
             session b camera=back
             session c camera=back audio
             session d of c camera=front

        """
    private let sessionApps: [AppID]

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        let scenario = try Scenario.parse(Self.world, file: "explained", policies: ".")
        stage = Stage(Arbiter(policy: scenario.world.policy))
        _ = scenario.run(on: &stage)
        capabilities = scenario.world.cameras.map(\.capabilities)
        sessionApps = [apps[0], apps[1], apps[2], apps[2]]
        for app in apps { placements[app] = (.background, false) }
    }

    private var sessions: [SessionID] { (1...4).map { SessionID($0) } }
    private func app(of session: SessionID) -> AppID { sessionApps[Int(session.rawValue) - 1] }

    mutating func step() {
        let event = nextEvent()
        let before = stage
        let decision = stage.arbiter.lastDecision + 1
        stage.perform(.event(event))
        _ = stage.advance(to: stage.now + .milliseconds(1))
        defer {
            if case .placed(let app, let presence, let focused, _) = event { note(app, presence, focused) }
            _ = stage.takeSteps()
        }
        guard let explanation = stage.arbiter.explain(decision) else { return }
        for verdict in explanation.verdicts {
            guard let fell = stage.arbiter.status(of: verdict.session) else { continue }
            for turn in verdict.turnedBy {
                guard let (first, again) = flipped(turn, verdict.session, event) else { continue }
                var other = before
                for flip in first { other.perform(.event(flip)) }
                // A session that may not configure now cannot change its audio: the fact stays as it was.
                if case .usesAudio(let uses)? = turn.test,
                    other.arbiter.status(of: verdict.session)?.configuration[.usesAudio] != .flag(uses)
                {
                    continue
                }
                _ = other.advance(to: other.now + .microseconds(1))
                if let again { other.perform(.event(again)) }
                _ = other.advance(to: stage.now)
                checked += 1
                kinds.insert(turn.key)
                let turned = other.arbiter.status(of: verdict.session)
                let hasTurned =
                    turned.map { $0.state != fell.state || $0.causes != fell.causes || $0.access != fell.access }
                    ?? true
                if !hasTurned {
                    untrue.append(
                        "\(event): session \(verdict.session.rawValue) \(verdict.outcome.description) because “\(verdict.rule)”, and \(turn.key) \(turn.from) → \(turn.to) turns nothing"
                    )
                }
            }
        }
    }

    private mutating func note(_ app: AppID, _ presence: Presence, _ focused: Bool) {
        if focused { for other in apps { placements[other]?.focused = false } }
        placements[app] = (presence, focused)
    }

    private mutating func nextEvent() -> Event {
        let session = random.pick(sessions)
        let app = random.pick(apps)
        switch random.below(20) {
        case 0..<5: return .startRunning(session)
        case 5..<7: return .stopRunning(session)
        case 7..<13:
            let presence: Presence =
                random.chance(25)
                ? .background : .foreground(random.pick([.fullscreen, .split, .pictureInPicture]))
            return .placed(app, presence, focused: random.chance(40), by: .shell)
        case 13: return .microphone(AppID("caller", user: 1000), taken: random.chance(50))
        case 14: return .pressure(random.pick([.nominal, .serious, .critical]))
        case 15: return .operatorChose(random.chance(40) ? nil : app)
        case 16: return .privacy(random.pick(cameras), on: random.chance(40))
        case 17:
            let index = random.below(2)
            return random.chance(40)
                ? .cameraDisappeared(cameras[index]) : .cameraAppeared(cameras[index], capabilities[index])
        case 18: return .sleep(random.chance(30))
        default: return .loginSession(login, active: random.chance(70), locked: false)
        }
    }

    // MARK: Flipping

    /// The events that flip a fact before the event, and the event as it is then; nil where this fact cannot be
    /// flipped alone, or the event itself says something else about it.
    private func flipped(
        _ turn: Explanation.Turn, _ session: SessionID, _ event: Event
    ) -> (first: [Event], again: Event?)? {
        if turn.of == .machine { return ended(turn.key, session, event) }
        let app = app(of: session)
        switch turn.test {
        case .foreground(let inFront):
            return placed(app, event) { $0.presence = inFront ? .foreground(.fullscreen) : .background }
        case .layout(let layout): return placed(app, event) { $0.presence = .foreground(layout) }
        case .focused(let focused): return placed(app, event) { $0.focused = focused }
        case .microphoneTaken(let taken):
            if case .microphone = event { return nil }
            return ([.microphone(AppID("caller", user: 1000), taken: taken)], event)
        case .pressure(let level):
            if case .pressure = event { return nil }
            return ([.pressure(level)], event)
        case .operatorChosen(let chosen):
            if case .operatorChose = event { return nil }
            return ([.operatorChose(chosen ? app : nil)], event)
        case .usesAudio(let uses):
            return (
                [.configure(session, Configuration([.usesAudio: .flag(uses), .whenBusy: .text("interrupt")]))], event
            )
        default: return nil
        }
    }

    private func placed(
        _ app: AppID, _ event: Event, _ change: (inout (presence: Presence, focused: Bool)) -> Void
    ) -> (first: [Event], again: Event?)? {
        if case .placed(app, let presence, let focused, let source) = event {
            var placement = (presence: presence, focused: focused)
            change(&placement)
            return ([], .placed(app, placement.presence, focused: placement.focused, by: source))
        }
        guard var placement = placements[app] else { return nil }
        // An event that focuses another app takes the focus back, whoever had it before.
        if case .placed(_, _, true, _) = event, placement.focused == false { return nil }
        change(&placement)
        return ([.placed(app, placement.presence, focused: placement.focused, by: .shell)], event)
    }

    /// The fact of the machine never came, or is over.
    private func ended(_ cause: String, _ session: SessionID, _ event: Event) -> (first: [Event], again: Event?)? {
        let camera = session == SessionID(4) ? 1 : 0
        switch (Cause(wireName: cause), event) {
        case (.videoDeviceDisconnected, .cameraDisappeared), (.videoDeviceBlockedByPrivacy, .privacy),
            (.systemSleep, .sleep), (.loginSessionInactive, .loginSession):
            return ([], nil)
        case (.videoDeviceDisconnected, _): return ([.cameraAppeared(cameras[camera], capabilities[camera])], event)
        case (.videoDeviceBlockedByPrivacy, _): return ([.privacy(cameras[camera], on: false)], event)
        case (.systemSleep, _): return ([.sleep(false)], event)
        case (.loginSessionInactive, _): return ([.loginSession(login, active: true, locked: false)], event)
        default: return nil
        }
    }
}
