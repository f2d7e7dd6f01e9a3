import Arbiter
import ArbiterProtocol
import Bus
import CLinux
import Glibc
import Scenario
import System

/// What the core was told and what it did, step by step, for the file of `--trace` and for clients that record.
extension Publisher {
    static var program: String { "camarbd \(Release.version)" }

    /// Once for each step, after its effects; a line is made once, for all that want it.
    func trace(_ event: Event, _ effects: [Effect], _ now: Moment) {
        guard traceFile != nil || tracers > 0 else { return }
        let body = TraceWriter.step(
            broker.stepsTaken, event, at: now, name: name(broughtBy: event), decision: broker.arbiter.lastDecision,
            effects)
        traceFile?.write(body)
        guard tracers > 0 else { return }
        var message: SealedSignal?
        for client in clients.values where client.traces && client.connection.isReady {
            if client.connection.isBehind {
                loseTrace(client)
                continue
            }
            if message == nil {
                message = SealedSignal(
                    on: client.connection, path: ObjectPath.broker, interface: InterfaceName.broker, member: "Traced",
                    [.string(body.text)])
            }
            if let message { client.connection.send(message) }
        }
    }

    /// It does not read what it is sent: it is told, while there is room for that, and may begin anew.
    private func loseTrace(_ client: BrokerClient) {
        setTraces(client, false)
        client.connection.signal(path: ObjectPath.broker, interface: InterfaceName.broker, member: "TraceLost", [])
    }

    func setTraces(_ client: BrokerClient, _ on: Bool) {
        guard on != client.traces else { return }
        client.traces = on
        tracers += on ? 1 : -1
    }

    /// A trace shows every user's apps, and everything they do.
    func beginTrace(_ request: Request) throws(BrokerError) {
        guard trust.isTrusted(request.client) else {
            throw BrokerError(.accessDenied, "A trace shows all users' apps; \(trust.words) may have it.")
        }
        var writer = TraceWriter(steps: broker.stepsTaken)
        let header = writer.header(
            program: Self.program, origin: broker.origin, arbiter: broker.arbiter, names: names())
        let descriptor = camarb_memfd("camarb-trace", UInt64(header.count))
        guard descriptor >= 0 else {
            throw BrokerError(.outOfResources, "There is no memory for a snapshot of \(header.count) bytes.")
        }
        defer { close(descriptor) }
        var place = 0
        while place < header.count {
            let count = header[place...].withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(place)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw BrokerError(.outOfResources, "There is no memory for a snapshot of \(header.count) bytes.")
            }
            place += count
        }
        setTraces(request.client, true)
        request.answer([.fileDescriptor(descriptor)])
    }

    private func name(broughtBy event: Event) -> String? {
        switch event {
        case .connected(let client, _, _): clients[client.rawValue]?.name
        case .created(let session, _, _, _, _): clients.owners[session.rawValue]?.name
        default: nil
        }
    }
}
