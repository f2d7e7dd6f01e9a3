public import ArbiterProtocol

extension SessionEvent {
    /// The event in a line, in the words of scenarios and of the journal.
    public var line: String {
        switch self {
        case .willBeInterrupted(let id, let cause, _, let rule):
            "willBeInterrupted #\(id) \(cause.shortName)\(because(rule))"
        case .interruptionWithdrawn(let id): "interruptionWithdrawn #\(id)"
        case .wasInterrupted(let id, let causes, let interrupter, let cutting, let rule):
            "wasInterrupted #\(id) \(causes.words)\(by(interrupter))"
                + "\(cutting.map { ", cutting recording \($0)" } ?? "")\(because(rule))"
        case .interruptionChanged(let id, let causes, let interrupter, let rule):
            "interruptionChanged #\(id) \(causes.words)\(by(interrupter))\(because(rule))"
        case .interruptionEnded(let id, _, let duration, let willResume, let cut):
            "interruptionEnded #\(id) after \(duration.shortText)\(willResume ? ", resuming" : "")"
                + "\(cut.map { ", recording \($0) was cut" } ?? "")"
        case .didStartRunning: "didStartRunning"
        case .didStopRunning: "didStopRunning"
        case .accessChanged(let access, let causes, let rule):
            "accessChanged \(access.isEmpty ? "none" : access.names.joined(separator: ", "))"
                + "\(causes.isEmpty ? "" : " for \(causes.words)")\(because(rule))"
        case .sharersChanged(let sharers):
            "sharersChanged "
                + (sharers.isEmpty ? "nobody" : sharers.map(\.description.printable).joined(separator: ", "))
        case .sessionStopped(let reason, let rule): "sessionStopped \(reason.rawValue)\(because(rule))"
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
        case .configurationApplied(_, let inForce, let by): "configurationApplied by \(by.rawValue): \(inForce.words)"
        case .rampFinished(let factor): "rampFinished \(factor.shortDescription)"
        case .connectionsFormed(let camera, let reopen):
            "connectionsFormed with \(camera.name.printable)"
                + (reopen.isEmpty ? "" : ", open again: \(reopen.map(\.rawValue).joined(separator: ", "))")
        case .cameraStateChanged(let state): "cameraStateChanged \(state.words)"
        case .runtimeError(let code, let message): "runtimeError \(code.printable): \(message.printable)"
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

extension String {
    /// The text without what a terminal would obey: names come from clients, and a name must not move a cursor.
    public var printable: String {
        // Nearly every name, of which a table of traces has millions.
        if utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return self }
        var safe = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: safe.append("?")
            default: safe.append(scalar)
            }
        }
        return String(safe)
    }
}
