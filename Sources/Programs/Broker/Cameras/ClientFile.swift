import ArbiterProtocol
import Bus
import Glibc
import System

/// A client's descriptor, in the envelope that a keeper has put it into: the file or socket itself is never in this process.
class ClientDescriptor {
    /// For the recorder core.
    let envelope: Int32
    fileprivate let passed: PassedDescriptor

    /// Takes over a descriptor that came with the message, also when it throws.
    /// - Parameter fault: returns why it is unsuitable, as a clause.
    /// - Throws: `UnsuitableFile`.
    fileprivate init(
        adopting descriptor: Int32, of message: BusMessage, advice: String, _ fault: (PassedDescriptor) -> String?
    ) throws(BrokerError) {
        let passed = message.passed(descriptor)
        let found = if let passed { fault(passed) } else { "came with another message" as String? }
        guard let passed, found == nil else {
            close(descriptor)
            throw BrokerError(.unsuitableFile, "The descriptor \(found ?? ""). \(advice)")
        }
        envelope = descriptor
        self.passed = passed
    }

    deinit { passed.close(envelope) }

    /// It is on its way no longer.
    func keep() { passed.keep() }
}

/// A file for a photo or a recording, which the client opened with its own rights, for writing. Owned here until the recorder core
/// has it, and of a recording until that is finished: should the recorder core be lost, the next one completes the file.
final class ClientFile: ClientDescriptor {
    typealias Identity = PassedDescriptor.File
    var identity: Identity { passed.file }

    init(adopting descriptor: Int32, of message: BusMessage) throws(BrokerError) {
        try super.init(
            adopting: descriptor, of: message,
            advice: "Pass a regular file that is open for writing, and not for appending.", \.fileFault)
    }
}

/// A microphone's socket, owned here for as long as the recorder core may have it.
///
/// The last close of a socket drops its queue, in which may be a descriptor of a file whose server does not answer; so the keeper,
/// which has a copy of the envelope until this one is gone, closes last, and waits alone. The other end does not see the copies: the
/// recorder core shuts the socket down before it closes its own.
final class ClientMicrophone: ClientDescriptor {
    init(adopting descriptor: Int32, of message: BusMessage) throws(BrokerError) {
        try super.init(
            adopting: descriptor, of: message,
            advice: "Pass one end of a connected pair of AF_UNIX SOCK_SEQPACKET sockets, and write to the other.",
            \.microphoneFault)
    }
}

/// Microphones after a recorder core has answered that it has closed them: its reader may be a moment behind, and must not be the last
/// to close one.
final class LeftMicrophones {
    /// From the answer, in nanoseconds: a thread without other work closes a socket within milliseconds.
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
        loop.arm(&timer, at: left[0].until) { [weak self] in self?.letGo() }
    }

    private func letGo() {
        let now = EventLoop.now
        left.removeAll { $0.until <= now }
        timer?.arm(at: left.first?.until)
    }
}
