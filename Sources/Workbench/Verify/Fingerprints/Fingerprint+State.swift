public import Arbiter
import ArbiterProtocol
import PolicyFile
import Synchronization

extension Arbiter {
    /// What exploration remembers of a state: the same for two arbiters that will do the same for ever, and not otherwise.
    ///
    /// Seen from now: moments are distances, places in the order of what happened are ranks, and what only counts is left
    /// out, sequence numbers and ids of grants, interruptions and files.
    public func fingerprint() -> Fingerprint {
        var writer = FingerprintWriter()
        write(policy.fingerprint, into: &writer)
        return writer.finished()
    }

    /// - Parameter policy: of the one in force, which is the same for many states.
    func write(_ policy: Fingerprint, into writer: inout FingerprintWriter) {
        writer.combine(policy)
        WholeState(state).write(into: &writer)
    }
}

extension Policy {
    /// Of the policy's text, so that no key can be forgotten.
    package var fingerprint: Fingerprint { PolicyFingerprints.of(self) }
}

/// A walk loads the same few policies at every other step, and a text takes as long as some thirty steps.
private enum PolicyFingerprints {
    /// More than a walk or a story loads.
    private static let rememberedMax = 8
    private static let remembered = Mutex<[(policy: Policy, fingerprint: Fingerprint)]>([])

    static func of(_ policy: Policy) -> Fingerprint {
        remembered.withLock { remembered in
            if let known = remembered.first(where: { $0.policy == policy }) { return known.fingerprint }
            var writer = FingerprintWriter()
            // Users and groups count by their numbers.
            writer.combine(PolicyWriter.text(policy, numbersOnly: true))
            let fingerprint = writer.finished()
            if remembered.count == rememberedMax { remembered.removeFirst() }
            remembered.append((policy, fingerprint))
            return fingerprint
        }
    }
}

/// Writes down all of a state. Clients and sessions are their ids, cameras their places, apps their names. Every stored
/// property of a state is written here, or follows from others and is named in a comment. A test holds fingerprints
/// against `StateText` on long walks. What a fold writes, too, is in State+Parts.swift.
private struct WholeState {
    let state: State
    /// All places in the order of what happened that can still change a decision, sorted.
    let ordinals: [Ordinal]

    init(_ state: State) {
        self.state = state
        var ordinals: [Ordinal] = []
        for session in state.sessions.rows {
            guard let request = session.request else { continue }
            ordinals.append(request.started)
            if let bidSince = request.bidSince { ordinals.append(bidSince) }
        }
        for camera in state.cameras.rows { if let held = camera.tenancy.held { ordinals.append(held.granted) } }
        self.ordinals = ordinals.sorted()
    }

    /// `lastOrdinal`, `generation` and the ledger's counters only count; `users` follow from the apps.
    func write(into writer: inout FingerprintWriter) {
        writer.ordered(state.cameraOrder) { write($1, into: &$0) }
        writer.combine(state.clientSlots.count)
        state.forEachClient { write($0, into: &writer) }
        writer.combine(state.sessionSlots.count)
        state.forEachSession { write($0, into: &writer) }
        // A name of which nobody says anything is there for its clients.
        let told = state.apps.rows.indices.lazy.filter { row in
            state.isNamed(Slot(row)) && (state.word(of: Slot(row)) != 0 || state.apps.rows[row].isAttributed)
        }
        writer.unordered(told) { writer, row in
            writer.combine(state.id(Slot<App>(row)))
            writer.combine(state.word(of: Slot(row)))
            writer.combine(state.attributes[row])
        }
        state.writeMachine(into: &writer)
        writer.unordered(state.timers.lazy.filter { state.isWritten($0, countsLeases: true) }) { writer, timer in
            state.write(timer, into: &writer)
            writer.combine(timer.session.map { id($0) } ?? 0)
            write(timer.app, into: &writer)
        }
        writer.ordered(state.ledger.recordings) { writer, recording in
            writer.combine(recording.session)
            writer.combine(recording.endedBy != nil)
        }
        writer.ordered(state.ledger.photos) { $0.combine($1.session) }
    }

    private func id(_ slot: Slot<Session>) -> UInt64 { state.sessions.rows[Int(slot.index)].id }

    /// Of an app whose row another one has now, only that it was another's is written.
    private func write(_ app: AppRef?, into writer: inout FingerprintWriter) {
        guard let app else { return writer.combine(0) }
        guard state.isThere(app) else { return writer.combine(1) }
        writer.combine(app.isClaimed ? 3 : 2)
        writer.combine(state.id(app.slot))
    }

    private func place(of camera: Slot<Camera>) -> Int { state.cameraOrder.firstIndex(of: camera) ?? -1 }

    private func rank(_ ordinal: Ordinal) -> Int { ordinals.firstIndex(of: ordinal) ?? -1 }

    /// By its place among the texts of the policy, which is written beside; a text of a policy before it by its words.
    private func write(_ rule: Rule, into writer: inout FingerprintWriter) {
        if rule.law == nil, state.policy.texts.count <= rule.index {
            writer.combine(rule.isAfterItsTime ? -1 : -2)
            return writer.combine(state.text(rule))
        }
        writer.combine(UInt64(rule.kind.rawValue) << 20 | UInt64(rule.index) << 1 | (rule.isAfterItsTime ? 1 : 0))
    }

    private func write(_ slot: Slot<Camera>, into writer: inout FingerprintWriter) {
        let (camera, settings) = (state.cameras.rows[Int(slot.index)], state.cameraSettings[Int(slot.index)])
        writer.combine(state.id(slot).name)
        state.write(slot, countsLeases: true, into: &writer)
        writer.combine(camera.promise) { writer, promise in
            writer.combine(id(promise.session))
            write(promise.rule, into: &writer)
            writer.combine(promise.isDormant ? 1 : 0)
        }
        if let held = camera.tenancy.held {
            writer.combine(id(held.session))
            writer.combine(rank(held.granted))
            write(held.rule, into: &writer)
        }
        if let contest = camera.contest {
            writer.combine(id(contest.beneficiary))
            write(contest.rule, into: &writer)
        }
        writer.combine(settings.capabilities)
        writer.combine(settings.inForce)
        writer.ordered(settings.asked) { writer, asked in
            writer.combine(asked.session)
            writer.combine(asked.batch)
            writer.combine(asked.ordered)
            writer.combine(asked.by.rawValue)
        }
    }

    /// `who`, `right`, `loweredRank` and `hasLoweredItself` follow from the rest and the policy, `nextOfApp` from the ids.
    private func write(_ slot: Slot<Client>, into writer: inout FingerprintWriter) {
        let client = state.clients.rows[Int(slot.index)]
        writer.combine(client.id)
        writer.combine(client.word)
        write(client.app, into: &writer)
        writer.combine(client.login) { $0.combine(state.id($1).name) }
        writer.combine(state.clientTexts[Int(slot.index)])
        var place = client.firstSession
        while let session = place {
            writer.combine(id(session))
            place = state.sessions.rows[Int(session.index)].nextOfClient
        }
    }

    /// `nextOnCamera` follows from the ids. Of the ledger, `sharersTold` would show rows and their generations.
    private func write(_ slot: Slot<Session>, into writer: inout FingerprintWriter) {
        let session = state.sessions.rows[Int(slot.index)]
        writer.combine(session.id)
        writer.combine(session.word(readsBids: true))
        writer.combine(state.clients.rows[Int(session.client.index)].id)
        writer.combine(place(of: session.camera))
        if let request = session.request {
            writer.combine(rank(request.started))
            writer.combine(request.bidSince.map { rank($0) } ?? -1)
        }
        if let waits = session.waits {
            write(waits.interrupter, into: &writer)
            write(waits.rule, into: &writer)
        }
        if case .interrupted(_, let by) = session.shown { write(by, into: &writer) }
        writer.combine(state.sessionSettings[Int(slot.index)])
    }
}
