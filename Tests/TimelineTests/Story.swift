import ArbiterProtocol
import Workbench

extension TerminalStyle {
    static let plain = TerminalStyle(hasColour: false)
}

func withoutEscapes(_ text: String) -> String { text.replacing(/\u{1b}[^m]*m/, with: "") }

/// Apps of which each is interrupted by another cause.
func eachCause() -> Timeline {
    var story = LiveStory()
    for (index, cause) in Cause.allCases.enumerated() { story.interrupt("app\(index)", cause, 0) }
    return story.timeline(until: 1000)
}

/// Photos records, a call takes the camera and hangs up; a second app in front limits photos to preview.
func handover() -> LiveStory {
    var story = LiveStory()
    let inUse = CauseSet([.videoDeviceInUseByAnotherClient])
    let several = CauseSet([.videoDeviceNotAvailableWithMultipleForegroundApps])
    story.fact(.note("place photos fullscreen focused"), 0)
    story.fact(.appeared(lane: "photos"), 0)
    story.runs("photos", 100)
    story.fact(.holder(camera: "front", "photos"), 100)
    story.event("photos", .recordingStarted(1), 500)
    story.event("photos", .photoCaptured(PhotoCaptured(photo: 1, width: 640, height: 480, bytes: 5000)), 900)
    story.fact(.appeared(lane: "call"), 1500)
    story.event(
        "photos",
        .willBeInterrupted(
            InterruptionWarning(
                id: 1, cause: .videoDeviceInUseByAnotherClient, deadline: Moment(nanoseconds: 12_500_000_000),
                rule: "Calls")),
        1500)
    story.event(
        "photos",
        .wasInterrupted(Interruption(id: 1, causes: inUse, interrupter: .app("call"), recording: 1, rule: "Calls")),
        2000)
    story.event("photos", .didStopRunning, 2000)
    story.fact(.holder(camera: "front", "call"), 2050)
    story.runs("call", 2100, grant: 2)
    story.event(
        "photos",
        .recordingFinished(
            RecordingFinished(
                recording: 1, why: .interrupted, frames: 45, duration: .milliseconds(1500), bytes: 90_000,
                nextChance: .whenInterruptionEnds)), 2150)
    story.event("call", .didStopRunning, 4000)
    story.fact(.left(lane: "call"), 4000)
    story.event(
        "photos", .interruptionEnded(InterruptionEnd(id: 1, causes: inUse, duration: .seconds(2), willResume: true)),
        4000)
    story.runs("photos", 4200, grant: 3)
    story.fact(.holder(camera: "front", "photos"), 4200)
    story.fact(.note("place notes slide-over"), 5000)
    story.event("photos", .accessChanged(AccessChange([.preview, .photo], causes: several, rule: "Two apps")), 5000)
    return story
}

struct LiveStory {
    var builder = TimelineBuilder()
    var lines: [String] = []
    var live = LiveTimeline(width: 120, style: .plain)

    /// The story begins 10 s after the clock's origin: a drawing must not depend on it.
    private func moment(_ milliseconds: Int64) -> Moment {
        Moment(nanoseconds: 10_000_000_000 + milliseconds * 1_000_000)
    }
    mutating func event(_ lane: String, _ event: SessionEvent, _ milliseconds: Int64) {
        builder.note(event, lane: lane, at: moment(milliseconds))
        lines += live.note(event, lane: lane, at: moment(milliseconds))
    }
    mutating func runs(_ lane: String, _ milliseconds: Int64 = 0, grant: UInt64 = 1) {
        event(lane, .didStartRunning(GrantID(grant)), milliseconds)
    }
    mutating func interrupt(
        _ lane: String, _ cause: Cause, _ milliseconds: Int64, id: InterruptionID = 1,
        by interrupter: Interrupter? = nil
    ) {
        let causes = CauseSet([cause])
        event(
            lane, .wasInterrupted(Interruption(id: id, causes: causes, interrupter: interrupter, rule: "")),
            milliseconds)
    }
    mutating func fact(_ fact: TimelineFact, _ milliseconds: Int64) {
        builder.note(fact, at: moment(milliseconds))
        lines += live.note(fact, at: moment(milliseconds))
    }
    func timeline(until milliseconds: Int64) -> Timeline { builder.timeline(until: moment(milliseconds)) }
}
