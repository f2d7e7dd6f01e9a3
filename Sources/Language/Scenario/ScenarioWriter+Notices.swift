import Arbiter
public import ArbiterProtocol

extension ScenarioWriter {
    /// The effect as a notice line, without indentation; `nil` for effects that a scenario does not show.
    public func notice(_ effect: Effect) -> String? {
        switch effect {
        case .notify(_, let session, _, let event): return notice(session, event)
        case .refused(let refusal):
            if shows.sentences { return "refused \(refusal.error.kind.shortName): \(refusal.error.message)" }
            return "refused \(refusal.error.kind.shortName) because \"\(refusal.rule.replacingQuotes)\""
        case .answered: return nil
        case .announce(let news): return shows.announcements ? text(of: news) : nil
        default: return shows.orders ? effect.described.order(names).map { "order \($0)" } : nil
        }
    }

    private func text(of news: Effect.Announcement) -> String {
        switch news {
        case .camerasChanged: "cameras changed"
        case .holderChanged(let camera, let app): "holder \(camera.name) \(app.map { names.name(of: $0) } ?? "nobody")"
        case .question(let question):
            "question \(question.id) about \(names.name(of: question.app))\(question.isClaimed ? " claimed" : "") for \(question.camera.name) until \(TimeText.write(question.until, from: origin))"
        case .questionEnded(let id, _, let end): "question \(id) ended \(end.rawValue)"
        case .answerKept(let app, let isClaimed, let answer, let origin):
            "answer kept \(names.name(of: app)) \(answer?.rawValue ?? "none")\(isClaimed ? " claimed" : "") by \(origin.rawValue)"
        case .prioritiesChanged(let user):
            // The usual user is left out, as with an app's name.
            "priorities changed" + (user.map { $0 == names.user ? "" : " user=\($0)" } ?? "")
        }
    }

    /// A session's event: `photos wasInterrupted #1 in-background, cutting recording 1`.
    public func notice(_ session: SessionID, _ event: SessionEvent) -> String {
        "\(names.name(of: session).scenarioWord) \(text(of: event))"
    }

    private func text(of event: SessionEvent) -> String {
        switch event {
        case .willBeInterrupted(let told):
            return
                "willBeInterrupted #\(told.id) \(told.cause.shortName) at \(TimeText.write(told.deadline, from: origin))"
                + Self.saying(told.message)
        case .interruptionWithdrawn(let id): return "interruptionWithdrawn #\(id)"
        case .wasInterrupted(let told):
            let cut = told.recording.map { ", cutting recording \($0)" } ?? ""
            return "wasInterrupted #\(told.id) \(Self.text(of: told.causes))\(Self.by(told.interrupter))\(cut)"
                + Self.saying(told.message)
        case .interruptionChanged(let told):
            return "interruptionChanged #\(told.id) \(Self.text(of: told.causes))\(Self.by(told.interrupter))"
                + Self.saying(told.message)
        case .interruptionEnded(let told):
            // A single cause was in the first notice.
            let had = told.causes.ordered.count > 1 ? " \(Self.text(of: told.causes))" : ""
            let lost = told.recording.map { ", recording \($0) was cut" } ?? ""
            return
                "interruptionEnded #\(told.id)\(had) after \(TimeText.write(told.duration)), \(told.willResume ? "resuming" : "not resuming")\(lost)"
        case .didStartRunning: return "didStartRunning"
        case .didStopRunning: return "didStopRunning"
        case .accessChanged(let told):
            let rights =
                told.access == .all ? "all" : told.access == .none ? "none" : told.access.names.joined(separator: "+")
            return "accessChanged \(rights)" + (told.causes.isEmpty ? "" : " \(Self.text(of: told.causes))")
                + Self.by(told.controller) + Self.saying(told.message)
        case .sharersChanged(let sharers):
            return "sharersChanged \(sharers.isEmpty ? "nobody" : sharers.map(\.description).joined(separator: ", "))"
        case .sessionStopped(let told):
            return "sessionStopped \(told.reason.rawValue) because \"\(told.rule.replacingQuotes)\""
                + Self.saying(told.message)
        case .recordingStarted(let id): return "recordingStarted \(id)"
        case .recordingPaused(let id): return "recordingPaused \(id)"
        case .recordingResumed(let id): return "recordingResumed \(id)"
        case .recordingFinished(let end): return text(of: end)
        case .photoCaptured(let photo):
            if let error = photo.error { return "photoCaptured \(photo.photo) failed \"\(error.replacingQuotes)\"" }
            return "photoCaptured \(photo.photo) \(photo.width)x\(photo.height)"
        case .configurationApplied(let told):
            let other = told.asked.ordered.filter { key, value in told.inForce[key].map { $0 != value } ?? false }
            let differs = Configuration(
                Dictionary(uniqueKeysWithValues: other.compactMap { key, _ in told.inForce[key].map { (key, $0) } }))
            let nearest = differs.isEmpty ? "" : ", in force \(differs.scenarioWords)"
            let what = told.asked.isEmpty ? "defaults" : told.asked.scenarioWords
            return "configurationApplied \(what)\(nearest) by \(told.by.rawValue)"
        case .rampFinished(let factor): return "rampFinished \(factor.shortDescription)"
        case .connectionsFormed(let camera, let reopen):
            let again = reopen.isEmpty ? "" : ", open again \(reopen.map(\.rawValue).joined(separator: ", "))"
            return "connectionsFormed \(camera.name)\(again)"
        case .cameraStateChanged(let state): return "cameraStateChanged \(state.scenarioWords)"
        case .runtimeError(let code, let message): return "runtimeError \(code) \"\(message.replacingQuotes)\""
        case .ended(let error): return "ended \"\(error.message.replacingQuotes)\""
        }
    }

    private func text(of end: RecordingFinished) -> String {
        var text =
            "recordingFinished \(end.recording) \(end.why.rawValue) after \(end.duration.map { TimeText.write($0) } ?? "unknown")"
        if let cause = end.cause { text += ", for \(cause.shortName)\(Self.by(end.interrupter))" }
        if end.framesLeftOut > 0 { text += ", \(end.framesLeftOut) frames left out" }
        if end.nextChance != end.why.usualNextChance { text += ", next chance \(end.nextChance.rawValue)" }
        return text
    }

    private static func by(_ interrupter: Interrupter?) -> String { interrupter.map { " by \($0.description)" } ?? "" }

    private static func saying(_ message: String) -> String {
        message.isEmpty ? "" : " saying \"\(message.replacingQuotes)\""
    }

    /// The reason first: `system-sleep+device-in-use`.
    static func text(of causes: CauseSet) -> String {
        causes.isEmpty ? "no-cause" : causes.ordered.map(\.shortName).joined(separator: "+")
    }
}

extension RecordingEnd {
    /// The next chance that usually follows such an end: a line leaves it out.
    var usualNextChance: RecordingFinished.NextChance {
        switch self {
        case .stopped, .durationLimit, .sizeLimit, .diskFull, .writeError: .now
        case .interrupted, .recorderReset: .whenInterruptionEnds
        case .accessLost: .whenAccessReturns
        case .sessionEnded: .afterStart
        }
    }
}
