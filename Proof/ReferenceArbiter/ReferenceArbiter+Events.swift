package import ArbiterProtocol

/// Events as facts of the reference's world.
extension ReferenceArbiter {
    /// - Returns: false where the event is refused, and changed nothing.
    package mutating func take(_ event: Event) -> Bool {
        var occasion = Occasion()
        switch event {
        case .connected, .declared, .declaredPresence, .loweredPriority, .loweredAttribute, .disconnected:
            guard takeClient(event) else { return false }
        case .created(let id, let client, let camera, let configuration, let reestablished):
            create(id, client, camera, configuration, reestablished)
        case .startRunning(let id):
            guard let session = world.sessions[id], session.batches == 0 else { return false }
            guard session.started == nil else { break }
            guard mayStart(id) else { return false }
            let before = self
            world.sessions[id]?.started = world.ticks + 1
            world.ticks += 1
            if judge(Occasion(starter: id, isStart: true)) { return true }
            self = before
            return false
        case .beginConfiguration(let id): world.sessions[id]?.batches += 1
        case .commitConfiguration(let id):
            guard hasRoom(for: event), commit(id, &occasion) else { return false }
        case .configure(let id, let batch):
            guard hasRoom(for: event) else { return false }
            if let session = world.sessions[id], session.batches > 0 {
                world.sessions[id]?.batch.merge(batch)
            } else {
                guard apply(batch, id, &occasion) else { return false }
            }
        case .stopRunning, .attachMicrophone, .startRecording, .stopRecording, .pauseRecording, .resumeRecording,
            .appendMetadata, .ready, .continueAfterSensitiveContent, .closed:
            guard takeRequest(event) else { return false }
        case .reclaimed(let id, let grant): guard reclaim(id, grant) else { return false }
        case .reserved(let camera, let app, let survivor):
            let kept = survivor.map { (grant: $0.grant, recording: $0.recording) }
            keep(camera, for: app, until: world.now + Bound.reservation, kept)
        case .policyLoaded(let policy):
            let isOther = self.policy != policy
            if isOther { for camera in world.cameras.keys { endSurvivor(on: camera) } }
            load(policy, isOther: isOther)
            occasion.isReload = isOther
        case .pressure(let level): world.press(level, settle: policy.pressureSettle)
        case .answered(let app, let isClaimed, let answer, let origin):
            guard say(ReferenceWorld.App(app, isClaimed: isClaimed), answer, inStore: origin == .permissionStore) else {
                return false
            }
        case .stoppedByUser(let app): guard stop(named: app) else { return false }
        case .modeSet(let name, let setter): guard setMode(name, by: setter) else { return false }
        case .calendar(let name): world.calendarMode = name
        case .attribute(let app, let name, let value): guard tell(app, name, value) else { return false }
        default: guard world.take(event) else { return false }
        }
        if case .cameraAppeared(let camera, _, _) = event { lookAtPictures(on: camera) }
        judge(occasion)
        return true
    }

    private mutating func takeClient(_ event: Event) -> Bool {
        switch event {
        case .connected(let id, let app, let identity):
            if world.clients[id] != nil { break }
            world.clients[id] = ReferenceWorld.Client(
                app: ReferenceWorld.App(app, isClaimed: !identity.isVerified), identity: identity)
        case .declared(let id, let attributes): return declare(id, attributes)
        case .declaredPresence(let id, let presence, let focused):
            guard let app = world.clients[id]?.app else { break }
            world.declared[app] = ReferenceWorld.Place(presence: presence, isFocused: focused)
        case .loweredPriority(let id, let rank): return world.clients[id] == nil || lower(id, to: rank)
        case .loweredAttribute(let id, let name, let value):
            return world.clients[id] == nil || lower(id, name, to: value)
        case .disconnected(let id):
            for (session, state) in world.sessions where state.client == id { end(session) }
            let app = world.clients.removeValue(forKey: id)?.app
            forgetDeclared(app)
        default: break
        }
        return true
    }

    /// The name and the kind are fixed with the first session.
    private mutating func declare(_ id: ClientID, _ attributes: ClientAttributes) -> Bool {
        guard var client = world.clients[id] else { return true }
        let name = attributes.claimedApp ?? client.claimedName
        let isFixed = world.sessions.values.contains { $0.client == id }
        if isFixed, name != client.claimedName || attributes.kind != client.kind { return false }
        let before = client.app
        client.claimedName = name
        client.kind = attributes.kind
        client.multitasking = attributes.multitasking
        client.requiresFullScreen = attributes.requiresFullScreen
        // A client without a vouched app belongs to the app that it names.
        if let name, before.isClaimed {
            client.app = ReferenceWorld.App(AppID(name, user: before.id.user), isClaimed: true)
        }
        world.clients[id] = client
        forgetDeclared(before)
        return true
    }

    /// An app's words about itself end with its last client.
    private mutating func forgetDeclared(_ app: ReferenceWorld.App?) {
        if let app, !world.clients.values.contains(where: { $0.app == app }) { world.declared[app] = nil }
    }

    private mutating func create(
        _ id: SessionID, _ client: ClientID, _ camera: CameraID?, _ configuration: Configuration, _ reestablished: Bool
    ) {
        let back = world.cameras.filter { $0.value.isPresent && $0.value.position == .back }
        guard world.sessions[id] == nil, world.clients[client] != nil,
            let camera = camera ?? back.keys.min() ?? world.cameras.keys.min()
        else { return }
        var session = ReferenceWorld.Session(client: client, camera: camera)
        session.usesAudio = configuration[.usesAudio] == .flag(true)
        session.watches = configuration[.sharingMode] == .text("sharedReadOnly")
        session.isReestablished = reestablished
        world.sessions[id] = session
        ask(configuration, id)
    }

    private mutating func end(_ id: SessionID) {
        leave(id)
        world.sessions[id] = nil
    }

    private mutating func takeRequest(_ event: Event) -> Bool {
        func mayRecord(_ id: SessionID) -> Bool {
            if case .running(let access)? = judgement.sessions[id] { access.contains(.record) } else { false }
        }
        switch event {
        case .stopRunning(let id):
            guard let session = world.sessions[id] else { return false }
            if session.started != nil { stop(id) }
        case .ready(let id, _):
            guard let camera = world.sessions[id]?.camera, let holding = world.cameras[camera]?.holding,
                holding.session == id, holding.warning?.toldUntil != nil
            else { return false }
            world.cameras[camera]?.holding?.warning?.isReady = true
        case .continueAfterSensitiveContent(let id):
            guard world.sessions[id] != nil else { return false }
            world.sessions[id]?.isSensitive = false
        case .closed(let id):
            guard world.sessions[id] != nil else { return false }
            end(id)
        case .attachMicrophone(let id, _):
            guard mayRecord(id), world.sessions[id]?.usesAudio == true, !isSharer(id) else { return false }
            world.sessions[id]?.hasMicrophone = true
        case .startRecording(let id, let options):
            guard let session = world.sessions[id], mayRecord(id), !judgement.recording.contains(id),
                recordings(on: session.camera) < Bound.recordingsMax,
                // A sharer's recording has no sound.
                session.hasMicrophone || !session.usesAudio || isSharer(id),
                world.cameras[session.camera]?.findsObjects == true
                    || !options.metadata.contains(where: { $0.type == .objects })
            else { return false }
            world.sessions[id]?.isRecording = true
            world.sessions[id]?.isPaused = false
        case .stopRecording(let id):
            guard judgement.recording.contains(id) else { return false }
            world.sessions[id]?.isRecording = false
            world.sessions[id]?.isPaused = false
        case .pauseRecording(let id):
            guard judgement.recording.contains(id), world.sessions[id]?.isPaused == false else { return false }
            world.sessions[id]?.isPaused = true
        case .resumeRecording(let id):
            guard judgement.recording.contains(id), world.sessions[id]?.isPaused == true else { return false }
            world.sessions[id]?.isPaused = false
        case .appendMetadata(let id): return judgement.recording.contains(id)
        default: break
        }
        return true
    }

    private mutating func commit(_ id: SessionID, _ occasion: inout Occasion) -> Bool {
        guard let session = world.sessions[id] else { return true }
        world.sessions[id]?.batches -= 1
        if session.batches > 1 { return true }
        world.sessions[id]?.batch = Configuration()
        return apply(session.batch, id, &occasion)
    }

    /// Refused or not, the batch is closed.
    package mutating func closeBatch(_ id: SessionID) {
        guard let session = world.sessions[id], session.batches > 0 else { return }
        world.sessions[id]?.batches -= 1
        if session.batches == 1 { world.sessions[id]?.batch = Configuration() }
    }

    mutating func takeOwnKeys(_ batch: Configuration, _ id: SessionID) {
        if let audio = batch[.usesAudio] {
            world.sessions[id]?.usesAudio = audio == .flag(true)
            if audio != .flag(true) { world.sessions[id]?.hasMicrophone = false }
        }
        if let mode = batch[.sharingMode] { world.sessions[id]?.watches = mode == .text("sharedReadOnly") }
    }

    /// A session that asks for control is decided like a start.
    /// - Returns: false where the batch is refused.
    private mutating func apply(_ batch: Configuration, _ id: SessionID, _ occasion: inout Occasion) -> Bool {
        guard let session = world.sessions[id] else { return true }
        let before = self
        takeOwnKeys(batch, id)
        guard case .text(let name)? = batch[.camera], CameraID(name) != session.camera else {
            if mayExceed(with: batch, id) { world.sessions[id]?.exceeds = true }
            ask(batch, id)
            if takesControl(with: batch, id) {
                if endsRecordingOfHolder(id) {
                    self = before
                    return false
                }
                occasion.taker = id
            }
            if session.watches, batch[.sharingMode] == .text("exclusiveControl") { occasion.starter = id }
            return true
        }
        if judgement.recording.contains(id) { return false }
        // Its start request, and the request's age, stay.
        leave(id)
        world.sessions[id]?.camera = CameraID(name)
        world.sessions[id]?.bidSince = nil
        world.sessions[id]?.hasRun = false
        takePresetAlong(from: session.camera, id)
        ask(batch, id)
        return true
    }
}

extension ReferenceWorld {
    /// Events of shells, operators, logind and the machine.
    /// - Returns: false where the event names an unknown camera.
    mutating func take(_ event: Event) -> Bool {
        switch event {
        case .sourceAttached(let source, let user): attach(source, user)
        case .sourceGone(let source, let user): lose(source, user)
        case .placed(let app, let presence, let focused, let source):
            say(app, Place(presence: presence, isFocused: focused), source)
        case .unplaced(let app, let source): said[source]?[app] = nil
        case .microphone(let app, let taken): if taken { microphones.insert(app) } else { microphones.remove(app) }
        case .sensitiveContent(let app):
            for (id, session) in sessions {
                guard let own = clients[session.client]?.app, own.id == app, isReached(own) else { continue }
                sessions[id]?.isSensitive = true
            }
        case .operatorChose(let app): operatorChoice = app
        case .loginSession(let id, let facts): logins[id] = facts
        case .loginSessionEnded(let id): logins[id] = nil
        case .ownPrivacy(let user, let on): if on { privateUsers.insert(user) } else { privateUsers.remove(user) }
        case .answersForgotten(let user):
            answers = answers.filter { $0.key.id.user != user }
            denied = denied.filter { $0.user != user }
            privateUsers.remove(user)
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

    /// A higher pressure counts at once, a lower one once it has lasted.
    mutating func press(_ level: SystemPressure, settle: Duration) {
        if level >= pressure {
            (pressure, falling) = (level, [])
            return
        }
        let since = falling.filter { $0.level <= level }.map(\.until).min()
        falling.removeAll { $0.level <= level }
        falling.append((level, since ?? now + settle))
    }

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
        // Each user has one focus.
        if place.isFocused {
            for other in said[source, default: [:]].keys where other.user == app.user {
                said[source]?[other]?.place.isFocused = false
            }
        }
        // An event does not name the speaker: it is this user's own, where that is attached.
        let isOwn = speakers.contains { $0.source == source && $0.user == app.user && $0.isThere }
        said[source, default: [:]][app] = Said(place: place, isOwn: isOwn)
    }
}
