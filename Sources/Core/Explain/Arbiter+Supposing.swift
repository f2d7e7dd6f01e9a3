import Arbiter
import Vocabulary

extension Arbiter {
    /// The same arbiter in a world where these facts are otherwise, with the event that followed.
    ///
    /// A copy takes the changes through the functions that take events, settles, and is stepped: nothing here
    /// predicts what a step would do. What the event says against a supposition, it did not say.
    /// - Parameter set: no two about the same.
    /// - Returns: nil: they contradict the world, such as the focus on an app in the background.
    func supposing(_ set: [Supposition], then event: Event, at moment: Moment) -> Arbiter? {
        var event: Event? = event
        var assumptions: [Assumption] = []
        var moves: [Move] = []
        for supposition in set {
            switch supposition.change {
            case .assumed(let changes): assumptions += changes
            case .layout(let app, let speaker, let layout):
                change(app, speaker, event, &moves) { $0.presence = layout.map { .foreground($0) } ?? .background }
            case .focused(let app, let speaker, let focused):
                change(app, speaker, event, &moves) {
                    $0.isFocused = focused
                    $0.takesFocus = focused
                }
            }
        }
        // The app that gets the focus takes it from the one that is said to have it.
        for move in moves.sorted(by: { ($0.takesFocus ? 1 : 0, $0.app) < ($1.takesFocus ? 1 : 0, $1.app) }) {
            if move.takesFocus, !move.presence.isForeground { return nil }
            if let said = event, state.says(said, where: move.app, move.speaker) {
                // It comes when it came, and says otherwise.
                event = move.event
            } else {
                assumptions.append(.event(move.event))
            }
            if move.takesFocus { event = event.map { $0.withoutFocus(besides: move.app) } }
        }
        if let about = event?.about, set.contains(where: { $0.about == about }) { event = nil }
        var other = self
        other.assume(assumptions)
        _ = other.step(event ?? .timePassed, at: moment)
        return other
    }

    /// A place is supposed as a whole: over what the event says, or over where the app was.
    private func change(
        _ app: NamedApp, _ speaker: Speaker, _ event: Event?, _ moves: inout [Move], _ body: (inout Move) -> Void
    ) {
        if let index = moves.firstIndex(where: { $0.app == app }) { return body(&moves[index]) }
        var move = Move(app: app, speaker: speaker, presence: .background, isFocused: false)
        if let event, state.says(event, where: app, speaker), let place = event.place {
            (move.presence, move.isFocused) = place
        } else if let ref = state.app(app) {
            let place = state.placement(of: ref)
            (move.presence, move.isFocused) = (place.presence, place.isFocused)
        }
        body(&move)
        moves.append(move)
    }
}

private struct Move {
    let app: NamedApp
    let speaker: Speaker
    var presence: Presence
    var isFocused: Bool
    var takesFocus = false

    var event: Event {
        let focused = isFocused && presence.isForeground
        return switch speaker {
        case .source(let source): .placed(app.id, presence, focused: focused, by: source)
        case .client(let client): .declaredPresence(client, presence, focused: focused)
        }
    }
}

extension State {
    /// Whether the event says where an app is, by the source that is believed.
    fileprivate func says(_ event: Event, where app: NamedApp, _ speaker: Speaker) -> Bool {
        switch event {
        case .placed(app.id, _, _, let source), .unplaced(app.id, let source): speaker == .source(source)
        case .declaredPresence(let client, _, _):
            if case .client = speaker {
                clientSlots[client.rawValue].map { name(clients[$0].app) } == app
            } else {
                false
            }
        default: false
        }
    }
}

extension Event {
    fileprivate var place: (Presence, Bool)? {
        switch self {
        case .placed(_, let presence, let focused, _), .declaredPresence(_, let presence, let focused):
            (presence, focused)
        default: nil
        }
    }

    /// An event that gives another app the focus does not, where this one is supposed to have it.
    fileprivate func withoutFocus(besides app: NamedApp) -> Event {
        if case .placed(let other, let presence, true, let source) = self, other != app.id, other.user == app.id.user {
            return .placed(other, presence, focused: false, by: source)
        }
        return self
    }
}
