package import Vocabulary

/// A counterfactual without an event of its own, for `explain`, which replays a moment.
package enum Assumption: Sendable {
    case event(Event)
    case kind(ClientID, ClientKind)
    case multitasking(ClientID, Bool)
    /// The client did not lower its rank.
    case rankAsGiven(ClientID)
    case usesAudio(SessionID, Bool)
    /// A lower pressure has lasted long enough to count.
    case pressureSettled(SystemPressure)
    /// The mode, whoever may set it and whatever the calendar has; `nil`: no mode.
    case mode(String?)
}

extension Arbiter {
    /// Makes these the facts, through the functions that handle events, and settles once.
    package mutating func assume(_ assumptions: [Assumption]) {
        var seating = Seating(state.policy)
        for assumption in assumptions { assume(assumption) }
        settle(&seating)
        notes = StepNotes()
    }

    private mutating func assume(_ assumption: Assumption) {
        switch assumption {
        case .event(let event): handle(event)
        case .kind(let id, let kind): change(id) { $0.kind = Client.Kind(kind) }
        case .multitasking(let id, let optedIn): change(id) { $0.multitasking = optedIn }
        case .rankAsGiven(let id): change(id) { $0.loweredRank = nil }
        case .usesAudio(let id, let uses):
            guard let slot = state.session(id) else { return }
            state.sessionSettings[slot].wanted[.usesAudio] = .flag(uses)
            state.noteWishes(of: slot)
            touch(slot)
        case .mode(let name):
            state.modeWords = ModeWords()
            state.modeWords.calendar = name
            state.updateMode()
            touchAll()
        case .pressureSettled(let level):
            state.timers.removeAll { $0.kind == .falling }
            state.world.pressure = level
            touchAll()
        }
    }

    private mutating func change(_ id: ClientID, _ body: (inout Client) -> Void) {
        guard let slot = state.client(id) else { return }
        body(&state.clients[slot])
        touch(client: slot)
    }
}
