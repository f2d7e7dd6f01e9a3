public import Arbiter
public import ArbiterProtocol
import Explain

/// Questions of walks. Nothing here decides.
extension Arbiter {
    var isAnybodyUnserved: Bool {
        state.sessions.rows.contains { session in
            guard session.request != nil else { return false }
            if case .running = session.shown { return session.waits != nil }
            return true
        }
    }

    /// Whether some session is pending, or waits only for a recorder, a device or a free camera: a closer look tells.
    var isAnybodyPerhapsForgotten: Bool {
        let isAnybodyServed = state.cameras.rows.contains { $0.tenancy.held != nil }
        return state.sessions.rows.contains { session in
            switch session.shown {
            case .pending: return true
            case .interrupted(let causes, _):
                if !isAnybodyServed, causes == CauseSet([.videoDeviceInUseByAnotherClient]) { return true }
                var rest = causes
                rest.remove(.recorderReset)
                rest.remove(.deviceError)
                return rest.isEmpty
            case .stopped, .running: return false
            }
        }
    }

    /// Whether an event of the user's world or of the machine says what is known already: walks leave such events out.
    public func isKnown(_ event: Event) -> Bool {
        switch event {
        case .placed(let app, let presence, let focused, let source):
            return isPlaced(app, Placed(presence, isFocused: focused), source)
        case .declaredPresence(let client, let presence, let focused):
            guard let slot = state.client(client) else { return false }
            let app = state.clients.rows[Int(slot.index)].app
            return state.apps.rows[Int(app.slot.index)][app].declared.says(Placed(presence, isFocused: focused))
        case .microphone(let app, let taken):
            return (state.app(app).map { state.apps.rows[Int($0.index)].hasMicrophone } ?? false) == taken
        case .calendar(let mode): return state.modeWords.calendar == mode
        case .attribute(let app, let name, let value):
            return state.app(app).flatMap { state.attributes[Int($0.index)][name] } == value
        case .operatorChose(let app): return state.world.operatorChoice.map { state.id($0) } == app
        case .loginSession(let id, let facts): return state.login(id).flatMap { state.facts(of: $0) } == facts
        case .pressure(let level):
            let falling = state.timers.last { $0.kind == .falling }.map { UInt8($0.amount) }
            return (falling ?? state.world.pressureLevel) == level.rawValue
        case .ownPrivacy(let user, let on): return state.privateUsers.contains(user) == on
        case .answersForgotten(let user): return words(of: user).isEmpty && !state.privateUsers.contains(user)
        case .questionsWatched(let user, let on): return state.questionWatchers.contains(user) == on
        case .answered(let app, let isClaimed, let answer, let origin):
            let word = state.said(of: app, isClaimed: isClaimed)
            if origin == .permissionStore { return (word?.isDenied ?? false) == (answer != nil) }
            return word?.answer == answer && (answer == nil || word?.origin == origin)
        case .sleep(let asleep): return state.world.isAsleep == asleep
        case .privacy(let camera?, let on):
            return state.camera(camera).map { state.cameras.rows[Int($0.index)].isPrivate == on } ?? false
        case .cameraAppeared(let camera, _, _): return isPresent(camera)
        case .cameraDisappeared(let camera): return !isPresent(camera)
        case .loweredPriority(let client, let rank):
            return state.client(client).flatMap { state.clientTexts[Int($0.index)].loweredTo } == rank
        default: return false
        }
    }

    func isPlaced(_ app: AppID, _ placed: Placed, _ source: PresenceSource) -> Bool {
        guard let row = state.app(app) else { return false }
        let said = source == .shell ? state.apps.rows[Int(row.index)].byShell : state.apps.rows[Int(row.index)].byAgent
        return said.says(placed) && !said.isStale
    }

    var isMachineWhole: Bool {
        !state.world.isAsleep && !state.world.isPrivate && state.privateUsers.isEmpty
            && state.cameras.rows.allSatisfy { $0.isPresent && !$0.isPrivate }
    }

    /// A zoom is what sessions configure in walks.
    var isAnybodyZoomed: Bool { state.sessionSettings.contains { $0.wanted[.videoZoomFactor] != nil } }

    func isConfigured(_ session: SessionID, _ batch: Configuration) -> Bool {
        guard let slot = state.session(session) else { return false }
        let wanted = state.sessionSettings[Int(slot.index)].wanted
        return batch.ordered.allSatisfy { wanted[$0.key] == $0.value }
    }

    private func isPresent(_ camera: CameraID) -> Bool {
        state.camera(camera).map { state.cameras.rows[Int($0.index)].isPresent } ?? false
    }
}

extension Arbiter {
    var leasedCameras: [Slot<Camera>] {
        state.cameraOrder.filter { state.cameras.rows[Int($0.index)].tenancy.held?.leaseUntil != nil }
    }

    /// The end of the last time without a deadline: min-holds, except on some cameras, and the time after which faults are forgotten.
    func lastUnwatchedTime(besides cameras: [Slot<Camera>]) -> Moment {
        var last = state.now
        for slot in state.cameraOrder {
            let camera = state.cameras.rows[Int(slot.index)]
            guard let held = camera.tenancy.held else { continue }
            if camera.faults > 0 || state.sessions.rows[Int(held.session.index)].deaths > 0,
                let since = held.streamingSince
            {
                last = max(last, since + Bound.steady)
            }
            if !cameras.contains(slot), let until = held.minHoldUntil { last = max(last, until) }
        }
        return last
    }
}
