import ArbiterProtocol
import Synchronization

/// The end of a broker, and how the next one receives the client's declarations and sessions.
extension ReconnectingTransport {
    func ended(_ error: BrokerError, _ life: Int) {
        let goesOn: Bool? = state.withLock { state in
            guard state.life == life, !state.lifeHasEnded else { return nil }
            state.lifeHasEnded = true
            let now = ContinuousClock.now
            state.outbox += state.memory.lost(at: now)
            state.early = []
            // While sessions are being put back, `putBack` finds `lifeHasEnded`, and `reconnect` tries again.
            guard case .connected(let transport) = state.phase else { return nil }
            state.brokerID = transport.brokerID
            state.ends = state.ends.filter { now - $0 < minute } + [now]
            if state.ends.count > Self.endsPerMinuteMax {
                state.phase = .over(error)
                return false
            }
            state.phase = .away
            return true
        }
        handOn()
        waitForHold()
        guard let goesOn else { return }
        if goesOn { Task.detached { [weak self] in await self?.reconnect(after: error) } } else { finish(error) }
    }

    private func reconnect(after error: BrokerError) async {
        let until = ContinuousClock.now + Self.awayMax
        var pause = Self.pauseFirst
        var last = error
        while true {
            do throws(BrokerError) {
                if try await putBack(try connect()) { return wakeAll() }
            } catch { last = error }
            if case .over(let error) = state.withLock({ $0.phase }) { return finish(error) }
            if ContinuousClock.now >= until { return finish(last) }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, Self.pauseMax)
        }
    }

    private func waitForHold() {
        guard let until = state.withLock({ $0.memory.holdEnds }) else { return }
        Task.detached { [weak self, holdMax] in
            // Shorter in tests alone, which do not wait.
            try? await Task.sleep(until: until - (SessionHold.holdMax - holdMax), clock: .continuous)
            self?.holdEnded(at: until)
        }
    }

    private func holdEnded(at now: ContinuousClock.Instant) {
        let isLeft = state.withLock { state in
            state.outbox += state.memory.holdEnded(at: now)
            // One that ended later, or is being asked for.
            return state.memory.holdEnds.map { $0 > now } ?? false
        }
        handOn()
        if isLeft { waitForHold() }
    }

    func finish(_ error: BrokerError) {
        let onEnd = state.withLock { state in
            state.phase = .over(error)
            state.outbox += state.memory.tellHeld(at: .now)
            return state.onEnd
        }
        handOn()
        wakeAll()
        onEnd?(error)
    }

    func putBack(_ transport: any Transport) async throws(BrokerError) -> Bool {
        let life = state.withLock { state in
            state.life += 1
            state.lifeHasEnded = false
            // Beside those of the broker before, which end by themselves.
            state.creationsUnderWay += 1
            return state.life
        }
        begin(transport, life: life)
        var isThere = false
        defer {
            creationEnded()
            if !isThere { transport.close() }
        }
        for declaration in state.withLock({ $0.memory.declarations }) {
            do throws(BrokerError) { _ = try await transport.call(declaration.call) } catch {
                // A connection that does not stand for its process must not go on.
                if error.isOfTheConnection || declaration.key == "StandFor" { throw error }
                // Another policy may know no such rank or attribute: then it no longer counts.
            }
        }
        for session in state.withLock({ $0.memory.sessions }) {
            try await putBack(session.id, session.memory, transport)
        }
        isThere = state.withLock { state in
            guard !state.lifeHasEnded, case .away = state.phase else { return false }
            state.phase = .connected(transport)
            // Another broker takes the client as it is: the ends before were not about this client, but that one's own.
            if let before = state.brokerID, let now = transport.brokerID, now != before { state.ends = [] }
            return true
        }
        if isThere { askForSecrets() }
        return isThere
    }

    private func putBack(
        _ known: SessionID, _ memory: SessionMemory, _ transport: any Transport
    ) async throws(BrokerError) {
        do throws(BrokerError) {
            let answer = try await transport.call(ClientMemory.creation(memory))
            guard let path = answer.first?.string, let id = ObjectPath.sessionID(path) else {
                throw BrokerError(.invalidArguments, "CreateSession gave no session's path.")
            }
            state.withLock { state in
                state.memory.reestablished(known, as: id)
                takeEarly(&state)
            }
            handOn()
            let hasBegun = try await reclaim(known, path, transport)
            for call in memory.replay(hasBegun: hasBegun) {
                _ = try await transport.call(
                    WireCall(
                        path: path, interface: InterfaceName.session, member: call.member, arguments: call.arguments))
            }
        } catch {
            if error.isOfTheConnection { throw error }
            state.withLock { state in state.outbox += state.memory.refused(known, error, at: .now) }
            handOn()
        }
    }

    /// Goes on with the session at the present broker, where it has a secret for that.
    /// - Returns: whether it does; else it is to be started.
    private func reclaim(
        _ known: SessionID, _ path: String, _ transport: any Transport
    ) async throws(BrokerError) -> Bool {
        guard let secret = state.withLock({ $0.memory.beginReclaiming(known) }) else { return false }
        do throws(BrokerError) {
            _ = try await transport.call(
                WireCall(path: path, interface: InterfaceName.session, member: "Reclaim", arguments: [.string(secret)]))
        } catch {
            if error.isOfTheConnection { throw error }
            state.withLock { state in state.outbox += state.memory.inSession(known) { $0.notReclaimed(at: .now) } }
            handOn()
            return false
        }
        let knowsRecording = state.withLock { state in
            state.outbox += state.memory.inSession(known) { $0.reclaimed() }
            return state.memory.sessions.contains { $0.id == known && $0.memory.recording != nil }
        }
        handOn()
        // One whose beginning was under way at the end, and which the client was told has failed.
        if !knowsRecording {
            do throws(BrokerError) {
                _ = try await transport.call(
                    WireCall(path: path, interface: InterfaceName.session, member: "StopRecording"))
            } catch { if error.isOfTheConnection { throw error } }
        }
        return true
    }
}

extension BrokerError {
    /// The broker has said nothing; it is not there.
    package var isOfTheConnection: Bool { kind == .disconnected || kind == .noReply }
}
