import ArbiterProtocol
import Glibc
package import System

enum RecorderOrigin {
    /// The broker starts this program, once for each camera.
    case program(String)
    /// Whoever listens here starts one for each connection.
    case socket(String)
    /// The service manager does, each in a sandbox of its own: a unit `camrecorder@….service`.
    case units(String)
    /// They are no processes.
    case simulation(any RecorderSource)

    /// Those of a simulation, what `--recorder` says, or our own program.
    init(_ options: BrokerOptions, simulated: (any RecorderSource)?) {
        if let simulated {
            self = .simulation(simulated)
        } else if let said = options.recorder {
            self.init(said, isService: options.isService)
        } else {
            self = .program(OwnPrograms.path("camrecorder"))
        }
    }

    /// `--recorder`: a program's path, or `unix:` and a socket's.
    /// - Parameter isService: The broker is a service, and so are its recorder cores.
    init(_ text: String, isService: Bool) {
        let scheme = "unix:"
        guard text.hasPrefix(scheme) else {
            self = .program(text)
            return
        }
        let path = String(text.dropFirst(scheme.count))
        self = isService ? .units(path) : .socket(path)
    }
}

/// Gives recorder cores that are no processes of their own: a simulation's.
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

/// The process of a recorder core. Its owner is told of its end once, whoever started it.
protocol RecorderProcess: AnyObject {
    /// False when it cannot be signalled: it is gone, or nobody knows which process it is.
    @discardableResult
    func signal(_ number: Int32) -> Bool
    /// Its socket has ended; its own end is still to be told.
    func socketEnded()
}

extension ChildProcess: RecorderProcess { func socketEnded() {} }

enum RecorderEnding: Hashable {
    case child(ChildProcess.Ending)
    /// Not a child: the kernel tells its status to somebody else.
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
/// The kernel names the listener of such a socket as its peer, not the process that serves it. So the recorder core says itself
/// which one it is, with a descriptor of its own process in the answer to `Serve`. Until then it has no camera, and the end of
/// its socket is the end of it. What it says is looked at before anything is killed by it (`RecorderIdentity`).
final class ServedProcess: RecorderProcess {
    private let loop: EventLoop
    private var handle: ProcessHandle?
    private var source: IOSource?
    private var onEnd: ((RecorderEnding) -> Void)?
    /// It said that it leaves, for want of work.
    var isLeaving = false

    init(on loop: EventLoop, onEnd: @escaping (RecorderEnding) -> Void) {
        self.loop = loop
        self.onEnd = onEnd
    }

    deinit { source?.cancel() }

    /// - Throws: `.recorderFault` where it names none of them; such a process is never signalled.
    func isIdentified(by descriptor: Int32, as expected: RecorderIdentity) throws {
        let found = ProcessHandle(owning: descriptor)
        let process = ProcessHandle.process(behind: descriptor)
        if let objection = expected.objection(to: process.map(RecorderIdentity.Seen.init(of:))) {
            throw BrokerError(.recorderFault, "Serve named \(objection).")
        }
        // Looked at last: while it lives, its number was its own.
        guard found.isAlive else { throw BrokerError(.recorderFault, "Serve named a process that has ended.") }
        source = try loop.addIO(descriptor, .readable) { [unowned self] _ in end() }
        handle = found
    }

    func signal(_ number: Int32) -> Bool { handle?.signal(number) ?? false }
    func socketEnded() { if handle == nil { loop.defer { [self] in end() } } }

    private func end() {
        source?.cancel()
        source = nil
        let told = onEnd
        onEnd = nil
        told?(.served(inOrder: isLeaving))
    }
}

/// Which processes a recorder core behind a socket may name as its own.
///
/// The broker kills by what it is told in the answer to `Serve`, and as a service it may kill anything.
package enum RecorderIdentity: Hashable, Sendable {
    /// A unit that the service manager starts for a connection to `camrecorder.socket`.
    case unit
    /// Any process of the user that listens on the socket, except the broker: in tests, and with a recorder core of
    /// one's own. Where root listens, which may be the service manager, a unit too.
    case process(ofUser: UInt32)

    package struct Seen: Hashable, Sendable {
        package var process: Int32
        package var user: UInt32?
        package var controlGroup: String?

        package init(process: Int32, user: UInt32?, controlGroup: String?) {
            self.process = process
            self.user = user
            self.controlGroup = controlGroup
        }

        init(of process: Int32) {
            self.init(
                process: process, user: AppIdentity.owner(of: process)?.user,
                controlGroup: AppIdentity.controlGroup(process))
        }
    }

    /// Where the service manager puts instances of `camrecorder@.service`.
    private static let slices = ["system.slice", "system-camrecorder.slice"]
    private static let unitPrefix = "camrecorder@"

    private static func isUnit(_ seen: Seen) -> Bool {
        let group = ControlGroup(path: seen.controlGroup ?? "")
        return group.isVouchedService && group.slices == slices && group.unit?.hasPrefix(unitPrefix) == true
    }

    /// What is wrong with a process, as a clause; nil: it may be a recorder core.
    package func objection(to seen: Seen?, broker: Int32 = getpid()) -> String? {
        guard let seen else { return "no process that is there" }
        if seen.process == broker { return "the broker itself" }
        switch self {
        case .unit:
            if Self.isUnit(seen) { return nil }
            let place = seen.controlGroup.map { "“\(Journal.printable($0, keepLines: false))”" } ?? "no control group"
            return "process \(seen.process) in \(place), which is no unit \(Self.unitPrefix)….service of the system's"
        case .process(let user):
            if seen.user == user || (user == 0 && Self.isUnit(seen)) { return nil }
            let owner = seen.user.map { "user \($0)" } ?? "nobody"
            return "process \(seen.process) of \(owner); user \(user) listens on the recorder socket"
        }
    }
}

enum OwnPrograms {
    /// Where a program of ours is: beside this one, or where a package puts it, below this one's prefix or /usr.
    static func path(_ name: String) -> String {
        let own = OwnProcess.program
        if let slash = own.lastIndex(of: "/") {
            let folder = String(own[...slash])
            for place in ["", "../libexec/camarb/"] where access(folder + place + name, X_OK) == 0 {
                return folder + place + name
            }
        }
        return "/usr/libexec/camarb/" + name
    }
}
