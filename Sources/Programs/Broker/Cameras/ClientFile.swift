import ArbiterProtocol
import Bus
import Glibc

/// A file that a client passed for a photo or a recording, in the envelope that a keeper has put it into: the file itself is
/// never in this process. Owned here until the recorder core has it, and of a recording until that is finished.
final class ClientFile {
    /// What the recorder core gets.
    let envelope: Int32
    let identity: Identity
    private let passed: PassedDescriptor

    struct Identity: Hashable {
        var device: UInt64
        var inode: UInt64
    }

    /// Takes over a descriptor that came with the message, also when it throws.
    ///
    /// The client opens the file with its own rights; a keeper only makes sure that writing to it is what was meant.
    /// - Throws: `UnsuitableFile`.
    init(adopting descriptor: Int32, of message: BusMessage) throws(BrokerError) {
        guard let passed = message.passed(descriptor) else {
            close(descriptor)
            throw BrokerError(.unsuitableFile, Self.sentence("came with another message"))
        }
        guard case .good(let device, let inode) = passed.finding else {
            close(descriptor)
            throw BrokerError(.unsuitableFile, Self.sentence(Self.found(passed.finding)))
        }
        envelope = descriptor
        identity = Identity(device: device, inode: inode)
        self.passed = passed
    }

    deinit { passed.close(envelope) }

    /// It is kept for as long as its recording runs: should the recorder core be lost, the next one completes the file.
    func keep() { passed.keep() }

    private static func sentence(_ found: String) -> String {
        "The descriptor \(found). Pass a regular file that is open for writing, and not for appending."
    }

    private static func found(_ finding: PassedDescriptor.Finding) -> String {
        let fault: PassedDescriptor.Fault
        let system: UInt64
        switch finding {
        case .good: return "is a good one"
        case .microphone: (fault, system) = (.notRegular, 0)
        case .fault(let found, let on, _): (fault, system) = (found, on)
        }
        switch fault {
        case .notRegular: return finding == .microphone ? "is a socket, no regular file" : "is no regular file"
        case .pathOnly: return "was opened with O_PATH and cannot be written to"
        case .notWritable: return "is not open for writing"
        case .appendOnly: return "is open for appending, so that a recording's header could not be completed"
        case .sealed: return "is memory that is sealed against writing or growing"
        case .kernels: return "is one of the kernel's own files, not a place for pictures"
        case .programs:
            return "lies on a file system that a program serves (FUSE), which could let a recording wait for ever"
        case .unknownSystem:
            return "lies on a file system (0x\(String(system, radix: 16))) that is not known to keep pictures"
        case .unreadable: return "cannot be looked at"
        }
    }
}
