import Arbiter
public import ArbiterProtocol

/// Watches steps from outside and holds them to the contract: it knows the order of notices and orders (semantics §4 and §8),
/// and nothing of how the arbiter reaches them.
///
/// Its equality leaves out what only counts, so that exploration can make it part of a state. A walk copies and asks it
/// at every step: its memory is short arrays of plain values, and no sentence is made while all is well.
public struct ContractMonitor: Hashable, Sendable {
    package internal(set) var sessions: [Watched] = []
    /// In the order in which they first appeared, or were opened; there are few.
    package internal(set) var cameras: [WatchedCamera] = []
    /// Files that are not finished yet, those that still grow included. Not part of equality.
    var files: [File] = []
    /// Not part of equality.
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

    package mutating func become(_ other: borrowing ContractMonitor) {
        copyEach(&sessions, other.sessions)
        copyEach(&cameras, other.cameras)
        copyEach(&files, other.files)
        lastGrant = other.lastGrant
    }

    // MARK: What it has seen

    public func lastGrant(of camera: CameraID) -> GrantID? { place(of: camera).map { cameras[$0].grant } }
    public func exists(_ session: SessionID) -> Bool { watched(session)?.isClosed == false }
    /// Also of a closed session that still gets the end of a file: its id means that session until then.
    package func remembers(_ session: SessionID) -> Bool { place(of: session) != nil }
    public func warning(of session: SessionID) -> InterruptionID? {
        watched(session).flatMap { $0.isWarned ? $0.warning : nil }
    }
    /// The part of its memory that equality sees, for fingerprints.
    package func mark(of session: SessionID) -> UInt64 { watched(session)?.mark ?? 0 }
    package func mark(of camera: CameraID) -> UInt64 {
        place(of: camera).map { UInt64(cameras[$0].marks.rawValue) } ?? 0
    }
    public func isRunning(_ session: SessionID) -> Bool { watched(session)?.isRunning ?? false }
    public func isInterrupted(_ session: SessionID) -> Bool { watched(session)?.isInterrupted ?? false }
    public func hasUnfinishedRecording(_ session: SessionID) -> Bool { (watched(session)?.unfinished ?? 0) > 0 }

    // MARK: A step

    /// The violations of one step, as sentences.
    /// - Parameters:
    /// - wasDue: a deadline had come when the step was taken, so that it did more than its event asked for.
    /// - terms: the promises of a session's rank now; `nil` where nothing is held against the step.
    /// - eachOrder: receives the orders to recorders one after the other: going through effects copies each of them.
    public mutating func check(
        _ event: Event, _ effects: [Effect], at now: Moment, wasDue: Bool = false,
        terms: (SessionID, HoldMoment) -> HoldTerms? = { _, _ in nil }, eachOrder: (Effect) -> Void = { _ in }
    ) -> [String] {
        var wrong = Findings()
        let seen = Seen(event: event, effects: effects, now: now)
        before(event)
        // Deadlines come first, and nothing comes of a refused request: a refusal is the last effect.
        let isRefused = if case .refused? = effects.last { true } else { false }
        wrong.unless(
            !isRefused || effects.count == 1 || wasDue, "a refused request did something: \(effects.count - 1) effects")
        if !isRefused { accepted(event, &wrong) }
        for effect in effects {
            switch effect {
            case .notify(let client, let session, let sequence, let notice):
                notified(client, session, sequence, notice, seen, terms, &wrong)
                if holdsStarts { startsWhole(session, notice, seen, &wrong) }
            case .refused: wrong.unless(isRefused, "a refused request did something: \(effects.count - 1) effects")
            case .answered, .announce: break
            default:
                eachOrder(effect)
                order(effect, seen, terms, &wrong)
            }
        }
        for watched in sessions {
            let session = watched.session.rawValue
            wrong.unless(!watched.isRunning || !watched.isInterrupted, "session \(session) is running and interrupted")
            wrong.unless(!watched.isRecording || watched.isRunning, "session \(session) records and does not run")
        }
        after(event, isRefused: isRefused)
        return wrong.sentences
    }

    /// Changes of the world before the arbiter receives the event.
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
            cameras[place] = WatchedCamera(
                camera: camera, grant: survivor.grant, marks: [.open, .hasRecorder, .survives],
                recording: survivor.recording)
            if survivor.recording != nil { cameras[place].marks.insert(.survivorRecords) }
            lastGrant = max(lastGrant, survivor.grant.rawValue)
        default: break
        }
    }

    /// The camera is there, and nobody has had it yet: a recorder core may capture for another broker's grant.
    package func isUntouched(_ camera: CameraID) -> Bool { lastGrant(of: camera) == GrantID(0) }

    /// A session goes on with its grant: it runs, and records, as another broker had notified it.
    private mutating func reclaimed(_ session: SessionID, _ grant: GrantID, _ wrong: inout Findings) {
        let survivor = cameras.firstIndex { $0.grant == grant && $0.marks.contains([.open, .survives]) }
        guard let place = place(of: session), let survivor else {
            wrong.unless(false, "session \(session.rawValue) reclaims grant \(grant.rawValue), which nobody kept")
            return
        }
        wrong.unless(
            !sessions[place].isRunning && !sessions[place].isInterrupted,
            "session \(session.rawValue) reclaims a grant, and was told something already")
        sessions[place].marks.insert(.running)
        guard let recording = cameras[survivor].recording else { return }
        cameras[survivor].recording = nil
        cameras[survivor].marks.remove(.survivorRecords)
        if !files.contains(where: { $0.recording == recording }) { begin(recording, place) }
    }

    mutating func begin(_ recording: RecordingID, _ place: Int) {
        sessions[place].marks.insert(.recording)
        sessions[place].recording = recording
        sessions[place].unfinished += 1
        files.append(File(recording: recording, session: sessions[place].session))
    }

    private mutating func accepted(_ event: Event, _ wrong: inout Findings) {
        switch event {
        case .reclaimed(let session, let grant): reclaimed(session, grant, &wrong)
        case .created(let session, let client, _, _, _):
            forget(session)
            let place = sessions.firstIndex { $0.session > session } ?? sessions.endIndex
            sessions.insert(Watched(session: session, client: client), at: place)
        // A session that asks for control gets one notice for that, and perhaps one of the batch in force.
        case .configure(let session, let batch): expectBatches(session, batch[.sharingMode] == nil ? 1 : 2)
        case .commitConfiguration(let session): expectBatches(session, 1)
        case .ready(let session, let id):
            if let place = place(of: session), sessions[place].warning == id { sessions[place].isReady = true }
        case .policyLoaded: for place in sessions.indices { sessions[place].minHoldUntil = .zero }
        default: break
        }
    }

    private mutating func expectBatches(_ session: SessionID, _ count: UInt32) {
        if let place = place(of: session) { sessions[place].batchesDue &+= count }
    }

    private mutating func after(_ event: Event, isRefused: Bool) {
        switch event {
        case .disconnected(let client):
            while let watched = sessions.first(where: { $0.client == client }) { forget(watched.session) }
        case .closed(let session):
            guard !isRefused, let place = place(of: session) else { return }
            if sessions[place].unfinished == 0 { return forget(session) }
            sessions[place].marks = .closed
        case .recordingFinished(let id, _, _, _, _, _, _):
            // With the file's end a closed session is over.
            if let file = files.first(where: { $0.recording == id }), watched(file.session)?.isClosed == true {
                finished(file)
            }
        default: break
        }
    }

    mutating func finished(_ file: File) {
        files.removeAll { $0.recording == file.recording }
        guard let place = place(of: file.session) else { return }
        sessions[place].unfinished = max(0, sessions[place].unfinished - 1)
        if sessions[place].isClosed, sessions[place].unfinished == 0 { forget(file.session) }
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
            // The recorder's answers for another grant do not come any more.
            if let place = place(of: session) { sessions[place].batchesDue = 0 }
            holdMin(session, seen, terms)
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
                isMeant && isMarked(camera, grant, .survives),
                "\(camera.name) is resumed for a grant that is not reclaimed in this step")
            if let place = place(of: camera) { cameras[place].marks.remove(.survives) }
            holdMin(session, seen, terms)
        case .cut(let camera, let grant, _, _, _):
            wrong.unless(isMarked(camera, grant, .open), "\(camera.name) is cut for a grant that is not open")
            if let place = place(of: camera) { cameras[place].marks = [.cutting, .hasRecorder] }
        case .configure(let camera, let grant, let session, _):
            demandOpen(camera, grant, &wrong)
            if !seen.event.configures(session) { expectBatches(session, 1) }
        case .killRecorder(let camera):
            guard let place = place(of: camera), cameras[place].marks.contains(.hasRecorder) else { return }
            cameras[place].marks = [.cutting, .hasRecorder]
        case .pauseRecording(let camera, let recording), .resumeRecording(let camera, let recording),
            .appendMetadata(let camera, let recording):
            wrong.unless(
                sessions.contains { $0.recording == recording && $0.isRecording },
                "\(camera.name) gets an order for recording \(recording), which nobody makes")
        case .stopRecording(_, let recording, let why, _):
            // The notice that follows an interruption names it.
            for index in sessions.indices where why != .interrupted && sessions[index].recording == recording {
                sessions[index].marks.remove(.recording)
            }
        default: if let order = effect.order, let grant = order.grant { demandOpen(order.camera, grant, &wrong) }
        }
    }

    private mutating func holdMin(_ session: SessionID, _ seen: Seen, _ terms: Terms) {
        guard let place = place(of: session) else { return }
        sessions[place].minHoldUntil = minHoldUntil(sessions[place], seen, terms)
    }

    private func demandOpen(_ camera: CameraID, _ grant: GrantID, _ wrong: inout Findings) {
        wrong.unless(isMarked(camera, grant, .open), "\(camera.name) gets an order for a grant that is not open")
    }

    private func isMarked(_ camera: CameraID, _ grant: GrantID, _ mark: CameraMarks) -> Bool {
        cameras.contains { $0.camera == camera && $0.grant == grant && $0.marks.contains(mark) }
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

    private func watched(_ session: SessionID) -> Watched? { place(of: session).map { sessions[$0] } }
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
