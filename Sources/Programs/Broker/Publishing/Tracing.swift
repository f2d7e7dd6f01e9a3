import Arbiter
import ArbiterProtocol
import Bus
import CLinux
import Glibc
import Scenario

/// Each step of the core as a line, for the file of `--trace` and for clients that record.
extension Publisher {
    static var program: String { "camarbd \(Release.version)" }

    /// Once for each step, after its effects.
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
                // It does not read: it is notified, while there is room for that, and may begin anew.
                setTraces(client, false)
                client.connection.signal(
                    path: ObjectPath.broker, interface: InterfaceName.broker, member: "TraceLost", [])
                continue
            }
            if message == nil { message = SealedSignal("Traced", [.string(body.text)], on: client.connection) }
            if let message { client.connection.send(message) }
        }
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
        let noMemory = BrokerError(.outOfResources, "There is no memory for a snapshot of \(header.count) bytes.")
        let descriptor = camarb_memfd("camarb-trace", UInt64(header.count))
        guard descriptor >= 0 else { throw noMemory }
        defer { close(descriptor) }
        var offset = 0
        while offset < header.count {
            let count = header[offset...].withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw noMemory }
            offset += count
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
