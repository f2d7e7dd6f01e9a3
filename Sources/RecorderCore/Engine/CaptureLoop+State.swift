import ArbiterProtocol
import CaptureModel

/// What is in force, and what the camera says of itself while it runs.
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
