import Arbiter
import ArbiterProtocol
import Identity
import Loop
import Machine

/// Clients that are known by the numbers of their processes, on kernels that name no process itself: looked at again
/// before anything is granted.
extension Clients {
    /// Cuts a client whose process is not what it was when it connected.
    ///
    /// Its number was given to another process, it has changed its user, or it was moved to another control group: in any
    /// of these cases what it was vouched for is not so any more.
    /// - Throws: where it was cut. Never while the core is stepped.
    func requireSameProcess(_ client: BrokerClient) throws(BrokerError) {
        if isSameProcess(client) { return }
        cutImpostor(client)
        throw BrokerError(.accessDenied, "Process \(client.pid) is not what it was when it connected; connect anew.")
    }

    private func isSameProcess(_ client: BrokerClient) -> Bool {
        client.weak?.holds(of: client.pid, client.process) ?? true
    }

    private func cutImpostor(_ client: BrokerClient) {
        if client.isGone { return }
        broker.journal.send(
            .warning,
            "disconnected process \(client.pid): its user, its beginning or its control group is not what it was when it "
                + "connected, and this kernel names no process for certain")
        forget(client)
    }

    /// Whether a session may be given its camera. While the effects of a step are carried out: where it may not, its
    /// client is cut after them, and the core, which waits for a first frame, decides anew.
    func isGrantable(_ session: SessionID) -> Bool {
        guard let client = owner(of: session), !isSameProcess(client) else { return true }
        broker.loop.defer { [self] in cutImpostor(client) }
        return false
    }

    /// The path is read before the process is looked at: for a process that has ended, /proc has nothing or another's
    /// path, and nothing would count as no sandbox.
    func livingGroup(of client: BrokerClient) throws(BrokerError) -> ControlGroup {
        try requireSameProcess(client)
        guard let path = AppIdentity.controlGroup(client.pid), client.process.isAlive else {
            throw BrokerError(.accessDenied, "Process \(client.pid), which connected, has ended.")
        }
        return ControlGroup(path: path)
    }
}
