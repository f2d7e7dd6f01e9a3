import Arbiter
import ArbiterProtocol
import Broker
import Testing

/// The fate of one camera, and of sessions, of which 1 is alice's and 2 bob's.
private struct Noted {
    static let front = CameraID("front")
    static let alice: UInt32 = 1000
    static let bob: UInt32 = 1001
    var metrics = BrokerMetrics()

    mutating func note(
        _ event: Event, _ effects: [Effect] = [], at milliseconds: Int64, by asker: UInt32? = nil,
        telling session: UInt64 = 1, _ notices: SessionEvent...
    ) {
        let told = notices.map { Effect.notify(ClientID(session), SessionID(session), sequence: 1, $0) }
        metrics.note(
            event, effects + told, at: Moment(nanoseconds: milliseconds * 1_000_000), asker: asker,
            sessions: (
                user: { [1: Self.alice, 2: Self.bob][$0.rawValue] ?? UInt32($0.rawValue) }, camera: { _ in Self.front }
            )
        )
    }

    mutating func firstFrame(of grant: UInt64, at milliseconds: Int64, _ session: UInt64) {
        note(
            .recorderStreaming(Self.front, GrantID(grant), inForce: Configuration()), at: milliseconds,
            telling: session, .didStartRunning(GrantID(grant)))
    }

    func lines(of user: UInt32, _ family: String) -> [String] {
        metrics.text(of: user).split(separator: "\n").map(String.init).filter { $0.hasPrefix(family) }
    }
}

@Suite struct MetricsTests {
    @Test(
        "A handover counts from the cut to the next first frame, a wait from the request; a user hears of its own only")
    func handover() {
        // Alice runs; bob takes the camera from her, and has his first frame 40 ms after the cut.
        var noted = Noted()
        noted.note(.startRunning(SessionID(1)), at: 0, by: Noted.alice)
        noted.firstFrame(of: 1, at: 200, 1)
        noted.note(
            .startRunning(SessionID(2)), [.cut(Noted.front, GrantID(1), why: .interrupted, next: SessionID(2))],
            at: 1000, by: Noted.bob, telling: 1,
            .wasInterrupted(
                Interruption(
                    id: 1, causes: CauseSet([.videoDeviceInUseByAnotherClient]), interrupter: .anotherUsersApp,
                    rule: "newcomer")))
        noted.note(
            .recorderCut(Noted.front, GrantID(1)), [.open(Noted.front, GrantID(2), SessionID(2), Configuration())],
            at: 1010)
        noted.firstFrame(of: 2, at: 1040, 2)
        let (total, alice) = (noted.metrics.total, noted.metrics.counts(of: Noted.alice))
        let bob = noted.metrics.counts(of: Noted.bob)
        #expect(total.handovers.count == 1 && bob.handovers.count == 1 && alice.handovers.count == 0)
        #expect(abs(total.handovers.sum - 0.04) < 1e-9 && total.grants["front"] == 2)
        #expect(abs(alice.waits.sum - 0.2) < 1e-9 && abs(bob.waits.sum - 0.04) < 1e-9)

        noted.note(.recorderGone(Noted.front), at: 2000)
        #expect(noted.metrics.recorderResets["front"] == 1)
        #expect(noted.lines(of: Noted.alice, "camarb_grants_total") == ["camarb_grants_total{camera=\"front\"} 1"])
    }

    @Test func aCameraThatNobodyFollowsOnWasNotHandedOver() {
        var noted = Noted()
        noted.note(
            .stopRunning(SessionID(1)), [.cut(Noted.front, GrantID(1), why: .stopped, next: nil)], at: 0,
            by: Noted.alice)
        noted.note(.recorderCut(Noted.front, GrantID(1)), at: 5)
        noted.note(.startRunning(SessionID(2)), at: 60_000, by: Noted.bob)
        noted.firstFrame(of: 2, at: 60_100, 2)
        #expect(noted.metrics.total.handovers.count == 0)
        #expect(noted.metrics.total.waits.count == 1)
    }

    @Test func aStartThatIsRefusedBeginsNoWait() {
        var noted = Noted()
        let refusal = Refusal(.accessDenied, "No.", rule: "no right")
        noted.note(.startRunning(SessionID(1)), [.refused(refusal)], at: 0, by: Noted.alice)
        noted.firstFrame(of: 1, at: 500, 1)
        #expect(noted.metrics.counts(of: Noted.alice).refusals["no right"] == 1)
        #expect(noted.metrics.total.waits.count == 0)
    }

    @Test func everyEndOfARecordingIsThereBeforeTheFirstSoThatAnAlertSeesTheFirst() {
        var noted = Noted()
        let before = RecordingEnd.allCases.map { "camarb_recordings_total{why=\"\($0.rawValue)\"} 0" }
        #expect(noted.lines(of: Noted.alice, "camarb_recordings_total") == before.sorted())
        let finished = RecordingFinished(
            recording: RecordingID(1), why: .diskFull, frames: 3, duration: .milliseconds(100), bytes: 9,
            nextChance: .now)
        noted.note(.recorderGone(Noted.front), at: 0, telling: 1, .recordingFinished(finished))
        let lines = noted.lines(of: Noted.alice, "camarb_recordings_total")
        #expect(lines.count == before.count)
        #expect(Set(lines).subtracting(before) == ["camarb_recordings_total{why=\"disk-full\"} 1"])
    }

    @Test func usersBeyondTheBoundAreInTheSumAlone() {
        var noted = Noted()
        // A session of each.
        let users = 10...UInt64(BrokerMetrics.usersMax + 19)
        for user in users { noted.firstFrame(of: 1, at: 0, user) }
        #expect(noted.metrics.total.grants["front"] == UInt64(BrokerMetrics.usersMax + 10))
        #expect(noted.metrics.counts(of: UInt32(users.upperBound)) == Counts())
    }

    @Test func namesBeyondTheBoundShareACount() {
        var tally = Tally()
        for name in 0..<(Tally.namesMax + 5) { tally.note("rule \(name)") }
        tally.note("rule 0")
        #expect(tally.sorted.count == Tally.namesMax + 1)
        #expect(tally[Tally.others] == 5)
        #expect(tally["rule 0"] == 2)
    }

    @Test func aHistogramCountsEachDurationUnderEveryBoundThatItDoesNotExceed() {
        var histogram = Histogram([0.001, 1])
        histogram.note(.milliseconds(1))
        histogram.note(.milliseconds(500))
        histogram.note(.seconds(3))
        histogram.note(.seconds(-1))
        #expect(histogram.cumulative.map(\.count) == [2, 3])
        #expect(histogram.count == 4)
        #expect(abs(histogram.sum - 3.501) < 1e-9)
    }
}

@Suite struct OpenMetricsTests {
    @Test func labelsAreEscapedSoThatARulesNameCannotEndItsLine() {
        var metrics = OpenMetrics()
        var tally = Tally()
        tally.note("a \"rule\"\\\nof two lines")
        metrics.counter("camarb_refusals", by: "rule", tally, "Refused.")
        #expect(
            metrics.text == """
                # TYPE camarb_refusals counter
                # HELP camarb_refusals Refused.
                camarb_refusals_total{rule="a \\"rule\\"\\\\\\nof two lines"} 1
                # EOF

                """)
    }
}
