public import Arbiter
import ArbiterProtocol

/// What walks ask a state. Nothing here decides.
extension Arbiter {
    /// Whether some session asks to run and does not, or runs beside another.
    var isAnybodyUnserved: Bool {
        state.sessions.rows.contains { session in
            guard session.request != nil else { return false }
            if case .running = session.shown { return session.waits != nil }
            return true
        }
    }

    /// Whether an event of the user's world or of the machine says what is known already. It says nothing of what
    /// the event would do: exploration leaves out what every state has as a way back to itself.
    public func isKnown(_ event: Event) -> Bool {
        switch event {
        case .placed(let app, let presence, let focused, let source):
            guard let row = state.appNames[app] else { return false }
            let said = Placed(presence, isFocused: focused)
            let known = source == .shell ? state.apps[row].byShell : state.apps[row].byAgent
            return known.says(said) && !known.isStale
        case .declaredPresence(let client, let presence, let focused):
            guard let slot = state.client(client) else { return false }
            let app = state.clients[slot].app
            return state.apps[app.slot][app].declared.says(Placed(presence, isFocused: focused))
        case .microphone(let app, let taken):
            return (state.appNames[app].map { state.apps[$0].hasMicrophone } ?? false) == taken
        case .attribute(let app, let name, let value):
            return state.appNames[app].flatMap { state.attributes[Int($0.index)][name] } == value
        case .operatorChose(let app): return state.world.operatorChoice.map { state.appNames[$0] } == app
        case .loginSession(let id, let active, let locked):
            guard let row = state.loginNames[id] else { return false }
            return state.logins[row].mark == 1 | (active ? 2 : 0) | (locked ? 4 : 0)
        case .pressure(let level):
            let falling = state.timers.last { $0.kind == .falling }.map { UInt8($0.amount) }
            return (falling ?? state.world.pressureLevel) == level.rawValue
        case .cameraAppeared(let camera, _): return isPresent(camera)
        case .cameraDisappeared(let camera): return !isPresent(camera)
        case .loweredPriority(let client, let rank):
            return state.client(client).flatMap { state.clientTexts[Int($0.index)].loweredTo } == rank
        default: return false
        }
    }

    private func isPresent(_ camera: CameraID) -> Bool {
        state.cameraNames[camera].map { state.cameras[$0].isPresent } ?? false
    }
}

/// Leases as a walk sees them that does not count what is left of them.
extension Arbiter {
    /// The cameras whose holders' leases run, in the order of their ids.
    var leasedCameras: [Slot<Camera>] {
        state.cameraOrder.filter { state.cameras[$0].tenancy.held?.leaseUntil != nil }
    }

    /// When the last of the times is over that nobody has to be woken for: min-holds, but for those of the holders of
    /// some cameras, and the frames after which faults are forgotten.
    func lastUnwatchedTime(besides cameras: [Slot<Camera>]) -> Moment {
        var last = state.now
        for slot in state.cameraOrder {
            let camera = state.cameras[slot]
            guard let held = camera.tenancy.held else { continue }
            if camera.faults > 0 || state.sessions[held.session].deaths > 0, let since = held.streamingSince {
                last = max(last, since + Bound.steady)
            }
            if !cameras.contains(slot), let until = held.minHoldUntil { last = max(last, until) }
        }
        return last
    }
}
