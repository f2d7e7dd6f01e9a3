import ArbiterProtocol
import CLinux
import Glibc

/// A file that a client passed for a photo or a recording. Owned here until the recorder has it.
final class OutputFile {
    let descriptor: Int32
    /// What the recorder core gets.
    let envelope: Int32
    let identity: Identity

    struct Identity: Hashable {
        var device: UInt64
        var inode: UInt64
    }

    /// Takes over the descriptor, also when it throws.
    ///
    /// The client opens the file with its own rights; here it is only made sure that writing to it is what was meant.
    /// Nothing of it is read or written, and nothing can block.
    init(adopting descriptor: Int32) throws(BrokerError) {
        var file = camarb_file()
        let fault = camarb_check_output_file(descriptor, &file)
        guard fault == camarb_file_good else {
            close(descriptor)
            throw BrokerError(.unsuitableFile, Self.sentence(fault))
        }
        let envelope = camarb_new_envelope(descriptor)
        guard envelope >= 0 else {
            close(descriptor)
            throw BrokerError(.outOfResources, "There is no descriptor left for the file.")
        }
        self.descriptor = descriptor
        self.envelope = envelope
        identity = Identity(device: file.device, inode: file.inode)
    }

    deinit {
        close(envelope)
        close(descriptor)
    }

    /// Bytes written so far.
    var size: UInt64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? UInt64(max(0, status.st_size)) : 0
    }

    private static func sentence(_ fault: camarb_file_fault) -> String {
        let wanted = "Pass a regular file that is open for writing, and not for appending."
        let found =
            switch fault {
            case camarb_file_not_regular: "is no regular file"
            case camarb_file_path_only: "was opened with O_PATH and cannot be written to"
            case camarb_file_not_writable: "is not open for writing"
            case camarb_file_append_only: "is open for appending, so that a recording's header could not be completed"
            case camarb_file_sealed: "is memory that is sealed against writing or growing"
            case camarb_file_kernel: "is one of the kernel's own files, not a place for pictures"
            default: "cannot be looked at"
            }
        return "The descriptor \(found). \(wanted)"
    }
}
