public import Vocabulary

extension Arbiter {
    /// Whether the session has a start request.
    public func asksToRun(_ session: SessionID) -> Bool {
        state.sessions.read(session) { $0.request != nil } ?? false
    }

    /// Whether some session asks to run and does not, or runs beside another.
    package var isAnybodyUnserved: Bool {
        state.requesting.contains { id in
            state.sessions.read(id) { session in
                if case .running = session.shown { session.waits != nil } else { true }
            } ?? false
        }
    }

    /// Whether an event of the user's world or of the machine says what is known already. It says nothing of what
    /// the event would do: exploration leaves out what every state has as a way back to itself.
    public func isKnown(_ event: Event) -> Bool {
        switch event {
        case .placed(let app, let presence, let focused, let source):
            let known = state.world.placements[World.PlacementKey(source: source, app: app)]
            return known == World.Placement(presence: presence, isFocused: focused)
        case .declaredPresence(let client, let presence, let focused):
            guard let app = state.clients[client]?.app else { return false }
            return state.world.declared[app.user]?[app] == World.Placement(presence: presence, isFocused: focused)
        case .microphone(let app, let taken): return state.world.microphones.contains(app) == taken
        case .attribute(let app, let name, let value): return state.world.attributes[app]?[name] == value
        case .operatorChose(let app): return state.world.operatorChoice == app
        case .loginSession(let id, let active, let locked):
            return state.world.loginSessions[id] == World.LoginSession(isActive: active, isLocked: locked)
        case .pressure(let level): return (state.world.falling.last?.to ?? state.world.pressure) == level
        case .cameraAppeared(let camera, _): return state.cameras[camera]?.isPresent == true
        case .cameraDisappeared(let camera): return state.cameras[camera]?.isPresent != true
        case .loweredPriority(let client, let rank): return state.clients[client]?.loweredTo == rank
        default: return false
        }
    }
}
