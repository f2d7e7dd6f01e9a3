import ArbiterProtocol
import Synchronization

/// How another broker is told what the one before knew.
extension ReconnectingTransport {
    /// Says everything again.
    /// - Returns: whether the broker was still there at the end.
    /// - Throws: `.disconnected` and the like: this broker has gone, too.
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
