import ArbiterProtocol
import System

/// Whether a recorder core whose grant streams still captures: its capture thread answers. A value, without a clock.
///
///     quiet ──two steps──▶ asked ──answer──▶ quiet
///                            └──no answer for so many steps──▶ overdue
///
/// Time counts in steps of a timer that is armed anew at each of them. A step that comes late is one step all the same: time in
/// which this broker was stopped, or the machine asleep, does not count against a recorder core.
package struct Heartbeat: Hashable, Sendable {
    package enum Duty: Hashable, Sendable { case ask, wait, kill }

    package static let step: Int64 = 250_000_000
    /// From an answer to the next question. With `answerStepsMax` and a killed process's end, a session is notified within 3 s.
    package static let pause = 2 * step
    /// Steps that an answer may take: 2 s, ten frames in dim light (5 fps), so that a machine that is merely busy
    /// does not lose its camera.
    package static let answerStepsMax = 8
    /// While the device is started: as long as the answer to any call.
    package static let startStepsMax = Int(RecorderLife.answerTimeMax / step)

    private var steps: Int?
    private var deviceIsStarting = false

    package init() {}

    package var untilStep: Int64 { steps == nil ? Self.pause : Self.step }

    package mutating func takeStep() -> Duty {
        guard let before = steps else {
            steps = 0
            return .ask
        }
        steps = before + 1
        return before + 1 < (deviceIsStarting ? Self.startStepsMax : Self.answerStepsMax) ? .wait : .kill
    }

    package mutating func wasAnswered() { self = Heartbeat() }

    /// Its capture thread is about to wait for its device, until its next answer.
    package mutating func startsDevice() { deviceIsStarting = true }
}

/// Asks a camera's recorder core while a grant streams there, and kills one that hangs. Without a grant, nothing wakes.
final class HeartbeatObserver {
    private unowned let link: CameraLink
    private var recorder: RecorderLife { link.recorder }
    private var timer: Timer?
    private var beat: Heartbeat?
    private var isKilled = false
    /// Answers to questions of before the last beginning do not count.
    private var beginnings: UInt64 = 0
    /// Until a recorder core has answered that it does not know `Beat`.
    private var isKnown = true

    init(_ link: CameraLink) { self.link = link }

    func begin() {
        end()
        guard isKnown else { return }
        beat = Heartbeat()
        arm(after: Heartbeat.pause)
    }

    func end() {
        beginnings += 1
        beat = nil
        isKilled = false
        timer?.arm(at: nil)
    }

    func deviceStarts() { beat?.startsDevice() }

    /// The next one may know more.
    func recorderEnded() { isKnown = true }

    private func arm(after pause: Int64) {
        link.broker.loop.arm(&timer, at: EventLoop.now + recorder.patience * pause) { [unowned self] in takeStep() }
    }

    private func takeStep() {
        // The recorder core does not end though killed: its client is notified, and the arbiter waits for the end.
        if isKilled { return link.failed("Its recorder core hangs in the driver, and cannot be ended.") }
        guard let duty = beat?.takeStep() else { return }
        switch duty {
        case .wait: break
        case .ask: ask()
        case .kill:
            isKilled = true
            arm(after: RecorderLife.leaveTimeMax)
            link.log(
                .warning, "camera “\(link.camera.name)”: its recorder core hangs while it streams, and is killed")
            return link.kill()
        }
        if let beat { arm(after: beat.untilStep) }
    }

    private func ask() {
        // A recorder core that is leaving has its own deadline.
        guard recorder.isRunning else { return }
        let asked = beginnings
        recorder.call("Beat", []) { [self] result in
            guard asked == beginnings, !isKilled else { return }
            switch result {
            case .failure(let error) where error.kind == .unknownMethod:
                isKnown = false
                end()
            // The process's end follows.
            case .failure(let error) where error.kind == .disconnected: break
            case .success, .failure:
                beat?.wasAnswered()
                arm(after: Heartbeat.pause)
            }
        }
    }
}
