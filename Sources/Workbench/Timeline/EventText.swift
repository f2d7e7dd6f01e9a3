public import ArbiterProtocol

extension SessionEvent {
    /// The event in a line, in the words of scenarios and of the journal.
    public var line: String {
        switch self {
        case .willBeInterrupted(let told):
            "willBeInterrupted #\(told.id) \(told.cause.shortName)\(because(told.rule))\(saying(told.message))"
        case .interruptionWithdrawn(let id): "interruptionWithdrawn #\(id)"
        case .wasInterrupted(let told):
            "wasInterrupted #\(told.id) \(told.causes.words)\(by(told.interrupter))"
                + "\(told.recording.map { ", cutting recording \($0)" } ?? "")\(because(told.rule))\(saying(told.message))"
        case .interruptionChanged(let told):
            "interruptionChanged #\(told.id) \(told.causes.words)\(by(told.interrupter))\(because(told.rule))\(saying(told.message))"
        case .interruptionEnded(let told):
            "interruptionEnded #\(told.id) after \(told.duration.shortText)\(told.willResume ? ", resuming" : "")"
                + "\(told.recording.map { ", recording \($0) was cut" } ?? "")"
        case .didStartRunning: "didStartRunning"
        case .didStopRunning: "didStopRunning"
        case .accessChanged(let told):
            "accessChanged \(told.access.isEmpty ? "none" : told.access.names.joined(separator: ", "))"
                + "\(told.causes.isEmpty ? "" : " for \(told.causes.words)")\(by(told.controller))\(because(told.rule))\(saying(told.message))"
        case .sharersChanged(let sharers):
            "sharersChanged "
                + (sharers.isEmpty ? "nobody" : sharers.map(\.description.printable).joined(separator: ", "))
        case .sessionStopped(let told):
            "sessionStopped \(told.reason.rawValue)\(because(told.rule))\(saying(told.message))"
        case .recordingStarted(let id): "recordingStarted \(id)"
        case .recordingPaused(let id): "recordingPaused \(id)"
        case .recordingResumed(let id): "recordingResumed \(id)"
        case .recordingFinished(let end):
            "recordingFinished \(end.recording) \(end.why.rawValue) after \(end.duration?.shortText ?? "a time that is not known")"
                + "\(end.cause.map { ", for \($0.shortName)\(by(end.interrupter))" } ?? "")"
                + "\(known(end.frames, "frames"))\(known(end.bytes, "bytes"))"
                + amount(end.framesLeftOut, "frames left out")
        case .photoCaptured(let photo):
            photo.error.map { "photoCaptured \(photo.photo) failed: \($0.printable)" }
                ?? "photoCaptured \(photo.photo) \(photo.width)x\(photo.height)\(amount(photo.bytes, "bytes"))"
        case .configurationApplied(let told): "configurationApplied by \(told.by.rawValue): \(told.inForce.words)"
        case .rampFinished(let factor): "rampFinished \(factor.shortDescription)"
        case .connectionsFormed(let camera, let reopen):
            "connectionsFormed with \(camera.name.printable)"
                + (reopen.isEmpty ? "" : ", open again: \(reopen.map(\.rawValue).joined(separator: ", "))")
        case .cameraStateChanged(let state): "cameraStateChanged \(state.words)"
        case .runtimeError(let code, let message): "runtimeError \(code.printable): \(message.printable)"
        case .ended(let error): "ended: \(error.message)"
        }
    }

    private func known(_ count: UInt64?, _ what: String) -> String {
        count.map { amount($0, what) } ?? ", \(what) unknown"
    }

    /// Nothing where there is none: scenario lines leave it out.
    private func amount(_ count: UInt64, _ what: String) -> String { count == 0 ? "" : ", \(count) \(what)" }

    private func by(_ interrupter: Interrupter?) -> String {
        interrupter.map { " by \($0.description.printable)" } ?? ""
    }

    private func saying(_ message: String) -> String { message.isEmpty ? "" : ", saying “\(message.printable)”" }

    private func because(_ rule: String) -> String { rule.isEmpty ? "" : " because “\(rule.printable)”" }
}

extension CauseSet {
    var words: String { ordered.map(\.shortName).joined(separator: ", ") }
}

extension Configuration {
    /// `frameRate=30 videoZoomFactor=2`, ordered by key. Numbers are as a person writes them, and reads them: `1/30`, `1.4545`.
    public var words: String {
        ordered.map { "\($0.key.rawValue)=\($0.value.words(for: $0.key).printable)" }.joined(separator: " ")
    }
}

extension Duration {
    /// As a person writes it, to three digits: `TimeText.short`.
    public var shortText: String { TimeText.short(self) }
}
