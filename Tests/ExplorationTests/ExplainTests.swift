import Arbiter
import ArbiterProtocol
import Explain
import Scenario
import Testing
import Workbench

import struct Explain.Explanation

/// `explain` is true: the facts that it names, one or several, of the session, of another app or of the machine, are
/// brought about by ordinary events on a copy from before the decision, the same event is given again, and the
/// decision changes.
@Suite struct ExplainTests {
    @Test("Change the facts that explain names, and the decision changes", arguments: UInt64(1)...4)
    func changes(_ seed: UInt64) throws {
        var run = try ExplainedRun(seed: seed)
        for _ in 0..<120 { run.step() }
        for wrong in run.untrue.prefix(5) { Issue.record("seed \(seed): \(wrong)") }
        #expect(run.untrue.isEmpty, "\(run.untrue.count) of \(run.checked) explanations are not true")
        #expect(run.checked > 60, "only \(run.checked) explanations could be checked")
        #expect(run.kinds.count >= 5, "only facts of \(run.kinds.sorted()) were flipped")
        #expect(run.ofOthers > 5, "only \(run.ofOthers) changes of another app's facts could be checked")
        #expect(run.sizes[2, default: 0] > 10, "only \(run.sizes) pairs could be checked")
        #expect(run.contradictions.isEmpty)
    }
}

extension Presence {
    /// As an explanation writes it: in the background, in front, or a layout.
    init(written: String) {
        let layout = Layout.allCases.first { "\"\($0.rawValue)\"" == written }
        self = written == "\"background\"" ? .background : .foreground(layout ?? .fullscreen)
    }
}

extension SystemPressure {
    init?(written: String) {
        guard let level = Self.allCases.first(where: { "\"\($0.wireName)\"" == written }) else { return nil }
        self = level
    }
}

/// A random life in which every fact that a rule reads can be flipped alone.
private struct ExplainedRun {
    var stage: Stage
    var random: SeededRandom
    var checked = 0
    var untrue: [String] = []
    var kinds: Set<String> = []
    var ofOthers = 0
    var sizes: [Int: Int] = [:]
    var contradictions: [String] = []
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
        name = "Beside another"
        when = { foreground-apps = "several", layout = "split" }
        cause = "video-device-not-available-with-multiple-foreground-apps"
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
        stage.history = History()
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
        guard let explanation = stage.history?.explain(decision, of: stage.arbiter) else { return }
        for verdict in explanation.verdicts {
            for change in verdict.changedBy { check(change, of: verdict, before, event) }
        }
    }

    private mutating func check(
        _ change: [Explanation.Alteration], of verdict: Explanation.Verdict, _ before: Stage, _ event: Event
    ) {
        let keys = Set(change.map(\.key))
        if keys.isSuperset(of: ["presence", "layout"]), change.count == Set(change.map(\.of)).count + 1 {
            contradictions.append(change.words)
        }
        guard let (first, again) = brought(change, verdict.session, event) else { return }
        var other = before
        for flip in first { other.perform(.event(flip)) }
        // A session that may not configure now cannot change its audio: the fact stays as it was.
        if let audio = change.first(where: { $0.key == "uses-audio" }),
            other.arbiter.status(of: verdict.session)?.configuration[.usesAudio] != .flag(audio.to == "true")
        {
            return
        }
        _ = other.advance(to: other.now + .microseconds(1))
        if let again { other.perform(.event(again)) }
        _ = other.advance(to: stage.now)
        checked += 1
        kinds.formUnion(keys)
        sizes[change.count, default: 0] += 1
        ofOthers += change.contains { if case .app = $0.of { true } else { false } } ? 1 : 0
        let turned = other.arbiter.status(of: verdict.session)
        let has = turned.map { $0.state == .running || $0.state == .starting } ?? false
        let hasTurned =
            switch verdict.outcome {
            case .granted: !has
            case .interrupted, .refused, .stopped: has
            case .restricted(let access): turned?.access != access
            // No status shows a warning; `StandingTests` has one, with what would have kept it away.
            case .warned: turned?.isHolder ?? false
            }
        if !hasTurned {
            untrue.append(
                "\(event): session \(verdict.session.rawValue) \(verdict.outcome.description) because “\(verdict.rule)”, and \(change.words) changes nothing"
            )
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
        default: return .loginSession(login, LoginSessionFacts(active: random.chance(70), user: 1000))
        }
    }

    // MARK: Bringing facts about

    /// The events that bring the facts about before the event, and the event as it is then; nil where an ordinary event
    /// cannot, or the event itself says something else about them.
    private func brought(
        _ change: [Explanation.Alteration], _ session: SessionID, _ event: Event
    ) -> (first: [Event], again: Event?)? {
        var first: [Event] = []
        var again: Event? = event
        var moved: [AppID: (presence: Presence, focused: Bool)] = [:]
        for alteration in change {
            let owner: AppID? =
                switch alteration.of {
                case .session: app(of: session)
                case .app(let app): app
                case .machine: nil
                }
            switch (alteration.key, owner) {
            case ("presence", let app?), ("layout", let app?), ("focused", let app?):
                guard var place = moved[app] ?? place(of: app, event) else { return nil }
                if alteration.key == "focused" {
                    place.focused = alteration.to == "true"
                } else {
                    place.presence = Presence(written: alteration.to)
                    place.focused = place.focused && place.presence.isForeground
                }
                moved[app] = place
            case ("microphone", _):
                if case .microphone = event { return nil }
                first.append(.microphone(AppID("caller", user: 1000), taken: alteration.to == "\"taken\""))
            case ("pressure", _):
                guard let level = SystemPressure(written: alteration.to) else { return nil }
                if case .pressure = event { return nil }
                first.append(.pressure(level))
            case ("operator", let app?):
                if case .operatorChose = event { return nil }
                first.append(.operatorChose(alteration.to == "\"chosen\"" ? app : nil))
            case ("uses-audio", _):
                let uses = Configuration([.usesAudio: .flag(alteration.to == "true"), .whenBusy: .text("interrupt")])
                first.append(.configure(session, uses))
            default:
                guard alteration.of == .machine, let end = ended(alteration.key, session, event) else { return nil }
                first += end.first
                if end.isEvent { again = nil }
            }
        }
        // One that moves to the front with the focus takes it from the others, so it comes last.
        for (app, place) in moved.sorted(by: { ($0.value.focused ? 1 : 0, $0.key) < ($1.value.focused ? 1 : 0, $1.key) }
        ) {
            let placed = Event.placed(app, place.presence, focused: place.focused, by: .shell)
            if case .placed(app, _, _, _) = again {
                again = placed
                continue
            }
            first.append(placed)
            switch again {
            case .placed(let other, let presence, true, let source) where place.focused:
                again = .placed(other, presence, focused: false, by: source)
            default: break
            }
        }
        return (first, again)
    }

    private func place(of app: AppID, _ event: Event) -> (presence: Presence, focused: Bool)? {
        if case .placed(app, let presence, let focused, _) = event { return (presence, focused) }
        if case .placed(_, _, true, _) = event { return placements[app].map { ($0.presence, false) } }
        return placements[app]
    }

    /// The fact of the machine is over, or never came.
    private func ended(_ cause: String, _ session: SessionID, _ event: Event) -> (first: [Event], isEvent: Bool)? {
        let camera = session == SessionID(4) ? 1 : 0
        switch (Cause(wireName: cause), event) {
        case (.videoDeviceDisconnected, .cameraDisappeared), (.videoDeviceBlockedByPrivacy, .privacy),
            (.systemSleep, .sleep), (.loginSessionInactive, .loginSession):
            return ([], true)
        case (.videoDeviceDisconnected, _): return ([.cameraAppeared(cameras[camera], capabilities[camera])], false)
        case (.videoDeviceBlockedByPrivacy, _): return ([.privacy(cameras[camera], on: false)], false)
        case (.systemSleep, _): return ([.sleep(false)], false)
        case (.loginSessionInactive, _):
            return ([.loginSession(login, LoginSessionFacts(active: true, user: 1000))], false)
        default: return nil
        }
    }
}
