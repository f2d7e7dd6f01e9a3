import Arbiter
import Metrics
import Testing
import Vocabulary

@Suite struct MetricsTests {
    static let front = CameraID("front")
    static let alice: UInt32 = 1000
    static let bob: UInt32 = 1001

    /// Session 1 is alice's, session 2 bob's.
    static var sessions: BrokerMetrics.Sessions {
        .init(user: { $0.rawValue == 1 ? alice : $0.rawValue == 2 ? bob : nil }, camera: { _ in front })
    }

    static func at(_ milliseconds: Int64) -> Moment { Moment(nanoseconds: milliseconds * 1_000_000) }

    static func notice(_ session: UInt64, _ event: SessionEvent) -> Effect {
        .notify(ClientID(session), SessionID(session), sequence: 1, event)
    }

    /// Alice runs; bob takes the camera from her, and has his first frame 40 ms after the cut.
    static func handover() -> BrokerMetrics {
        var metrics = BrokerMetrics()
        metrics.note(.startRunning(SessionID(1)), [], at: at(0), asker: alice, sessions: sessions)
        metrics.note(
            .recorderStreaming(front, GrantID(1), inForce: Configuration()),
            [notice(1, .didStartRunning(grant: GrantID(1)))],
            at: at(200), asker: nil, sessions: sessions)
        metrics.note(
            .startRunning(SessionID(2)),
            [
                .cut(front, GrantID(1), why: .interrupted, next: SessionID(2)),
                notice(
                    1,
                    .wasInterrupted(
                        id: 1, causes: CauseSet([.videoDeviceInUseByAnotherClient]), interrupter: .anotherUsersApp,
                        cutting: nil, rule: "newcomer")),
            ], at: at(1000), asker: bob, sessions: sessions)
        metrics.note(
            .recorderCut(front, GrantID(1)), [.open(front, GrantID(2), SessionID(2), Configuration())], at: at(1010),
            asker: nil, sessions: sessions)
        metrics.note(
            .recorderStreaming(front, GrantID(2), inForce: Configuration()),
            [notice(2, .didStartRunning(grant: GrantID(2)))],
            at: at(1040), asker: nil, sessions: sessions)
        return metrics
    }

    @Test func aHandoverIsCountedFromTheCutToTheFirstFrameOfTheNext() {
        let metrics = Self.handover()
        #expect(metrics.total.handovers.count == 1)
        #expect(abs(metrics.total.handovers.sum - 0.04) < 1e-9)
        #expect(metrics.counts(of: Self.bob).handovers.count == 1)
        #expect(metrics.counts(of: Self.alice).handovers.count == 0)
    }

    @Test func aWaitIsCountedFromTheStartRequestToTheFirstFrame() {
        let metrics = Self.handover()
        #expect(abs(metrics.counts(of: Self.alice).waits.sum - 0.2) < 1e-9)
        #expect(abs(metrics.counts(of: Self.bob).waits.sum - 0.04) < 1e-9)
        #expect(metrics.total.grants["front"] == 2)
    }

    @Test func aCameraThatNobodyFollowsOnWasNotHandedOver() {
        var metrics = BrokerMetrics()
        metrics.note(
            .stopRunning(SessionID(1)), [.cut(Self.front, GrantID(1), why: .stopped, next: nil)], at: Self.at(0),
            asker: Self.alice,
            sessions: Self.sessions)
        metrics.note(.recorderCut(Self.front, GrantID(1)), [], at: Self.at(5), asker: nil, sessions: Self.sessions)
        metrics.note(.startRunning(SessionID(2)), [], at: Self.at(60_000), asker: Self.bob, sessions: Self.sessions)
        metrics.note(
            .recorderStreaming(Self.front, GrantID(2), inForce: Configuration()),
            [Self.notice(2, .didStartRunning(grant: GrantID(2)))], at: Self.at(60_100), asker: nil,
            sessions: Self.sessions)
        #expect(metrics.total.handovers.count == 0)
        #expect(metrics.total.waits.count == 1)
    }

    @Test func aStartThatIsRefusedBeginsNoWait() {
        var metrics = BrokerMetrics()
        let refusal = Refusal(.accessDenied, "No.", rule: "no right")
        metrics.note(
            .startRunning(SessionID(1)), [.refused(refusal)], at: Self.at(0), asker: Self.alice, sessions: Self.sessions
        )
        metrics.note(
            .recorderStreaming(Self.front, GrantID(1), inForce: Configuration()),
            [Self.notice(1, .didStartRunning(grant: GrantID(1)))], at: Self.at(500), asker: nil, sessions: Self.sessions
        )
        #expect(metrics.counts(of: Self.alice).refusals["no right"] == 1)
        #expect(metrics.total.waits.count == 0)
    }

    @Test func aUserIsToldHisOwnCountsAndNothingOfTheMachine() {
        var metrics = Self.handover()
        metrics.note(.recorderGone(Self.front), [], at: Self.at(2000), asker: nil, sessions: Self.sessions)
        let text = metrics.text(of: Self.alice)
        #expect(text.contains("camarb_grants_total{camera=\"front\"} 1\n"))
        #expect(text.contains("camarb_interruptions_total{cause=\"video-device-in-use-by-another-client\"} 1\n"))
        #expect(!text.contains("camarb_recorder_resets"))
        #expect(!text.contains("camarb_clients"))
        #expect(metrics.recorderResets["front"] == 1)
        #expect(metrics.text(of: 4711).contains("camarb_wait_seconds_count 0\n"))
    }

    @Test func everyEndOfARecordingIsThereBeforeTheFirstSoThatAnAlertSeesTheFirst() {
        var metrics = BrokerMetrics()
        let before = RecordingEnd.allCases.map { "camarb_recordings_total{why=\"\($0.rawValue)\"} 0" }
        func lines() -> [String] {
            metrics.text(of: Self.alice).split(separator: "\n").map(String.init).filter {
                $0.hasPrefix("camarb_recordings_total")
            }
        }
        #expect(lines() == before.sorted())
        metrics.note(
            .recorderGone(Self.front),
            [
                Self.notice(
                    1,
                    .recordingFinished(
                        RecordingFinished(
                            recording: RecordingID(1), why: .diskFull, frames: 3, duration: .milliseconds(100),
                            bytes: 9,
                            nextChance: .now)))
            ], at: Self.at(0), asker: nil, sessions: Self.sessions)
        #expect(lines().count == before.count)
        #expect(Set(lines()).subtracting(before) == ["camarb_recordings_total{why=\"disk-full\"} 1"])
    }

    @Test func usersBeyondTheBoundAreInTheSumAlone() {
        var metrics = BrokerMetrics()
        for user in 0..<UInt32(BrokerMetrics.usersMax + 10) {
            metrics.note(
                .recorderStreaming(Self.front, GrantID(1), inForce: Configuration()),
                [Self.notice(1, .didStartRunning(grant: GrantID(1)))], at: Self.at(0), asker: nil,
                sessions: .init(user: { _ in user }, camera: { _ in Self.front }))
        }
        #expect(metrics.total.grants["front"] == UInt64(BrokerMetrics.usersMax + 10))
        #expect(metrics.counts(of: UInt32(BrokerMetrics.usersMax + 5)) == Counts())
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

    @Test func theOlderFormatNamesCountersWithTheirSuffixAndNeedsNoEnd() {
        var metrics = OpenMetrics()
        metrics.family("camarb", .info, "Version.")
        metrics.sample("camarb_info", 1 as UInt64, [("version", "1")])
        metrics.counter("camarb_refusals", by: "rule", Tally(), "Refused.")
        metrics.histogram("camarb_wait_seconds", Histogram([1]), "Waits.")
        #expect(
            OpenMetrics.older(metrics.text) == """
                # TYPE camarb_info gauge
                # HELP camarb_info Version.
                camarb_info{version="1"} 1
                # TYPE camarb_refusals_total counter
                # HELP camarb_refusals_total Refused.
                # TYPE camarb_wait_seconds histogram
                # HELP camarb_wait_seconds Waits.
                camarb_wait_seconds_bucket{le="1.0"} 0
                camarb_wait_seconds_bucket{le="+Inf"} 0
                camarb_wait_seconds_sum 0.0
                camarb_wait_seconds_count 0

                """)
    }
}
