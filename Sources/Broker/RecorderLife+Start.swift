import ArbiterProtocol
import Glibc
import SystemdBus

/// How a recorder core is started.
extension RecorderLife {
    /// - Throws: when there is none afterwards; one that is `leaving` may be.
    func start() throws(SystemFault) {
        switch origin {
        case .program(let path): try startChild(path)
        case .socket(let path):
            try connect(to: path) { descriptor throws(SystemFault) in
                .process(ofUser: try PeerCredentials(ofSocket: descriptor).uid)
            }
        case .units(let path): try connect(to: path) { _ in .unit }
        case .simulation(let source):
            let started = try source.start(serving: spec) { [unowned self] isInOrder in
                processEnded(.served(inOrder: isInOrder))
            }
            state = .running(SimulatedProcess(kill: started.kill), try connection(adopting: started.socket))
        }
    }

    private func connection(adopting descriptor: Int32) throws(SystemFault) -> BusConnection {
        let connection = try BusConnection(adopting: descriptor, as: .client, on: loop, delegate: self)
        connection.bound = MessageBound(bytesMax: Self.messageBytesMax)
        return connection
    }

    private func startChild(_ path: String) throws(SystemFault) {
        let (ours, theirs) = try UnixPair.make()
        defer { close(theirs) }
        let process: ChildProcess
        do throws(SystemFault) {
            process = try ChildProcess(
                path: path, arguments: ["--fd", "3", "--camera", spec], passing: theirs, on: loop
            ) { [unowned self] ending in processEnded(.child(ending)) }
        } catch {
            close(ours)
            throw error
        }
        do throws(SystemFault) {
            state = .running(process, try connection(adopting: ours))
        } catch {
            state = .leaving(process)
            process.signal(SIGKILL)
            throw error
        }
    }

    /// The calls behind `Serve` follow at once: they are answered in order, and by its error if that is refused.
    /// - Parameter identity: which processes may serve behind a socket that was connected.
    private func connect(
        to path: String, _ identity: (Int32) throws(SystemFault) -> RecorderIdentity
    ) throws(SystemFault) {
        let descriptor = try SocketAddress.connect(toPath: path)
        let expected: RecorderIdentity
        do throws(SystemFault) { expected = try identity(descriptor) } catch {
            close(descriptor)
            throw error
        }
        let process = ServedProcess(on: loop) { [unowned self] ending in processEnded(ending) }
        let connection = try connection(adopting: descriptor)
        state = .running(process, connection)
        connection.call(
            path: ObjectPath.recorder, interface: InterfaceName.recorder, member: "Serve", [.string(spec)],
            timeout: Self.answerTimeMax
        ) { [self] result in
            do {
                guard case .fileDescriptor(let own)? = try result.get().arguments().first else {
                    throw BrokerError(.recorderFault, "Serve gave no process.")
                }
                try process.isIdentified(by: own, as: expected)
            } catch {
                // The connection's own end follows at once, and says more.
                if (error as? BrokerError)?.kind == .disconnected { return }
                let why = (error as? BrokerError)?.message ?? "\(error)"
                journal.send(.error, "camera “\(camera)”: its recorder core does not serve it: \(why)")
                connection.close()
                connectionEnded(connection, .disconnected)
            }
        }
    }
}
