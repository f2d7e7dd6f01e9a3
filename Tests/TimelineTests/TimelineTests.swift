import ArbiterProtocol
import Testing
import Workbench

@Suite("The timeline")
struct TimelineTests {
    @Test("A handover reads in a terminal: which app ran, which was interrupted and why, what was recorded")
    func terminal() {
        let lines = handover().timeline(until: 6000).terminalLines(width: 100, style: .plain)
        #expect(
            lines.joined(separator: "\n") == """
                             0s            1s             2s            3s             4s            5s
                photos       ·━━━━━━━━━━━━◆━━━━━━━┄┄┄┄┄┄┄┄D░░ device-in-use by call ░░░╌╌━━━━━━━━━━━━M┅┅┅┅┅┅┅┅┅┅┅┅┅┅
                  recording         ●▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬■
                call                              ·········━━━━━━━━━━━━━━━━━━━━━━━━━━━━
                front         photos ─────────────────────call ──────────────────────────photos ────────────────────

                  ━ running  ╌ starting  · stopped  M┅ restricted: multiple-foreground-apps
                  D░ interrupted: device-in-use  ─ holds the camera  ┄ told to yield  ●▬■ recording  ◆ photo

                interrupted
                  photos #1  2s to 4s  device-in-use by call

                restricted
                  photos  5s on  preview+photo only: multiple-foreground-apps

                told to yield
                  photos  1.5s  device-in-use, due 2.5s, over at 2s

                recorded
                  photos 1  500ms to 2s  interrupted after 1.5s, 45 frames

                held
                  front  100ms to 2.05s  by photos
                  front  2.05s to 4.2s  by call
                  front  4.2s on  by photos

                meanwhile
                  0s  place photos fullscreen focused
                  5s  place notes slide-over
                """)
    }

    @Test("Time runs down the live timeline, a column for each lane")
    func live() {
        #expect(
            handover().lines.joined(separator: "\n") == """
                  0.00s  place photos fullscreen focused
                time     photos
                  0.00s  · stopped               photos appeared
                  0.10s  ━ running               photos didStartRunning
                  0.10s  ━                       front held by photos
                  0.50s  ━● recording            photos recordingStarted 1
                  0.90s  ━● recording            photos photoCaptured 1 640x480, 5000 bytes
                time     photos                  call
                  1.50s  ━●                      · stopped               call appeared
                  1.50s  ━● recording            ·                       photos willBeInterrupted #1 device-in-use because “Calls”
                  2.00s  ░ device-in-use by call ·                       photos wasInterrupted #1 device-in-use by call, cutting record…
                  2.00s  ░ device-in-use by call ·                       photos didStopRunning
                  2.05s  ░                       ·                       front held by call
                  2.10s  ░                       ━ running               call didStartRunning
                  2.15s  ░ device-in-use by call ━                       photos recordingFinished 1 interrupted after 1.5s, 45 frames, …
                  4.00s  ░                       · stopped               call didStopRunning
                  4.00s  ░                                               call left
                  4.00s  ╌ starting                                      photos interruptionEnded #1 after 2s, resuming
                  4.20s  ━ running                                       photos didStartRunning
                  4.20s  ━                                               front held by photos
                  5.00s  ━                                               place notes slide-over
                  5.00s  ┅ preview+photo only: …                         photos accessChanged preview, photo for multiple-foreground-ap…
                """)
    }

    @Test("No line of the live picture is wider than the terminal", arguments: [20, 21, 33, 47, 80, 200])
    func widths(width: Int) {
        var story = handover()
        story.live = LiveTimeline(width: width, style: .plain)
        story.lines = []
        for number in 0..<40 { story.fact(.appeared(lane: "app\(number)"), 5600) }
        #expect(story.lines.allSatisfy { $0.count <= width })
    }

    @Test("A name cannot move the cursor or write markup")
    func hostileNames() {
        var story = LiveStory()
        story.fact(.appeared(lane: "\u{1b}[2J<script>&\"\u{202e}"), 0)
        story.event("\u{1b}[2J<script>&\"\u{202e}", .didStartRunning(GrantID(1)), 10)
        story.event("x", .runtimeError(code: "\u{7}", message: "\u{9b}31m"), 20)
        let timeline = story.timeline(until: 100)
        let text = (timeline.terminalLines(width: 80, style: .plain) + story.lines).joined()
        #expect(!text.unicodeScalars.contains { $0.value < 32 || (127..<160).contains($0.value) || $0 == "\u{202e}" })
        let svg = timeline.svg()
        #expect(svg.contains("?[2J&lt;script&gt;&amp;&quot;?"))
        #expect(!svg.contains("<script"))
    }

    @Test("An event with an earlier moment counts as the latest, so that no lane runs backwards")
    func earlierMoments() throws {
        var builder = TimelineBuilder()
        func at(_ seconds: Int64) -> Moment { Moment(nanoseconds: seconds * 1_000_000_000) }
        builder.note(.appeared(lane: "photos"), at: at(1))
        builder.note(.didStartRunning(GrantID(1)), lane: "photos", at: at(3))
        builder.note(.didStopRunning, lane: "photos", at: at(2))
        builder.note(.didStartRunning(GrantID(2)), lane: "photos", at: at(4))
        let spans = try #require(builder.timeline(until: at(5)).lanes.first).spans
        #expect(spans.map(\.state) == [.stopped, .stopped, .running])
        #expect(spans.map(\.begin) == [at(1), at(3), at(4)] && spans.map(\.end) == [at(3), at(4), at(5)])
    }

    @Test("An interruption whose causes change is one row, with its causes in order")
    func changingCauses() {
        var story = LiveStory()
        story.runs("photos")
        story.interrupt("photos", .systemSleep, 1000)
        story.event(
            "photos",
            .interruptionChanged(Interruption(id: 1, causes: CauseSet([.videoDeviceBlockedByPrivacy]), rule: "")),
            2000)
        story.event(
            "photos",
            .interruptionEnded(
                InterruptionEnd(id: 1, causes: CauseSet([.systemSleep]), duration: .seconds(2), willResume: true)),
            3000)
        let lines = story.timeline(until: 4000).terminalLines(width: 80, style: .plain)
        #expect(lines.last == "  photos #1  1s to 3s  system-sleep, then privacy")
    }

    @Test("A recording cut by lost access ends there, though the session runs on")
    func lostAccess() throws {
        var story = LiveStory()
        story.runs("photos")
        story.event("photos", .recordingStarted(4), 0)
        story.event("photos", .accessChanged(AccessChange([.preview], causes: CauseSet(), rule: "r")), 1000)
        story.event("photos", .accessChanged(AccessChange(.all, causes: CauseSet(), rule: "")), 2000)
        let timeline = story.timeline(until: 3000)
        let lane = try #require(timeline.lanes.first)
        let recording = try #require(lane.recordings.first)
        #expect(recording.end - timeline.begin == .seconds(1))
        #expect(lane.spans.map(\.state) == [.running, .restricted([.preview], CauseSet()), .running])
    }

    @Test("Whoever starts anew may everything until it is told less")
    func startedAnew() throws {
        var story = LiveStory()
        story.runs("photos")
        story.event("photos", .accessChanged(AccessChange([.preview], causes: CauseSet(), rule: "r")), 1000)
        story.runs("photos", 2000, grant: 2)
        let lane = try #require(story.timeline(until: 3000).lanes.first)
        #expect(lane.spans.map(\.state) == [.running, .restricted([.preview], CauseSet()), .running])
    }

    @Test("A withdrawn grace leaves the session running, and shows")
    func withdrawnGrace() throws {
        var story = LiveStory()
        story.runs("booth")
        story.event(
            "booth",
            .willBeInterrupted(
                InterruptionWarning(
                    id: 1, cause: .videoDeviceInUseByAnotherClient, deadline: Moment(nanoseconds: 15_000_000_000),
                    rule: "")),
            1000)
        story.event("booth", .interruptionWithdrawn(1), 2000)
        let lane = try #require(story.timeline(until: 3000).lanes.first)
        #expect(lane.warnings.map(\.isWithdrawn) == [true])
        #expect(lane.spans.map(\.state) == [.running])
    }

    @Test("An empty timeline is drawn, and so is one without length")
    func emptyTimelines() throws {
        #expect(TimelineBuilder().timeline().terminalLines(width: 80, style: .plain).count == 1)
        var builder = TimelineBuilder()
        builder.note(.appeared(lane: "photos"), at: .zero)
        let timeline = builder.timeline()
        #expect(timeline.duration == .zero && timeline.terminalLines(width: 80, style: .plain).count == 2)
        _ = try SVGReader(timeline.svg())
    }
}
