import ArbiterProtocol
import Bus
import Glibc
import System

extension RecorderLife {
    /// - Throws: where there is none afterwards; one that is `leaving` may be.
    func start() throws(SystemFault) {
        switch origin {
        case .program(let path): try startChild(path)
        case .socket(let path):
            try connect(to: path) { descriptor throws(SystemFault) in
                .process(ofUser: try PeerCredentials(ofSocket: descriptor).uid)
            }
        case .units(let path): try connect(to: path) { _ in .unit }
        case .dry: break
        case .simulation(let source):
            let started = try source.start(serving: link.spec) { [unowned self] isInOrder in
                processEnded(.served(inOrder: isInOrder))
            }
            state = .running(SimulatedProcess(kill: started.kill), try connection(adopting: started.socket))
        }
    }

    private func connection(adopting descriptor: Int32) throws(SystemFault) -> BusConnection {
        let connection = try BusConnection(adopting: descriptor, as: .client, on: loop, delegate: self)
        connection.messageBytesMax = Self.messageBytesMax
        return connection
    }

    private func startChild(_ path: String) throws(SystemFault) {
        let (ours, theirs) = try UnixPair.make()
        defer { close(theirs) }
        let process: ChildProcess
        do throws(SystemFault) {
            process = try ChildProcess(
                path: path,
                arguments: ["--fd", "3", "--camera", link.spec] + (patience == 1 ? [] : ["--patience", "\(patience)"]),
                passing: theirs, on: loop
            ) { [unowned self] ending in processEnded(.child(ending)) }
        } catch {
            close(ours)
            throw error
        }
        do throws(SystemFault) { state = .running(process, try connection(adopting: ours)) } catch {
            state = .leaving(process)
            process.signal(SIGKILL)
            throw error
        }
    }

    struct Survey {
        /// 0: none is kept.
        var grant: GrantID
        var recordings: [RecordingID]
    }

    /// To the answer of `Survey`, in nanoseconds: it waits for nothing else. Its client waits for 3 s in all.
    static let surveyTimeMax: Int64 = 1_000_000_000
    /// A recorder core has eight that run, and tells again of some that have ended.
    static let surveyRecordingsMax = 32

    /// Connects to one that outlived the broker before, and surveys it.
    func takeUp(_ path: String, _ done: @escaping (Result<Survey, BrokerError>) -> Void) -> Bool {
        guard case .none = state, let descriptor = try? SocketAddress.connect(toPath: path) else { return false }
        let process = ServedProcess(on: loop) { [unowned self] ending in processEnded(ending) }
        guard let connection = try? connection(adopting: descriptor) else { return false }
        state = .running(process, connection)
        connection.call(
            path: ObjectPath.recorder, interface: InterfaceName.recorder, member: "Survey", [],
            timeout: patience * Self.surveyTimeMax
        ) { [self] result in
            do throws(BrokerError) { done(.success(try survey(try result.get(), process))) } catch {
                // It goes on to its own end.
                connection.close()
                connectionEnded(connection, .disconnected)
                done(.failure(error))
            }
        }
        return true
    }

    private func survey(_ answer: BusMessage, _ process: ServedProcess) throws(BrokerError) -> Survey {
        // A second descriptor would be nobody's to close.
        let signature = answer.signature
        guard signature.hasPrefix("h"), signature.count(where: { $0 == "h" }) == 1 else {
            throw BrokerError(.invalidArguments, "Survey gives \(signature.quotedShort); it takes one descriptor.")
        }
        var reader = WireReader("Survey", try answer.arguments())
        let own = try reader.fileDescriptor("process")
        do { try process.isIdentified(by: own, as: survivorsIdentity) } catch {
            throw error as? BrokerError ?? BrokerError(.recorderFault, "\(error).")
        }
        let grant = GrantID(try reader.uint64("grant"))
        let recordings = try reader.numbers("recordings")
        guard recordings.count <= Self.surveyRecordingsMax else {
            throw BrokerError(
                .invalidValue, "Survey names \(recordings.count) recordings; it takes \(Self.surveyRecordingsMax).")
        }
        return Survey(grant: grant, recordings: recordings)
    }

    /// The kernel names the broker before as the peer, which made the socket.
    private var survivorsIdentity: RecorderIdentity {
        switch origin {
        // A simulation's do not outlive it.
        case .program, .simulation, .dry: return .process(ofUser: geteuid())
        case .units: return .unit
        case .socket(let path):
            var status = stat()
            return .process(ofUser: lstat(path, &status) == 0 ? status.st_uid : geteuid())
        }
    }

    /// The calls behind `Serve` follow at once: they are answered in order, and by its error if that is refused.
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
            path: ObjectPath.recorder, interface: InterfaceName.recorder, member: "Serve", [.string(link.spec)],
            timeout: Self.answerTimeMax
        ) { [self] result in
            do { try process.isIdentified(by: try result.get().firstDescriptor(), as: expected) } catch {
                // The connection's own end follows at once, with more words.
                if (error as? BrokerError)?.kind == .disconnected { return }
                let why = (error as? BrokerError)?.message ?? "\(error)"
                journal.send(.error, "camera “\(camera)”: its recorder core does not serve it: \(why)")
                connection.close()
                connectionEnded(connection, .disconnected)
            }
        }
    }
}
