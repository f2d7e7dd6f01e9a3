import Arbiter
public import ArbiterProtocol

/// Watches a trace from outside and holds it to the contract: it knows the order of notices and
/// orders (semantics §4 and §8), and nothing of how the arbiter reaches them.
///
/// Its equality leaves out what only counts, so that exploration can make it part of a state. A walk copies and asks it
/// at every step: what it remembers are short arrays of plain values, and no sentence is made while all is well.
public struct TraceChecker: Hashable, Sendable {
    package internal(set) var sessions: [Watched] = []
    /// In the order in which they first appeared, or were opened; there are few.
    package internal(set) var cameras: [WatchedCamera] = []
    /// Files that are not finished yet, those that still grow included. What only counts.
    var files: [File] = []
    /// What only counts.
    var lastGrant: UInt64 = 0
    /// Whether a session must start in one step and in the order of semantics §4. A core that ends an interruption when
    /// it grants the camera, before there is a frame, does not.
    let holdsStarts: Bool

    public init(holdsStarts: Bool = true) { self.holdsStarts = holdsStarts }
    public static func == (a: Self, b: Self) -> Bool { a.sessions == b.sessions && a.cameras == b.cameras }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(sessions)
        hasher.combine(cameras)
    }

    package mutating func become(_ other: borrowing TraceChecker) {
        copyEach(&sessions, other.sessions)
        copyEach(&cameras, other.cameras)
        copyEach(&files, other.files)
        lastGrant = other.lastGrant
    }

    // MARK: What it has seen

    public func lastGrant(of camera: CameraID) -> GrantID? { place(of: camera).map { cameras[$0].grant } }
    public func exists(_ session: SessionID) -> Bool {
        let marks = marks(of: session)
        return marks.contains(.exists) && !marks.contains(.closed)
    }
    /// Also one that is closed and owed the end of a file: its id means that session until then.
    package func remembers(_ session: SessionID) -> Bool { place(of: session) != nil }
    /// The warning that a session may answer with `Ready`.
    public func warning(of session: SessionID) -> InterruptionID? {
        place(of: session).flatMap { sessions[$0].marks.contains(.warned) ? sessions[$0].warning : nil }
    }
    /// What it remembers of a session, and of a camera, apart from what only counts: for fingerprints.
    package func mark(of session: SessionID) -> UInt64 { place(of: session).map { sessions[$0].mark } ?? 0 }
    package func mark(of camera: CameraID) -> UInt64 {
        place(of: camera).map { UInt64(cameras[$0].marks.rawValue) } ?? 0
    }
    public func isRunning(_ session: SessionID) -> Bool { marks(of: session).contains(.running) }
    public func isInterrupted(_ session: SessionID) -> Bool { marks(of: session).contains(.interrupted) }
    public func hasUnfinishedRecording(_ session: SessionID) -> Bool {
        place(of: session).map { sessions[$0].unfinished > 0 } ?? false
    }

    // MARK: A step

    /// What one step did wrong, as sentences; empty when all is well.
    /// - Parameters:
    ///   - wasDue: a deadline had come when the step was taken, so that it did more than its event asked for.
    ///   - terms: what a session's rank promises it now, and nil where nothing is held against the step.
    ///   - eachOrder: is given what recorders have to do, one after the other: going through effects copies each of them.
    public mutating func check(
        _ event: Event, _ effects: [Effect], at now: Moment, wasDue: Bool = false,
        terms: (SessionID, HoldMoment) -> HoldTerms? = { _, _ in nil }, eachOrder: (Effect) -> Void = { _ in }
    ) -> [String] {
        var wrong = Findings()
        check(Seen(event: event, effects: effects, now: now), wasDue, terms, eachOrder, &wrong)
        return wrong.sentences
    }

    private mutating func check(
        _ seen: Seen, _ wasDue: Bool, _ terms: Terms, _ eachOrder: (Effect) -> Void, _ wrong: inout Findings
    ) {
        let (event, effects) = (seen.event, seen.effects)
        before(event)
        // What was due before comes first, and nothing comes of what is refused: a refusal is the last effect.
        let isRefused = if case .refused? = effects.last { true } else { false }
        wrong.unless(
            !isRefused || effects.count == 1 || wasDue, "a refused request did something: \(effects.count - 1) effects")
        if !isRefused { accepted(event, &wrong) }
        for effect in effects {
            switch effect {
            case .notify(let client, let session, let sequence, let notice):
                notified(client, session, sequence, notice, seen, terms, &wrong)
                if holdsStarts { startsWhole(session, notice, seen, &wrong) }
            case .open, .resume, .cut, .killRecorder, .configure, .openStream, .closeStreams, .capturePhoto,
                .capturePhotoBracket, .attachMicrophone, .detachMicrophone, .startRecording, .pauseRecording,
                .resumeRecording, .appendMetadata, .setSlate:
                eachOrder(effect)
                order(effect, seen, terms, &wrong)
            case .stopRecording(_, let recording, let why, _):
                eachOrder(effect)
                // The notice that follows an interruption names it.
                for index in sessions.indices where why != .interrupted && sessions[index].recording == recording {
                    sessions[index].marks.remove(.recording)
                }
            case .refused: wrong.unless(isRefused, "a refused request did something: \(effects.count - 1) effects")
            case .answered, .announce: break
            }
        }
        for place in sessions.indices {
            let (session, marks) = (sessions[place].session.rawValue, sessions[place].marks)
            wrong.unless(!marks.contains([.running, .interrupted]), "session \(session) is running and interrupted")
            wrong.unless(
                !marks.contains(.recording) || marks.contains(.running), "session \(session) records and does not run")
        }
        after(event, isRefused: isRefused)
    }

    /// What the world did before the arbiter heard of it.
    private mutating func before(_ event: Event) {
        switch event {
        case .recorderCut(let camera, let grant):
            guard let place = place(of: camera), cameras[place].grant == grant else { return }
            cameras[place].marks.remove(.cutting)
            if cameras[place].marks.contains(.survives) { cameras[place].marks = [] }
        case .recorderGone(let camera): if let place = place(of: camera) { cameras[place].marks = [] }
        case .recordingFinished(let recording, _, _, _, _, _, _):
            for place in cameras.indices where cameras[place].recording == recording {
                cameras[place].recording = nil
                cameras[place].marks.remove(.survivorRecords)
            }
        case .cameraAppeared(let camera, _, _):
            if place(of: camera) == nil { cameras.append(WatchedCamera(camera: camera, grant: GrantID(0))) }
        case .reserved(let camera, _, let survivor?) where isUntouched(camera) && survivor.isCredible:
            guard let place = place(of: camera) else { return }
            let marks: CameraMarks = [.open, .hasRecorder, .survives]
            cameras[place] = WatchedCamera(
                camera: camera, grant: survivor.grant,
                marks: survivor.recording == nil ? marks : marks.union(.survivorRecords), recording: survivor.recording)
            lastGrant = max(lastGrant, survivor.grant.rawValue)
        default: break
        }
    }

    /// The camera is there, and nobody has had it yet: a recorder core may capture for another broker's grant.
    package func isUntouched(_ camera: CameraID) -> Bool { lastGrant(of: camera) == GrantID(0) }

    /// A session goes on with its grant: it runs, as it was told by another broker, and records what it recorded.
    private mutating func reclaimed(_ session: SessionID, _ grant: GrantID, _ wrong: inout Findings) {
        let survivor = cameras.firstIndex { $0.grant == grant && $0.marks.contains([.open, .survives]) }
        guard let place = place(of: session), let survivor else {
            wrong.unless(false, "session \(session.rawValue) reclaims grant \(grant.rawValue), which nobody kept")
            return
        }
        wrong.unless(
            sessions[place].marks.isDisjoint(with: [.running, .interrupted]),
            "session \(session.rawValue) reclaims a grant, and was told something already")
        sessions[place].marks.insert(.running)
        guard let recording = cameras[survivor].recording else { return }
        cameras[survivor].recording = nil
        cameras[survivor].marks.remove(.survivorRecords)
        if files.contains(where: { $0.recording == recording }) { return }
        sessions[place].marks.insert(.recording)
        sessions[place].recording = recording
        sessions[place].unfinished += 1
        files.append(File(recording: recording, session: session))
    }

    private mutating func accepted(_ event: Event, _ wrong: inout Findings) {
        switch event {
        case .reclaimed(let session, let grant): reclaimed(session, grant, &wrong)
        case .created(let session, let client, _, _, _):
            forget(session)
            let place = sessions.firstIndex { $0.session > session } ?? sessions.endIndex
            sessions.insert(Watched(session: session, client: client), at: place)
        case .configure(let session, let batch):
            // A session that asks for control is told that it has it, and may be told what is in force with it.
            let count: UInt32 = batch[.sharingMode] == nil ? 1 : 2
            if let place = place(of: session) { sessions[place].batchesDue &+= count }
        case .commitConfiguration(let session): if let place = place(of: session) { sessions[place].batchesDue &+= 1 }
        case .ready(let session, let id):
            if let place = place(of: session), sessions[place].warning == id { sessions[place].isReady = true }
        case .policyLoaded: for place in sessions.indices { sessions[place].minHoldUntil = .zero }
        default: break
        }
    }

    private mutating func after(_ event: Event, isRefused: Bool) {
        switch event {
        case .disconnected(let client):
            // Nobody is left to be told anything.
            while let watched = sessions.first(where: { $0.client == client }) { forget(watched.session) }
        case .closed(let session):
            guard !isRefused, let place = place(of: session) else { return }
            if sessions[place].unfinished == 0 { return forget(session) }
            sessions[place].marks = .closed
        case .recordingFinished(let id, _, _, _, _, _, _):
            // With the file's end a closed session is over, told or not.
            guard let file = files.first(where: { $0.recording == id }), marks(of: file.session).contains(.closed)
            else { return }
            finished(file)
        default: break
        }
    }

    mutating func finished(_ file: File) {
        files.removeAll { $0.recording == file.recording }
        guard let place = place(of: file.session) else { return }
        sessions[place].unfinished = max(0, sessions[place].unfinished - 1)
        if sessions[place].marks.contains(.closed), sessions[place].unfinished == 0 { forget(file.session) }
    }

    private mutating func forget(_ session: SessionID) {
        guard let place = place(of: session) else { return }
        sessions.remove(at: place)
        if files.contains(where: { $0.session == session }) { files.removeAll { $0.session == session } }
    }

    // MARK: Orders

    private mutating func order(_ effect: Effect, _ seen: Seen, _ terms: Terms, _ wrong: inout Findings) {
        switch effect {
        case .open(let camera, let grant, let session, _):
            // The recorder will not say any more what it still owed for another grant.
            if let place = place(of: session) {
                sessions[place].batchesDue = 0
                sessions[place].minHoldUntil = minHoldUntil(sessions[place], seen, terms)
            }
            let place = place(of: camera) ?? cameras.endIndex
            if place == cameras.endIndex { cameras.append(WatchedCamera(camera: camera, grant: grant)) }
            let marks = cameras[place].marks
            wrong.unless(!marks.contains(.open), "\(camera.name) is opened for a second grant")
            wrong.unless(!marks.contains(.cutting), "\(camera.name) is opened before the last grant is cut")
            wrong.unless(grant.rawValue > lastGrant, "grant \(grant.rawValue) does not grow")
            lastGrant = max(lastGrant, grant.rawValue)
            cameras[place] = WatchedCamera(camera: camera, grant: grant, marks: [.open, .hasRecorder])
        case .resume(let camera, let grant, let session, _):
            let isMeant = if case .reclaimed(session, grant) = seen.event { true } else { false }
            wrong.unless(
                isMeant
                    && cameras.contains { $0.camera == camera && $0.grant == grant && $0.marks.contains(.survives) },
                "\(camera.name) is resumed for a grant that is not reclaimed in this step")
            if let place = place(of: camera) { cameras[place].marks.remove(.survives) }
            if let place = place(of: session) {
                sessions[place].minHoldUntil = minHoldUntil(sessions[place], seen, terms)
            }
        case .cut(let camera, let grant, _, _, _):
            wrong.unless(isOpen(camera, grant), "\(camera.name) is cut for a grant that is not open")
            if let place = place(of: camera) { cameras[place].marks = [.cutting, .hasRecorder] }
        case .configure(let camera, let grant, let session, _):
            wrong.unless(isOpen(camera, grant), "\(camera.name) gets an order for a grant that is not open")
            if !seen.event.configures(session), let place = place(of: session) { sessions[place].batchesDue &+= 1 }
        case .openStream(let camera, let grant, _), .closeStreams(let camera, let grant, _),
            .capturePhoto(let camera, let grant, _, _), .capturePhotoBracket(let camera, let grant, _, _, _),
            .attachMicrophone(let camera, let grant, _, _), .detachMicrophone(let camera, let grant),
            .startRecording(let camera, let grant, _, _), .setSlate(let camera, let grant, _, _):
            wrong.unless(isOpen(camera, grant), "\(camera.name) gets an order for a grant that is not open")
        case .killRecorder(let camera):
            guard let place = place(of: camera), cameras[place].marks.contains(.hasRecorder) else { return }
            cameras[place].marks = [.cutting, .hasRecorder]
        case .pauseRecording(let camera, let recording), .resumeRecording(let camera, let recording),
            .appendMetadata(let camera, let recording):
            wrong.unless(
                sessions.contains { $0.recording == recording && $0.marks.contains(.recording) },
                "\(camera.name) gets an order for recording \(recording), which nobody makes")
        case .stopRecording, .refused, .answered, .notify, .announce: break
        }
    }

    private func isOpen(_ camera: CameraID, _ grant: GrantID) -> Bool {
        cameras.contains { $0.camera == camera && $0.grant == grant && $0.marks.contains(.open) }
    }

    // MARK: Places

    func place(of session: SessionID) -> Int? {
        var (low, high) = (0, sessions.count)
        while low < high {
            let middle = (low + high) / 2
            if sessions[middle].session < session { low = middle + 1 } else { high = middle }
        }
        return low < sessions.count && sessions[low].session == session ? low : nil
    }

    private func marks(of session: SessionID) -> SessionMarks { place(of: session).map { sessions[$0].marks } ?? [] }
    private func place(of camera: CameraID) -> Int? { cameras.firstIndex { $0.camera == camera } }
}

extension Event {
    fileprivate func configures(_ session: SessionID) -> Bool {
        switch self {
        case .configure(session, _), .commitConfiguration(session): true
        default: false
        }
    }
}
