import Arbiter
import ArbiterProtocol
import Broker
import BusTesting
import Testing

@Suite("Facts with several speakers")
struct FactBoardTests {
    private let back = CameraID("back")
    private let photos = AppID("photos", user: 1000)
    private let shell = FactBoard.Reporter.client(ClientID(1))
    private let agent = FactBoard.Reporter.client(ClientID(2))

    @Test("A shell's privacy switch outlasts the camera's own, and the camera's own the shell's")
    func privacy() {
        for (first, second) in [
            (FactBoard.Reporter.trusted, .camera(back)), (.camera(back), FactBoard.Reporter.trusted),
        ] {
            var board = FactBoard()
            #expect(board.report(privacy: back, on: true, by: first) == .privacy(back, on: true))
            #expect(board.report(privacy: back, on: true, by: second) == nil)
            #expect(board.report(privacy: back, on: false, by: second) == nil)
            #expect(board.isPrivate(back))
            #expect(board.report(privacy: back, on: false, by: first) == .privacy(back, on: false))
        }
    }

    @Test("The switch for all cameras and one camera's are two switches")
    func allCameras() {
        var board = FactBoard()
        #expect(board.report(privacy: nil, on: true, by: .trusted) == .privacy(nil, on: true))
        #expect(board.report(privacy: back, on: false, by: .camera(back)) == nil)
        #expect(board.isPrivate(nil) && !board.isPrivate(back))
    }

    @Test("The harder word on pressure counts, whoever says it last")
    func pressure() {
        var board = FactBoard()
        #expect(board.report(pressure: .serious, by: .gauge) == .pressure(.serious))
        #expect(board.report(pressure: .fair, by: .trusted) == nil)
        #expect(board.pressure(by: .trusted) == .fair)
        #expect(board.report(pressure: nil, by: .gauge) == .pressure(.fair))
        #expect(board.report(pressure: .critical, by: .trusted) == .pressure(.critical))
        #expect(board.report(pressure: nil, by: .trusted) == .pressure(.nominal))
        #expect(board.report(pressure: .nominal, by: .gauge) == nil)
    }

    @Test("Of a login session the narrower word counts, and the seat is logind's")
    func logins() {
        var board = FactBoard()
        let two = LoginSessionID("2")
        let active = LoginSessionFacts(active: true, seat: SeatID("seat1"), user: 1000)
        #expect(board.report(login: two, active, by: .logind) == .loginSession(two, active))
        let locked = LoginSessionFacts(active: true, locked: true, user: LoginSessionFacts.userUnknown)
        var both = active
        both.isLocked = true
        #expect(board.report(login: two, locked, by: .trusted) == .loginSession(two, both))
        #expect(board.report(login: two, active, by: .logind) == nil)
        #expect(board.report(login: two, nil, by: .logind) == .loginSession(two, locked))
        #expect(board.report(login: two, nil, by: .trusted) == .loginSessionEnded(two))
    }

    @Test("Where two shells place an app the later word holds, and with its speaker's end the earlier one holds again")
    func placements() {
        var board = FactBoard()
        func report(_ presence: Presence, _ speaker: FactBoard.Reporter) -> Event {
            board.report(place: photos, .init(presence, focused: false), source: .shell, by: speaker)
        }
        let inFront = Event.placed(photos, .foreground(.fullscreen), focused: false, by: .shell)
        #expect(report(.foreground(.fullscreen), shell) == inFront)
        #expect(report(.background, agent) == .placed(photos, .background, focused: false, by: .shell))
        #expect(board.forget(agent) == [inFront])
        // The core keeps the last report for a moment.
        #expect(board.forget(shell) == [])
        _ = report(.foreground(.fullscreen), shell)
        _ = report(.background, agent)
        // It is not the last report.
        #expect(board.forget(shell) == [])
    }

    @Test("A source that forgets an app leaves the other source's word, and shells and agents are two sources")
    func unplaced() {
        var board = FactBoard()
        func report(_ placement: FactBoard.Placement?, _ source: PresenceSource, _ speaker: FactBoard.Reporter) -> Event
        {
            board.report(place: photos, placement, source: source, by: speaker)
        }
        _ = report(.init(.foreground(.fullscreen), focused: true), .shell, shell)
        _ = report(.init(.background, focused: false), .agent, agent)
        #expect(report(nil, .agent, agent) == .unplaced(photos, by: .agent))
        _ = report(.init(.background, focused: false), .shell, agent)
        #expect(report(nil, .shell, agent) == .placed(photos, .foreground(.fullscreen), focused: true, by: .shell))
    }

    @Test(
        "The events add up to what is said, tell of changes alone, and a speaker that is forgotten leaves nothing",
        arguments: 1...20 as ClosedRange<UInt64>)
    func addsUp(seed: UInt64) {
        var random = SeededNumbers(seed)
        var board = FactBoard()
        let speakers: [FactBoard.Reporter] = [shell, agent, .trusted, .camera(back), .logind, .gauge]
        var (isPrivate, isTaken, isAsleep, pressure) = (false, false, false, SystemPressure.nominal)
        var said: [FactBoard.Reporter: (privacy: Bool, taken: Bool, asleep: Bool, pressure: SystemPressure?)] = [:]
        func change<Fact: Equatable>(_ fact: inout Fact, _ new: Fact) {
            #expect(new != fact, "an event that changes nothing")
            fact = new
        }
        func hear(_ event: Event) {
            switch event {
            case .privacy(_, let on): change(&isPrivate, on)
            case .microphone(_, let taken): change(&isTaken, taken)
            case .sleep(let asleep): change(&isAsleep, asleep)
            case .pressure(let level): change(&pressure, level)
            default: Issue.record("\(event)")
            }
        }
        for _ in 0..<300 {
            let speaker = speakers[Int(random.next() % 6)]
            var own = said[speaker] ?? (false, false, false, nil)
            let flag = random.next() % 2 == 0
            let event: Event?
            switch random.next() % 5 {
            case 0:
                own.privacy = flag
                event = board.report(privacy: back, on: flag, by: speaker)
            case 1:
                own.taken = flag
                event = board.report(microphoneOf: photos, taken: flag, by: speaker)
            case 2:
                own.asleep = flag
                event = board.report(asleep: flag, by: speaker)
            case 3:
                own.pressure = flag ? nil : SystemPressure.allCases[Int(random.next() % 4)]
                event = board.report(pressure: own.pressure, by: speaker)
            default:
                own = (false, false, false, nil)
                event = nil
                for event in board.forget(speaker) { hear(event) }
            }
            if let event { hear(event) }
            said[speaker] = own
            #expect(isPrivate == said.values.contains(where: \.privacy))
            #expect(isTaken == said.values.contains(where: \.taken))
            #expect(isAsleep == said.values.contains(where: \.asleep))
            #expect(pressure == said.values.compactMap(\.pressure).max() ?? .nominal)
        }
    }
}
