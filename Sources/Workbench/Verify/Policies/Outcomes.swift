import Arbiter
import ArbiterProtocol
import Explain

/// The outcomes of a step for clients, as words for the ways in which two policies differ.
enum Outcomes {
    /// For each session with other notices, the outcomes under the first policy and the second; `nil` where no client notices.
    static func compare(
        _ news: (first: [Effect], second: [Effect]), _ events: [Event], _ first: ExploredState, _ second: ExploredState
    ) -> [[String]]? {
        var found: [[String]] = []
        for session in sessions(news.first + news.second) {
            let told = (notices(news.first, session), notices(news.second, session))
            guard told.0 != told.1 else { continue }
            let outcomes = [words(told.0, session, first), words(told.1, session, second)]
            // Two causes beside each other, or one more notice on the way, may come to the same words.
            found.append(outcomes[0] == outcomes[1] ? outcomes.map { $0 + ", with other notices" } : outcomes)
        }
        let refused = (refusal(news.first, events), refusal(news.second, events))
        if refused.0 != refused.1 {
            // The refusal stands for all notices.
            found = [
                [refused.0 ? "refuses it" : outcome(events, first), refused.1 ? "refuses it" : outcome(events, second)]
            ]
        }
        if found.isEmpty, holders(news.first) != holders(news.second) {
            found.append(["changes the holder", "leaves the holder"])
        }
        return found.isEmpty ? nil : unique(found)
    }

    private static func sessions(_ effects: [Effect]) -> [SessionID] {
        unique(effects.compactMap { if case .notify(_, let session, _, _) = $0 { session } else { nil } }).sorted()
    }

    /// The sessions with other notices, or the session whose request has another answer.
    static func toldOtherwise(_ news: (first: [Effect], second: [Effect]), _ events: [Event]) -> [SessionID] {
        let found = sessions(news.first + news.second).filter { notices(news.first, $0) != notices(news.second, $0) }
        return found.isEmpty ? asker(events).map { [$0] } ?? [] : found
    }

    private static func notices(_ effects: [Effect], _ session: SessionID) -> [SessionEvent] {
        effects.compactMap { effect in
            guard case .notify(_, session, _, let event) = effect else { return nil }
            return event.withoutNames
        }
    }

    private static func holders(_ effects: [Effect]) -> [Effect] {
        effects.filter { if case .announce(.holderChanged) = $0 { true } else { false } }
    }

    /// Whether a client's request was refused. No client notices what a shell or an operator is refused.
    static func refusal(_ effects: [Effect], _ events: [Event]) -> Bool {
        guard asker(events) != nil else { return false }
        return effects.contains { if case .refused = $0 { true } else { false } }
    }

    static func asker(_ events: [Event]) -> SessionID? {
        switch events.first {
        case .startRunning(let session), .stopRunning(let session), .attachMicrophone(let session, _),
            .startRecording(let session, _), .stopRecording(let session), .ready(let session, _):
            session
        default: nil
        }
    }

    private static func outcome(_ events: [Event], _ state: ExploredState) -> String {
        asker(events).map { standing($0, state) } ?? "takes it"
    }

    private static func words(_ told: [SessionEvent], _ session: SessionID, _ state: ExploredState) -> String {
        told.lazy.reversed().compactMap(\.outcome).first
            ?? (told.isEmpty ? standing(session, state) : "tells it of \(told[0].wireName)")
    }

    fileprivate static func text(_ causes: CauseSet) -> String {
        causes.ordered.map(\.shortName).joined(separator: " and ")
    }

    private static func standing(_ session: SessionID, _ state: ExploredState) -> String {
        guard let status = state.arbiter.status(of: session) else { return "has no such session" }
        return switch status.state {
        case .running where status.access == .all: "lets it run"
        case .running: "leaves \(status.access.names.joined(separator: "+"))"
        case .interrupted: "leaves it interrupted (\(text(status.causes)))"
        case .starting: "is starting it"
        case .stopped: "leaves it stopped"
        }
    }
}

extension SessionEvent {
    fileprivate var outcome: String? {
        switch self {
        case .sessionStopped(let news): "stops it for good (\(news.reason.rawValue))"
        case .wasInterrupted(let news): "interrupts with \(Outcomes.text(news.causes))"
        case .interruptionChanged(let news): "goes on interrupting, now with \(Outcomes.text(news.causes))"
        case .accessChanged(let news):
            news.access == .all
                ? "gives the whole access" : "restricts to \(news.access.names.joined(separator: "+"))"
        case .didStartRunning: "lets it run"
        case .willBeInterrupted: "gives notice of an interruption"
        case .interruptionWithdrawn: "withdraws the notice"
        default: nil
        }
    }

    /// Without names of rules and numbers of grants, on which no client acts.
    fileprivate var withoutNames: SessionEvent {
        switch self {
        case .willBeInterrupted(var news):
            news.rule = ""
            return .willBeInterrupted(news)
        case .wasInterrupted(var news):
            news.rule = ""
            return .wasInterrupted(news)
        case .interruptionChanged(var news):
            news.rule = ""
            return .interruptionChanged(news)
        case .accessChanged(let news): return .accessChanged(AccessChange(news.access, causes: news.causes, rule: ""))
        case .sessionStopped(let news): return .sessionStopped(SessionStop(news.reason, rule: ""))
        case .didStartRunning: return .didStartRunning(GrantID(0))
        default: return self
        }
    }
}
