package import ArbiterProtocol

extension CaptureLoop {
    /// What is in force, whole. What was asked for is on its way, where the camera is not there yet: that is told later.
    func inForce(_ open: OpenGrant) -> Configuration {
        var whole = open.settings.configuration
        guard let source else { return whole }
        whole.merge(source.controls)
        whole.merge(state(open, source).keeping { open.settings.controls[$0] == nil })
        return whole
    }

    /// Tells what is not as it was told last, when it is time.
    func tellState(_ open: inout OpenGrant, _ source: any CameraSource, at now: Int64) {
        let ended = source.takeEndedModes()
        if !ended.isEmpty {
            // Asked for again, it is to be done again; and what else is set must not begin it anew.
            var wanted = open.settings.wanted
            wanted.merge(ended)
            let check = ConfigurationCheck(capabilities: source.capabilities)
            if let settings = check.settings(wanted) { open.settings = settings }
            open.telling.note(ended)
        }
        // The answer to the opening says all of it.
        guard open.opening == nil, open.telling.isDue(at: now) else { return }
        open.telling.note(state(open, source))
        guard let changed = open.telling.take(at: now) else { return }
        emit(.cameraStateChanged(grant: open.id, changed))
    }

    private func state(_ open: OpenGrant, _ source: any CameraSource) -> Configuration {
        var state = source.state
        if open.pipelineRebuilds > 0 { state[.pipelineRebuilds] = .number(Double(open.pipelineRebuilds)) }
        return state
    }
}

/// When what a camera says of itself is told: only what is not as it was told last, at most ten times a second. What comes
/// sooner waits, the newest counts, and so the last state is always told.
package struct StateTelling: Hashable, Sendable {
    /// In nanoseconds.
    package static let pause: Int64 = 100_000_000

    private var told = Configuration()
    private var latest = Configuration()
    private var toldAt: Int64?

    package init() {}

    /// An answer has said what is in force, whole.
    package mutating func answered(_ inForce: Configuration) {
        told = inForce.keeping(\.isCameraState)
        latest = told
    }

    package mutating func note(_ state: Configuration) { latest.merge(state) }

    /// Whether anything may be told at this moment: until then what is so need not be known.
    package func isDue(at now: Int64) -> Bool { toldAt.map { now - $0 >= Self.pause } ?? true }

    /// What is to be told at this moment; nil: nothing, or not yet.
    package mutating func take(at now: Int64) -> Configuration? {
        guard isDue(at: now) else { return nil }
        let changed = latest.changes(since: told)
        guard !changed.isEmpty else { return nil }
        told = latest
        toldAt = now
        return changed
    }
}
