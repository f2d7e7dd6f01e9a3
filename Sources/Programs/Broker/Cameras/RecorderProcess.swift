import ArbiterProtocol
import Glibc
package import System

enum RecorderOrigin {
    /// The broker starts this program, once for each camera.
    case program(String)
    /// A listener here starts one for each connection.
    case socket(String)
    /// The service manager does, each in a sandbox of its own: a unit `camrecorder@….service`.
    case units(String)
    case simulation(any RecorderSource)
    /// A dry camera has none.
    case dry

    init(_ options: BrokerOptions, simulated: (any RecorderSource)?) {
        if let simulated {
            self = .simulation(simulated)
        } else if let given = options.recorder {
            // A program's path, or `unix:` and a socket's.
            let scheme = "unix:"
            let path = String(given.dropFirst(given.hasPrefix(scheme) ? scheme.count : 0))
            self = !given.hasPrefix(scheme) ? .program(path) : options.isService ? .units(path) : .socket(path)
        } else {
            self = .program(OwnPrograms.path("camrecorder"))
        }
    }
}

/// A simulation's recorder cores, which are no processes of their own.
package protocol RecorderSource: AnyObject {
    func start(
        serving spec: String, onEnd: @escaping (_ isInOrder: Bool) -> Void
    ) throws(SystemFault) -> (socket: Int32, kill: () -> Void)
}

final class SimulatedProcess: RecorderProcess {
    private let kill: () -> Void

    init(kill: @escaping () -> Void) { self.kill = kill }

    func signal(_ number: Int32) -> Bool {
        if number == SIGKILL { kill() }
        return true
    }

    func socketEnded() {}
}

/// The process of a recorder core, whose owner is called once with its end.
protocol RecorderProcess: AnyObject {
    /// False where it cannot be signalled: it is gone, or has not been named.
    @discardableResult
    func signal(_ number: Int32) -> Bool
    /// Before its own end.
    func socketEnded()
}

extension ChildProcess: RecorderProcess { func socketEnded() {} }

enum RecorderEnding: Hashable {
    case child(ChildProcess.Ending)
    /// Not a child, and without a status.
    case served(inOrder: Bool)

    var isInOrder: Bool { self == .child(.exited(0)) || self == .served(inOrder: true) }

    var words: String {
        switch self {
        case .child(.exited(127)): "its program could not be executed"
        case .child(.exited(let status)): "status \(status)"
        case .child(.signalled(let number)): "signal \(number)"
        case .served: "it did not say that it leaves; see the journal of camrecorder@*.service"
        }
    }
}

/// A recorder core that was started for a connection to its socket.
///
/// The kernel names the listener of such a socket as its peer, not the process that serves it. So the recorder core names itself,
/// with a descriptor of its own process in the answer to `Serve`. Until then it has no camera, and ends with its socket. The
/// descriptor is checked before anything is killed by it (`RecorderIdentity`).
final class ServedProcess: RecorderProcess {
    private let loop: EventLoop
    private var handle: ProcessHandle?
    private var source: IOSource?
    private var onEnd: ((RecorderEnding) -> Void)?
    /// It has sent `Leaving`, for want of work.
    var isLeaving = false

    init(on loop: EventLoop, onEnd: @escaping (RecorderEnding) -> Void) {
        self.loop = loop
        self.onEnd = onEnd
    }

    deinit { source?.cancel() }

    /// - Throws: `.recorderFault` for any other process, which is never signalled.
    func isIdentified(by descriptor: Int32, as expected: RecorderIdentity) throws {
        let found = ProcessHandle(owning: descriptor)
        let process = ProcessHandle.process(behind: descriptor)
        if let objection = expected.objection(to: process.map(RecorderIdentity.Seen.init(of:))) {
            throw BrokerError(.recorderFault, "Serve named \(objection).")
        }
        // Last: while it lives, its number was its own.
        guard found.isAlive else { throw BrokerError(.recorderFault, "Serve named a process that has ended.") }
        source = try loop.addIO(descriptor, .readable) { [unowned self] _ in end() }
        handle = found
    }

    func signal(_ number: Int32) -> Bool { handle?.signal(number) ?? false }
    func socketEnded() { if handle == nil { loop.defer { [self] in end() } } }

    private func end() {
        source?.cancel()
        source = nil
        let handler = onEnd
        onEnd = nil
        handler?(.served(inOrder: isLeaving))
    }
}

enum OwnPrograms {
    /// Beside this program, or in a package's folder below this one's prefix or /usr.
    static func path(_ name: String) -> String {
        let own = OwnProcess.program
        if let slash = own.lastIndex(of: "/") {
            let folder = String(own[...slash])
            for subfolder in ["", "../libexec/camarb/"] where access(folder + subfolder + name, X_OK) == 0 {
                return folder + subfolder + name
            }
        }
        return "/usr/libexec/camarb/" + name
    }
}
