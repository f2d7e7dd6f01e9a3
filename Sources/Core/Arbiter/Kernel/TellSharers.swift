import Vocabulary

/// What is told on a camera that is shared: to the sessions that watch, and to its holder about them.
extension Arbiter {
    /// A session that lost its camera to a holder on it, and may watch: as soon as there is something to see.
    mutating func tellSharer(_ look: Look) {
        let slot = look.session
        switch state.cameras[look.camera].tenancy {
        case .streaming:
            state.sessions[slot].lost = nil
            if state.sessions[slot].shown.isRunning {
                // It loses control and not the picture: the interruption it was warned of does not come.
                withdrawWarning(slot)
                tellAccess(state.look(at: slot))
            } else {
                let settings = state.sessionSettings[slot]
                let inForce = state.cameraSettings[look.camera].inForce
                tellRunning(slot, applied: (settings.wanted.ofTheCamera, inForce, .sharer))
            }
        case .starting: tellGranted(look)
        case .free, .surviving, .lost, .revoking: interrupt(look)
        }
    }

    /// The holder of a shared camera hears which other apps watch it, whenever those are others than it heard of last.
    mutating func tellSharers(on camera: Slot<Camera>) {
        guard case .streaming(let held) = state.cameras[camera].tenancy, state.sessions[held.session].shown.isRunning
        else { return }
        let own = state.clients[state.sessions[held.session].client].app
        var apps: [AppRef] = []
        for other in state.requests(on: camera) where other != held.session && state.sessions[other].shown.isRunning {
            let app = state.clients[state.sessions[other].client].app
            if app != own, !apps.contains(app) { apps.append(app) }
        }
        apps.sort { (state.id($0), $0.isClaimed ? 1 : 0) < (state.id($1), $1.isClaimed ? 1 : 0) }
        // Which they are as one number, so that a row stays plain; nobody is 0.
        let told = apps.reduce(UInt64(0)) { number, app in
            (number ^ (UInt64(app.slot.index) << 17 | UInt64(app.generation) << 1 | (app.isClaimed ? 1 : 0)) &+ 1)
                &* 0x0000_0100_0000_01b3
        }
        guard told != state.sessions[held.session].ledger.sharersTold else { return }
        state.sessions[held.session].ledger.sharersTold = told
        let user = state.apps[own.slot].user
        let words = apps.map { app in
            state.apps[app.slot].user == user ? Interrupter.app(state.id(app).name) : .anotherUsersApp
        }
        notify(held.session, .sharersChanged(words))
    }
}

/// Previews that are black while their session may not record (semantics.md §5).
extension Arbiter {
    /// Orders it where it is not so already.
    mutating func setSlate(_ isBlack: Bool, of slot: Slot<Session>, on camera: Slot<Camera>) {
        guard state.sessions[slot].has.contains(.slate) != isBlack else { return }
        state.set(.slate, isBlack, of: slot)
        notes.effects.append(.setSlate(state.cameraNames[camera], state.cameras[camera].grant, state.id(slot), isBlack))
    }
}
