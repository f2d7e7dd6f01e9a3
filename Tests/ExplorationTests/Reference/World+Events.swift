import Arbiter
import ArbiterProtocol
import ReferenceArbiter

extension World {
    /// Writes an event down as facts. False: it asks for something that is not to be had, and changed nothing.
    mutating func take(_ event: Event, lastJudgement: ReferenceArbiter.Judgement) -> Bool {
        switch event {
        case .connected(let client, let app, _, let login): clients[client] = Client(app: app, login: login)
        case .declared(let client, let attributes): clients[client]?.kind = attributes.kind
        case .declaredPresence(let client, let presence, let focused):
            if let app = clients[client]?.app { declared[app] = Place(presence: presence, isFocused: focused) }
        case .loweredPriority(let client, let rank): return lower(client, rank)
        case .disconnected(let client):
            guard let app = clients.removeValue(forKey: client)?.app else { break }
            sessions = sessions.filter { $0.value.client != client }
            if !clients.values.contains(where: { $0.app == app }) { declared[app] = nil }
        case .created(let session, let client, let camera?, let configuration, _):
            guard let app = clients[client]?.app else { break }
            sessions[session] = Session(
                client: client, app: app, camera: camera, usesAudio: configuration[.usesAudio] == .flag(true))
        case .startRunning(let session):
            guard let found = sessions[session] else { return false }
            if found.started == nil {
                starts += 1
                sessions[session]?.started = starts
            }
        case .stopRunning(let session):
            guard sessions[session]?.started != nil else { return false }
            sessions[session]?.started = nil
        case .startRecording(let session):
            guard case .running(let access)? = lastJudgement.sessions[session], access.contains(.record),
                !lastJudgement.recording.contains(session)
            else { return false }
            sessions[session]?.isRecording = true
        case .stopRecording(let session):
            guard lastJudgement.recording.contains(session) else { return false }
            sessions[session]?.isRecording = false
        case .ready(let session, _):
            guard
                let camera = cameras.first(where: {
                    $0.value.holding?.session == session && $0.value.holding?.toldUntil != nil
                })?.key
            else { return false }
            cameras[camera]?.holding?.isReady = true
        case .continueAfterSensitiveContent(let session):
            guard sessions[session] != nil else { return false }
            sessions[session]?.isSensitive = false
        case .closed(let session): return sessions.removeValue(forKey: session) != nil
        default: takeFact(event)
        }
        return true
    }

    private mutating func lower(_ client: ClientID, _ rank: String) -> Bool {
        guard let app = clients[client]?.app, let wanted = Cast.ranks.firstIndex(of: rank) else { return false }
        let own =
            sessions.values.contains { $0.client == client }
            ? Cast.rank(of: app, isOperatorsChoice: operatorChoice == app) : 0
        let inForce = max(own, clients[client]?.loweredTo ?? 0)
        guard wanted >= inForce else { return false }
        clients[client]?.loweredTo = wanted
        return true
    }

    private mutating func takeFact(_ event: Event) {
        switch event {
        case .sourceAttached(let source, _):
            speakers[source, default: Speaker()].attach(at: now)
        case .sourceGone(let source, _): speakers[source]?.leave(at: now)
        case .placed(let app, let presence, let focused, let source):
            speakers[source]?.say(Place(presence: presence, isFocused: focused), of: app)
        case .unplaced(let app, let source): speakers[source]?.say(nil, of: app)
        case .microphone(let app, let taken):
            if taken { microphones.insert(app) } else { microphones.remove(app) }
        case .sensitiveContent(let app):
            for (id, session) in sessions where session.app == app { sessions[id]?.isSensitive = true }
        case .operatorChose(let app): operatorChoice = app
        case .loginSession(let id, let active, let locked): logins[id] = Login(isActive: active, isLocked: locked)
        case .loginSessionEnded(let id): logins[id] = nil
        case .cameraAppeared(let camera, _):
            cameras[camera, default: Camera()].isPresent = true
        case .cameraDisappeared(let camera): cameras[camera]?.isPresent = false
        case .privacy(let camera?, let on): cameras[camera]?.isPrivate = on
        case .privacy(nil, let on): isPrivate = on
        case .heldOutside(let camera, let held): cameras[camera]?.isHeldOutside = held
        case .pressure(let level): pressureReports.append((now, level))
        case .sleep(let asleep): isAsleep = asleep
        default: break
        }
    }
}
