import ArbiterProtocol
import Bus
import Glibc
import System

/// A microphone's socket that a client passed, in the envelope that a keeper has put it into: the socket itself is never in
/// this process.
///
/// Owned here for as long as the recorder core may have it. Whoever closes a socket last drops what lies in its queue, and
/// that may be a descriptor of a file whose server does not answer; so the last one is the keeper, which has a copy of the
/// envelope until this one is gone, and waits alone. Nobody sees from the other end that copies are left: the recorder core
/// shuts the socket down before it closes its own.
final class ClientMicrophone {
    /// What the recorder core gets.
    let envelope: Int32
    private let passed: PassedDescriptor

    /// Takes over a descriptor that came with the message, also when it throws.
    /// - Throws: `UnsuitableFile`.
    init(adopting descriptor: Int32, of message: BusMessage) throws(BrokerError) {
        guard let passed = message.passed(descriptor) else {
            close(descriptor)
            throw BrokerError(.unsuitableFile, Self.sentence("came with another message"))
        }
        guard passed.finding == .microphone else {
            close(descriptor)
            throw BrokerError(.unsuitableFile, Self.sentence(Self.found(passed.finding)))
        }
        envelope = descriptor
        self.passed = passed
    }

    deinit { passed.close(envelope) }
    func keep() { passed.keep() }

    private static func sentence(_ found: String) -> String {
        "The descriptor \(found). Pass one end of a connected pair of AF_UNIX SOCK_SEQPACKET sockets, and write to the other."
    }

    private static func found(_ finding: PassedDescriptor.Finding) -> String {
        switch finding {
        case .good: "is a regular file"
        case .microphone: "is a microphone's socket"
        case .fault(_, _, let fault):
            switch fault {
            case .regularFile: "is a regular file"
            case .folder: "is a folder"
            case .pipe: "is a pipe"
            case .device: "is a device"
            case .pathOnly: "was opened with O_PATH and cannot be read from"
            case .programs: "is a file on a file system that a program serves (FUSE)"
            case .other: "is no socket"
            case .stream: "is a stream socket (SOCK_STREAM), which does not keep packets apart"
            case .datagram: "is a datagram socket (SOCK_DGRAM), which does not say when its other end is closed"
            case .network: "is a socket of another family than AF_UNIX"
            case .listening: "is a socket that listens for connections"
            case .unconnected: "is a socket that is not connected"
            case .unreadable: "cannot be looked at"
            }
        }
    }
}

/// Microphones that a recorder core has said it has closed: its reader may be a moment behind its word, and is not to be the
/// last to close one.
final class LeftMicrophones {
    /// How long one is kept beyond, in nanoseconds: a thread that has nothing else to do closes it within milliseconds.
    static let timeMax: Int64 = 1_000_000_000
    /// A client may attach one after the other; a keeper's room is everybody's.
    static let atOnceMax = 8

    private let loop: EventLoop
    private var left: [(microphone: ClientMicrophone, until: Int64)] = []
    private var timer: Timer?

    init(on loop: EventLoop) { self.loop = loop }

    func add(_ microphone: ClientMicrophone) {
        if left.count == Self.atOnceMax { left.removeFirst() }
        left.append((microphone, EventLoop.now + Self.timeMax))
        // Where there is no room for a timer, the next ones push it out.
        if timer == nil { timer = try? loop.addTimer { [weak self] in self?.letGo() } }
        timer?.arm(at: left[0].until)
    }

    private func letGo() {
        let now = EventLoop.now
        left.removeAll { $0.until <= now }
        timer?.arm(at: left.first?.until)
    }
}
