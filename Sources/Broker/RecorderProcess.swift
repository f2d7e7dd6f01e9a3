import ArbiterProtocol
import Glibc
import SystemdBus

/// Where recorder cores come from.
enum RecorderOrigin: Hashable {
    /// The broker starts this program, once for each camera.
    case program(String)
    /// Whoever listens here starts one for each connection: the service manager, each in a sandbox of its own.
    case socket(String)

    /// `--recorder`: a program's path, or `unix:` and a socket's.
    init(_ text: String) {
        let scheme = "unix:"
        self = text.hasPrefix(scheme) ? .socket(String(text.dropFirst(scheme.count))) : .program(text)
    }
}

/// The process of a recorder core. Its owner is told of its end once, whoever started it.
protocol RecorderProcess: AnyObject {
    /// False when it cannot be signalled: it is gone, or nobody knows which process it is.
    @discardableResult
    func signal(_ number: Int32) -> Bool
    /// Its socket has ended; its own end is still to be told.
    func socketEnded()
}

extension ChildProcess: RecorderProcess {
    func socketEnded() {}
}

/// How a recorder core ended, as far as is known.
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
/// The kernel names the listener of such a socket as its peer, not the process that serves it. So the recorder core
/// says itself which one it is, with a descriptor of its own process in the answer to `Serve`. Until then it has
/// no camera, and the end of its socket is the end of it.
final class ServedProcess: RecorderProcess {
    private let loop: EventLoop
    private var handle: ProcessHandle?
    private var source: IOSource?
    private var onEnd: ((RecorderEnding) -> Void)?
    /// It said that it leaves, for want of work.
    var isLeaving = false

    /// - Parameter onEnd: Called once, on the loop's thread.
    init(on loop: EventLoop, onEnd: @escaping (RecorderEnding) -> Void) {
        self.loop = loop
        self.onEnd = onEnd
    }

    deinit { source?.cancel() }

    /// - Parameter descriptor: of the process; this object's from here on.
    func isIdentified(by descriptor: Int32) throws(SystemFault) {
        let found = ProcessHandle(owning: descriptor)
        source = try loop.addIO(descriptor, .readable) { [unowned self] _ in end() }
        handle = found
    }

    func signal(_ number: Int32) -> Bool { handle?.signal(number) ?? false }

    func socketEnded() {
        if handle == nil { loop.defer { [self] in end() } }
    }

    private func end() {
        source?.cancel()
        source = nil
        let told = onEnd
        onEnd = nil
        told?(.served(inOrder: isLeaving))
    }
}
