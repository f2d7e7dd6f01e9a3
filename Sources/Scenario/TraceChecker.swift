public import Arbiter
public import ArbiterProtocol

/// Watches a trace from outside and holds it to the contract: it knows the order of notices and
/// orders (semantics §4 and §8), and nothing of how the arbiter reaches them.
///
/// Its equality leaves out what only counts, so that exploration can make it part of a state.
public struct TraceChecker: Hashable, Sendable {
    private var sessions: SmallMap<SessionID, Watched> = [:]
    private var cameras: SmallMap<CameraID, WatchedCamera> = [:]
    private var ids = Ids()

    private struct Watched: Hashable {
        var client: ClientID
        var isRunning = false
        var isInterrupted = false
        var isWarned = false
        var isRecording = false
        /// Files that are not finished yet, the running one included.
        var unfinished = 0
    }

    private struct WatchedCamera: Hashable {
        var isOpen = false
        var isCutting = false
    }

    /// What grows with every event: outside of equality.
    private struct Ids: Hashable {
        var sequences: SmallMap<SessionID, UInt64> = [:]
        var interruptions: SmallMap<SessionID, InterruptionID> = [:]
        var lastInterruptions: SmallMap<SessionID, InterruptionID> = [:]
        var warnings: SmallMap<SessionID, InterruptionID> = [:]
        var recordings: SmallMap<SessionID, RecordingID> = [:]
        var unfinished: SmallMap<RecordingID, SessionID> = [:]
        var grants: SmallMap<CameraID, GrantID> = [:]
        var lastGrant: UInt64 = 0

        static func == (a: Ids, b: Ids) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    public init() {}

    /// What its equality sees, as part of an explored state.
    package func write(into writer: inout FingerprintWriter) {
        writer.unordered(sessions) { writer, entry in
            let watched = entry.value
            writer.combine(entry.key)
            writer.combine(watched.client)
            writer.combine(watched.isRunning, watched.isInterrupted, watched.isWarned, watched.isRecording)
            writer.combine(watched.unfinished)
        }
        writer.unordered(cameras) { writer, entry in
            writer.combine(entry.key)
            writer.combine(entry.value.isOpen, entry.value.isCutting)
        }
    }

    public func lastGrant(of camera: CameraID) -> GrantID? { ids.grants[camera] }
    public func exists(_ session: SessionID) -> Bool { sessions[session] != nil }
    /// The warning that a session may answer with `Ready`.
    public func warning(of session: SessionID) -> InterruptionID? {
        sessions[session]?.isWarned == true ? ids.warnings[session] : nil
    }
    /// What it remembers of a session, and of a camera, apart from what only counts: for fingerprints.
    package func mark(of session: SessionID) -> UInt64 {
        guard let watched = sessions[session] else { return 0 }
        return 1 | (watched.isRunning ? 2 : 0) | (watched.isInterrupted ? 4 : 0) | (watched.isWarned ? 8 : 0)
            | (watched.isRecording ? 16 : 0) | UInt64(watched.unfinished) << 5
    }
    package func mark(of camera: CameraID) -> UInt64 {
        guard let watched = cameras[camera] else { return 0 }
        return (watched.isOpen ? 1 : 0) | (watched.isCutting ? 2 : 0)
    }
    public func isRunning(_ session: SessionID) -> Bool { sessions[session]?.isRunning ?? false }
    public func isInterrupted(_ session: SessionID) -> Bool { sessions[session]?.isInterrupted ?? false }
    public func hasUnfinishedRecording(_ session: SessionID) -> Bool { (sessions[session]?.unfinished ?? 0) > 0 }

    /// What one step did wrong, as sentences; empty when all is well.
    public mutating func check(_ event: Event, _ effects: [Effect], at now: Moment) -> [String] {
        var wrong: [String] = []
        before(event)
        let isRefused = effects.contains { if case .refused = $0 { true } else { false } }
        if isRefused, effects.count > 1 {
            wrong.append("a refused request did something: \(effects.count - 1) effects")
        }
        if case .created(let session, let client, _, _, _) = event, !isRefused {
            sessions[session] = Watched(client: client)
        }
        for effect in effects {
            switch effect {
            case .notify(let client, let session, let sequence, let event):
                let expected = (ids.sequences[session] ?? 0) + 1
                if sequence != expected {
                    wrong.append("session \(session.rawValue): notice \(sequence) follows \(expected - 1)")
                }
                ids.sequences[session] = sequence
                guard var watched = sessions[session] else {
                    wrong.append("session \(session.rawValue) is gone, and gets \(event.wireName)")
                    continue
                }
                if watched.client != client {
                    wrong.append("session \(session.rawValue): \(event.wireName) goes to another client")
                }
                wrong += notice(session, &watched, event, now).map { "session \(session.rawValue): \($0)" }
                sessions[session] = watched
            case .open, .cut, .killRecorder, .configure, .openStream, .closeStreams, .capturePhoto, .startRecording:
                wrong += order(effect)
            case .stopRecording(_, let recording, _):
                for (session, id) in ids.recordings where id == recording { sessions[session]?.isRecording = false }
            case .refused, .answered, .announce: break
            }
        }
        for (session, watched) in contradicting() {
            if watched.isRunning, watched.isInterrupted {
                wrong.append("session \(session.rawValue) is running and interrupted")
            }
            if watched.isRecording, !watched.isRunning {
                wrong.append("session \(session.rawValue) records and does not run")
            }
        }
        after(event)
        return wrong
    }

    /// Who runs and is interrupted, or records and does not run; mostly nobody.
    private func contradicting() -> [(key: SessionID, value: Watched)] {
        var found: [(key: SessionID, value: Watched)] = []
        for (session, watched) in sessions
        where watched.isRunning ? watched.isInterrupted : watched.isRecording { found.append((session, watched)) }
        return found.count > 1 ? found.sorted { $0.key < $1.key } : found
    }

    /// What the world did before the arbiter heard of it.
    private mutating func before(_ event: Event) {
        switch event {
        case .recorderCut(let camera, let grant):
            if ids.grants[camera] == grant { cameras[camera]?.isCutting = false }
        case .recorderGone(let camera): cameras[camera] = nil
        default: break
        }
    }

    private mutating func after(_ event: Event) {
        switch event {
        case .disconnected(let client):
            for (id, watched) in sessions where watched.client == client { forget(id) }
        case .closed(let session): forget(session)
        default: break
        }
    }

    private mutating func forget(_ session: SessionID) {
        sessions[session] = nil
        ids.sequences[session] = nil
        ids.interruptions[session] = nil
        ids.lastInterruptions[session] = nil
        ids.warnings[session] = nil
        ids.recordings[session] = nil
        ids.unfinished = ids.unfinished.filter { $0.value != session }
    }

    // MARK: Orders

    private mutating func order(_ effect: Effect) -> [String] {
        switch effect {
        case .open(let camera, let grant, _, _):
            var wrong: [String] = []
            if cameras[camera]?.isOpen ?? false { wrong.append("\(camera.name) is opened for a second grant") }
            if cameras[camera]?.isCutting ?? false {
                wrong.append("\(camera.name) is opened before the last grant is cut")
            }
            if grant.rawValue <= ids.lastGrant { wrong.append("grant \(grant.rawValue) does not grow") }
            ids.lastGrant = max(ids.lastGrant, grant.rawValue)
            ids.grants[camera] = grant
            cameras[camera] = WatchedCamera(isOpen: true)
            return wrong
        case .cut(let camera, let grant, _):
            let wasOpen = cameras[camera]?.isOpen ?? false
            cameras[camera] = WatchedCamera(isOpen: false, isCutting: true)
            return !wasOpen || ids.grants[camera] != grant ? ["\(camera.name) is cut for a grant that is not open"] : []
        case .configure(let camera, let grant, _, _), .openStream(let camera, let grant, _),
            .closeStreams(let camera, let grant, _), .capturePhoto(let camera, let grant, _, _),
            .startRecording(let camera, let grant, _, _):
            let isOpen = cameras[camera]?.isOpen ?? false
            return !isOpen || ids.grants[camera] != grant
                ? ["\(camera.name) gets an order for a grant that is not open"] : []
        case .killRecorder(let camera):
            cameras[camera]?.isOpen = false
            cameras[camera]?.isCutting = true
            return []
        case .stopRecording, .refused, .answered, .notify, .announce: return []
        }
    }

    // MARK: Notices

    private mutating func notice(
        _ session: SessionID, _ watched: inout Watched, _ event: SessionEvent, _ now: Moment
    ) -> [String] {
        let name = event.wireName
        func unless(_ condition: Bool, _ sentence: String) -> [String] { condition ? [] : ["\(name) \(sentence)"] }
        switch event {
        case .willBeInterrupted(let id, let cause, let deadline, _):
            let wrong =
                unless(watched.isRunning, "for a session that does not run")
                + unless(!watched.isWarned, "while a warning stands")
                + unless(cause == .videoDeviceInUseByAnotherClient, "for a cause other than device-in-use")
                + unless(deadline > now, "with a deadline that has passed")
                + unless(id > ids.lastInterruptions[session] ?? 0, "with an old id")
            watched.isWarned = true
            ids.warnings[session] = id
            ids.lastInterruptions[session] = id
            return wrong
        case .interruptionWithdrawn(let id):
            let wrong = unless(watched.isWarned && ids.warnings[session] == id, "without its warning")
            watched.isWarned = false
            return wrong
        case .wasInterrupted(let id, let causes, _, let cutting, _):
            let isFresh = watched.isWarned ? ids.warnings[session] == id : id > ids.lastInterruptions[session] ?? 0
            let wrong =
                unless(!watched.isInterrupted, "while interrupted") + unless(!causes.isEmpty, "without a cause")
                + unless(isFresh, "with an id that is not its own")
                + unless(cutting == (watched.isRecording ? ids.recordings[session] : nil), "names another recording")
            watched.isInterrupted = true
            watched.isWarned = false
            watched.isRecording = false
            ids.interruptions[session] = id
            ids.lastInterruptions[session] = max(id, ids.lastInterruptions[session] ?? 0)
            return wrong
        case .interruptionChanged(let id, let causes, _):
            return unless(watched.isInterrupted && ids.interruptions[session] == id, "of another interruption")
                + unless(!causes.isEmpty, "without a cause")
        case .interruptionEnded(let id, let causes, let duration, _):
            let wrong =
                unless(watched.isInterrupted && ids.interruptions[session] == id, "of another interruption")
                + unless(!causes.isEmpty, "that had no cause") + unless(duration >= .zero, "before it began")
            watched.isInterrupted = false
            return wrong
        case .didStartRunning(let grant):
            let wrong =
                unless(!watched.isRunning, "twice") + unless(!watched.isInterrupted, "while interrupted")
                + unless(cameras.contains { $0.value.isOpen && ids.grants[$0.key] == grant }, "without an open grant")
            watched.isRunning = true
            return wrong
        case .didStopRunning:
            let wrong = unless(watched.isRunning, "for a session that does not run")
            watched.isRunning = false
            watched.isWarned = false
            watched.isRecording = false
            return wrong
        case .sessionStopped:
            watched.isInterrupted = false
            watched.isWarned = false
            return []
        case .recordingStarted(let id):
            let wrong =
                unless(watched.isRunning, "for a session that does not run") + unless(!watched.isRecording, "twice")
            watched.isRecording = true
            watched.unfinished += 1
            ids.recordings[session] = id
            ids.unfinished[id] = session
            return wrong
        case .recordingFinished(let end):
            let wrong = unless(
                ids.unfinished[end.recording] == session, "for a recording that is finished or never began")
            if ids.recordings[session] == end.recording { watched.isRecording = false }
            ids.unfinished[end.recording] = nil
            watched.unfinished = max(0, watched.unfinished - 1)
            return wrong
        case .accessChanged(_, _, _):
            return unless(!watched.isInterrupted, "while interrupted")
        case .photoCaptured, .configurationApplied, .rampFinished, .runtimeError: return []
        }
    }
}
