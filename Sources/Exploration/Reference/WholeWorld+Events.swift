import Arbiter
import ArbiterProtocol
import ReferenceArbiter

extension WholeWorld {
    /// What shells, operators, logind and the machine say. False: it is about something that there is not.
    mutating func take(_ event: Event) -> Bool {
        switch event {
        case .sourceAttached(let source, let user): attach(source, user)
        case .sourceGone(let source, let user): lose(source, user)
        case .placed(let app, let presence, let focused, let source):
            say(app, Place(presence: presence, isFocused: focused), source)
        case .unplaced(let app, let source): said[source]?[app] = nil
        case .microphone(let app, let taken):
            if taken { microphones.insert(app) } else { microphones.remove(app) }
        case .sensitiveContent(let app):
            for (id, session) in sessions {
                guard let own = clients[session.client]?.app, own.id == app, isReached(own) else { continue }
                sessions[id]?.isSensitive = true
            }
        case .operatorChose(let app): operatorChoice = app
        case .loginSession(let id, let facts): logins[id] = facts
        case .loginSessionEnded(let id): logins[id] = nil
        case .ownPrivacy(let user, let on):
            if on { privateUsers.insert(user) } else { privateUsers.remove(user) }
        case .answersForgotten(let user):
            answers = answers.filter { $0.key.id.user != user }
            denied = denied.filter { $0.user != user }
            privateUsers.remove(user)
        default: return takeMachine(event)
        }
        return true
    }

    private mutating func takeMachine(_ event: Event) -> Bool {
        switch event {
        case .cameraAppeared(let id, let capabilities, let seat):
            var camera = cameras[id] ?? Camera(position: capabilities.position, seat: seat)
            camera.position = capabilities.position
            camera.findsObjects = !capabilities.availableMetadataObjectTypes.isEmpty
            camera.seat = seat
            camera.capabilities = capabilities
            camera.isPresent = true
            cameras[id] = camera
        case .cameraDisappeared(let id): cameras[id]?.isPresent = false
        case .privacy(let id?, let on):
            guard cameras[id] != nil else { return false }
            cameras[id]?.isPrivate = on
        case .privacy(nil, let on): isPrivate = on
        case .heldOutside(let id, let held): cameras[id]?.isHeldOutside = held
        case .sleep(let asleep): isAsleep = asleep
        default: break
        }
        return true
    }

    /// A higher pressure counts at once, a lower one when it has lasted: since it first was as low as that.
    mutating func press(_ level: SystemPressure, settle: Duration) {
        if level >= pressure {
            (pressure, falling) = (level, [])
            return
        }
        let since = falling.filter { $0.level <= level }.map(\.until).min()
        falling.removeAll { $0.level <= level }
        falling.append((level, since ?? now + settle))
    }

    // MARK: Presence

    private mutating func attach(_ source: PresenceSource, _ user: UInt32?) {
        guard source == .shell || source == .agent else { return }
        if let index = speakers.firstIndex(where: { $0.source == source && $0.user == user }) {
            speakers[index].isThere = true
        } else {
            speakers.append(Speaker(source: source, user: user))
        }
    }

    private mutating func lose(_ source: PresenceSource, _ user: UInt32?) {
        guard let index = speakers.firstIndex(where: { $0.source == source && $0.user == user && $0.isThere }) else {
            return
        }
        speakers[index].isThere = false
        speakers[index].frozenUntil = now + Bound.sourceFreeze
        for (app, said) in said[source] ?? [:] where user == nil ? !said.isOwn : said.isOwn && app.user == user {
            self.said[source]?[app]?.isStale = true
        }
    }

    private mutating func say(_ app: AppID, _ place: Place, _ source: PresenceSource) {
        guard source == .shell || source == .agent else { return }
        // The focus is one for each user.
        if place.isFocused {
            for other in said[source, default: [:]].keys where other.user == app.user {
                said[source]?[other]?.place.isFocused = false
            }
        }
        // An event does not name the speaker: the one of this user alone is taken to say it, where it is there.
        let isOwn = speakers.contains { $0.source == source && $0.user == app.user && $0.isThere }
        said[source, default: [:]][app] = Said(place: place, isOwn: isOwn)
    }
}
