import Arbiter
import ArbiterProtocol
public import Scenario

/// A long random life of a larger world, the same for the same seed: clients come and go, the machine sleeps,
/// recorders crash and dawdle, policies are reloaded. Now and then everything calms down, and then every
/// session that may run has to.
public struct Simulation: Sendable {
    public let seed: UInt64
    public private(set) var stage: Stage
    public private(set) var report = Report()
    var random: SeededRandom
    var cast = SimulatedCast()
    /// Keeps what happened in `steps`, for going through it again.
    public var keepsSteps = false
    public private(set) var steps: [Stage.Step] = []
    private var tail: [String] = []
    private var writer = ScenarioWriter()
    private let policies: [Policy]

    public struct Report: Sendable {
        public var events = 0
        public var decisions = 0
        public var notices = 0
        public var quietPhases = 0
        /// Of everything that was said, in order: two runs of one seed agree.
        public var digest: UInt64 = 0xcbf2_9ce4_8422_2325
        /// Nil: no promise was broken.
        public var violation: Violation?
    }

    public struct Violation: Sendable, CustomStringConvertible {
        public var seed: UInt64
        public var event: Int
        public var message: String
        /// What happened last, as scenario lines.
        public var tail: [String]

        public var description: String {
            "seed \(seed), event \(event): \(message)\n" + tail.joined(separator: "\n")
                + "\nagain: explore simulate --seed \(seed) --events \(event + 1)"
        }
    }

    /// - Throws: that a policy of the simulation is not valid, which would be our mistake.
    public init(seed: UInt64) throws(ScenarioError) {
        self.seed = seed
        random = SeededRandom(seed: seed)
        policies = try SimulatedCast.policies()
        stage = Stage(Arbiter(policy: random.pick(policies)))
        for camera in SimulatedCast.cameras {
            stage.perform(.event(.cameraAppeared(camera, SimulatedCast.capabilities(camera))))
        }
        for action in cast.begin(&random) { stage.perform(action) }
    }

    /// Performs so many random events, unless a promise is broken before.
    public mutating func run(events: Int) {
        // Often enough to reach many quiet states, and far enough apart that troubles pile up in between.
        let calmEvery = 400
        while report.events < events, report.violation == nil {
            report.events += 1
            if report.events % calmEvery == 0 {
                calmDown()
            } else {
                for action in cast.act(&random, policies) { stage.perform(action) }
                if random.chance(40) { _ = stage.advance(to: stage.now + .milliseconds(Int64(random.below(1500)))) }
                if random.chance(2) { _ = stage.advance(to: stage.now + .seconds(Int64(random.below(90)))) }
            }
            takeStock()
        }
    }

    private mutating func takeStock() {
        for step in stage.takeSteps() {
            if keepsSteps { steps.append(step) }
            let lines = writer.lines(step.event, at: step.moment, step.effects)
            report.decisions += 1
            for effect in step.effects {
                if case .notify = effect { report.notices += 1 }
                cast.note(effect)
            }
            for line in lines {
                for byte in line.utf8 { report.digest = (report.digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
            }
            tail += lines
        }
        // Enough to see how it came about.
        let tailMax = 60
        if tail.count > tailMax { tail.removeFirst(tail.count - tailMax) }
        if let violation = stage.violations.first { fail(violation.description) }
    }

    private mutating func fail(_ message: String) {
        guard report.violation == nil else { return }
        report.violation = Violation(seed: seed, event: report.events, message: message, tail: tail)
    }

    // MARK: Quiet

    /// The machine is awake, everything is plugged in and works, and nothing is changed: a session that may run has to
    /// run.
    private mutating func calmDown() {
        report.quietPhases += 1
        for action in cast.calm(stage.arbiter.status()) { stage.perform(action) }
        // Longer than every grace, min-hold, cool-down, backoff and freeze of the policies in use; leases would end it again.
        _ = stage.advance(to: stage.now + .seconds(70))
        takeStock()
        if let message = stage.unserved(conflicts: cast.conflicts) { fail(message) }
    }
}

extension Stage {
    /// After a quiet time: a session that could run and does not, as a sentence.
    func unserved(conflicts: (CameraID, CameraID) -> Bool) -> String? {
        let status = arbiter.status()
        let running = Set(status.sessions.filter { $0.state == .running }.map(\.camera))
        for session in status.sessions where session.state == .starting {
            return "session \(session.id.rawValue) starts on \(session.camera.name) for ever"
        }
        for session in status.sessions {
            guard session.state == .interrupted, session.causes == CauseSet([.videoDeviceInUseByAnotherClient]) else {
                continue
            }
            let isTaken = running.contains { $0 == session.camera || conflicts($0, session.camera) }
            if !isTaken {
                return "session \(session.id.rawValue) waits for \(session.camera.name), which nobody has, because "
                    + "“\(session.rule ?? "?")” under the policy “\(status.policy)”"
            }
        }
        for session in status.sessions where session.state == .interrupted {
            // A policy may limit a session for ever, and what ends only with a grant then stands as well.
            let byPolicy =
                session.causes.contains(.videoDeviceNotAvailableInBackground)
                || session.causes.contains(.videoDeviceNotAvailableWithMultipleForegroundApps)
                || session.causes.contains(.videoDeviceInUseByAnotherClient)
            for cause in session.causes.ordered {
                switch cause {
                case .videoDeviceDisconnected, .videoDeviceBlockedByPrivacy, .systemSleep, .loginSessionInactive,
                    .videoDeviceNotAvailableDueToSystemPressure, .audioDeviceInUseByAnotherClient,
                    .sensitiveContentMitigationActivated:
                    return "session \(session.id.rawValue) is interrupted by \(cause.shortName), which is over"
                case .recorderReset, .deviceError, .brokerRestarted:
                    if !byPolicy {
                        return "session \(session.id.rawValue) is interrupted by \(cause.shortName), which is over"
                    }
                case .videoDeviceInUseByAnotherClient, .videoDeviceNotAvailableInBackground,
                    .videoDeviceNotAvailableWithMultipleForegroundApps, .waitingForPermission:
                    continue
                }
            }
        }
        return nil
    }
}
