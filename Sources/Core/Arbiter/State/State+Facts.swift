package import Vocabulary

/// Facts that decisions read, derived from the state.
extension State {
    func facts(_ session: Session, _ client: Client, _ foregroundApps: Facts.ForegroundApps) -> FactBits {
        let placed = placement(of: client.app)
        var facts = FactBits()
        facts.who = client.who | cameras[session.camera].who
        facts.attributes = apps[client.app.slot][client.app].attributes
        facts[.login] = client.login.map { logins[$0].state.code } ?? 0
        facts[.foreground] = placed.isForeground ? 1 : 0
        facts[.layout] = placed.layoutCode
        facts[.focused] = placed.isFocused ? 1 : 0
        facts[.inFront] = counted(foregroundApps, from: placed).code
        facts[.kind] = UInt64(client.kind.rawValue)
        facts[.multitasking] = client.multitasking ? 1 : 0
        facts[.position] = UInt64(cameras[session.camera].position)
        facts[.usesAudio] = session.has.contains(.audio) ? 1 : 0
        facts[.microphone] = microphones.isEmpty || microphoneTaker(against: client.app) == nil ? 0 : 1
        facts[.pressure] = world.pressure.thermometer
        facts[.mode] = UInt64(world.mode)
        facts[.recording] = session.has.contains(.recording) ? 1 : 0
        facts[.bidIsNew] = session.request?.hasHeld == true ? 0 : 1
        facts[.chosen] = world.operatorChoice == client.app.slot && isReached(client.app) ? 1 : 0
        return facts
    }

    /// A fact by name reaches a claimed app while no vouched client of the name is connected.
    @inline(__always) package func isReached(_ app: AppRef) -> Bool {
        !app.isClaimed || apps[app.slot].vouched.firstClient == nil
    }

    /// The app that has the microphone a session wants. A session's own app does not count, nor do other users': a
    /// shell reports its own user's, and only root's apps count for everybody.
    func microphoneTaker(against app: AppRef) -> Slot<App>? {
        let user = apps[app.slot].user
        return microphones.first { taker in
            let owner = apps[taker].user
            return (owner == user || owner == 0) && !(taker == app.slot && isReached(app))
        }
    }

    /// The causes of a camera for every session, except a recorder that does not end.
    func causes(of camera: Camera) -> CauseSet {
        var causes = CauseSet()
        if !camera.isPresent { causes.insert(.videoDeviceDisconnected) }
        if camera.isPrivate || world.isPrivate { causes.insert(.videoDeviceBlockedByPrivacy) }
        if world.isAsleep { causes.insert(.systemSleep) }
        if camera.isHeldOutside { causes.insert(.videoDeviceInUseByAnotherClient) }
        return causes
    }

    /// A recorder that not even SIGKILL ended holds on to this camera, or to one that excludes it.
    func isStuck(_ camera: Camera) -> Bool {
        if camera.isStuck { return true }
        guard policy.hasConflicts else { return false }
        return cameras.rows.contains { $0.isStuck && policy.conflict($0.place, camera.place) }
    }

    package func app(of session: Slot<Session>) -> AppRef { clients[sessions[session].client].app }

    /// A cause keeps everybody off a survivor, or the user of the survivor's app has its own privacy switch on.
    package func barsSurvivor(_ camera: Slot<Camera>) -> Bool {
        if !causes(of: cameras[camera]).isEmpty { return true }
        return reservation(of: camera).map { privateUsers.contains(apps[$0.slot].user) } ?? false
    }

    /// The app that a camera is kept for: a claimed app only while no vouched app of the name is connected.
    package func reservation(of camera: Slot<Camera>) -> AppRef? {
        guard let timer = timers.first(where: { $0.kind == .reservation && $0.camera == camera }), let app = timer.app
        else { return nil }
        return ref(app.slot, isClaimed: apps[app.slot].vouched.firstClient == nil)
    }

    /// The app that causes an interruption, where there is one.
    package func interrupter(of look: Look, _ waits: Session.Waiting?, _ causes: CauseSet) -> AppRef? {
        if causes.contains(.videoDeviceInUseByAnotherClient) { return waits?.interrupter }
        // The single app beside it is the interrupter; of several, none is.
        if causes.contains(.videoDeviceNotAvailableWithMultipleForegroundApps) { return appBeside(look.app) }
        guard causes.contains(.audioDeviceInUseByAnotherClient) else { return nil }
        return microphoneTaker(against: look.app).map { ref($0, isClaimed: false) }
    }

    /// A session that takes video, and that another app beside its own keeps from recording: its preview is black, so
    /// that nobody takes it for a recording. (An image picker in video mode, as iOS 9 documents it.)
    package func isSlateDue(_ look: Look, _ access: Access) -> Bool {
        guard sessions[look.session].has.contains(.takesVideo), access.contains(.preview) else { return false }
        return look.limits.all(policy).contains {
            $0.cause == .videoDeviceNotAvailableWithMultipleForegroundApps && !$0.access.contains(.record)
        }
    }
}
