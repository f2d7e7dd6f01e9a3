import CLinux
import Glibc

/// A descriptor that a client passed, as a keeper found it. The file or socket itself never comes into this process: what a
/// message has in its place is an envelope (`envelopes.h`), empty where it will not do for anything.
///
/// While one is alive the descriptor counts as on its way, unless it is kept; with the last reference its keeper lets go of it.
public final class PassedDescriptor {
    /// Which file it is, where it is one.
    public struct File: Hashable, Sendable {
        public var device: UInt64
        public var inode: UInt64

        public init(device: UInt64, inode: UInt64) { (self.device, self.inode) = (device, inode) }
    }

    private let found: camarb_keeper_found
    /// The envelope's, by which a message's descriptor is known for this one.
    var cookie: UInt64 { found.cookie }
    let user: UInt32
    let envelope: Int32
    private var isKept = false
    private let keeper: DescriptorKeeper

    init(_ found: camarb_keeper_found, envelope: Int32, user: UInt32, keeper: DescriptorKeeper) {
        self.found = found
        self.user = user
        self.envelope = envelope
        self.keeper = keeper
        keeper.pool?.began(user)
    }

    deinit {
        Glibc.close(envelope)
        keeper.pool?.ended(user, cookie, keeper, wasKept: isKept)
    }

    /// It has arrived, and is kept for longer: it does not count as on its way any more. Its keeper bounds how many are kept.
    public func keep() {
        guard !isKept else { return }
        isKept = true
        keeper.pool?.arrived(user)
    }

    /// Closes the envelope that its message had, of which this is the last in this process. Where its keeper has ended
    /// meanwhile it may have the last of the file, and is closed by another.
    public func close(_ envelope: Int32) {
        guard keeper.state == .gone, let pool = keeper.pool else {
            Glibc.close(envelope)
            return
        }
        pool.closeKept(envelope, user: user)
    }

    public var file: File { File(device: found.file.device, inode: found.file.inode) }

    // A keeper does not know what the descriptor is passed for, and so says of each what it is.

    /// Why the descriptor will not do for a photo or a recording, as a clause; `nil` for a writable regular file.
    public var fileFault: String? {
        if found.fault == camarb_file_good.rawValue { return nil }
        if microphoneFault == nil { return "is a socket, no regular file" }
        return switch camarb_file_fault(rawValue: found.fault) {
        case camarb_file_not_regular: "is not a regular file"
        case camarb_file_path_only: "was opened with O_PATH and cannot be written to"
        case camarb_file_not_writable: "is not open for writing"
        case camarb_file_append_only: "is open for appending, so that a recording's header could not be completed"
        case camarb_file_sealed: "is memory that is sealed against writing or growing"
        case camarb_file_kernel: "is one of the kernel's own files, not a place for pictures"
        case camarb_file_fuse:
            "lies on a file system that a program serves (FUSE), which could let a recording wait for ever"
        case camarb_file_unknown_system:
            "lies on a file system (0x\(String(found.file.system, radix: 16))) that is not known to keep pictures"
        default: "cannot be looked at"
        }
    }

    /// Why the descriptor will not do for a microphone, as a clause; `nil` for one end of a connected pair of AF_UNIX
    /// SOCK_SEQPACKET sockets.
    public var microphoneFault: String? {
        if found.fault == camarb_file_good.rawValue { return "is a regular file" }
        return switch camarb_microphone_fault(rawValue: found.microphone) {
        case camarb_microphone_good: nil
        case camarb_microphone_regular_file: "is a regular file"
        case camarb_microphone_folder: "is a folder"
        case camarb_microphone_pipe: "is a pipe"
        case camarb_microphone_device: "is a device"
        case camarb_microphone_path_only: "was opened with O_PATH and cannot be read from"
        case camarb_microphone_fuse: "is a file on a file system that a program serves (FUSE)"
        case camarb_microphone_other: "is not a socket"
        case camarb_microphone_stream: "is a stream socket (SOCK_STREAM), which does not keep packets apart"
        case camarb_microphone_datagram:
            "is a datagram socket (SOCK_DGRAM), which does not say when its other end is closed"
        case camarb_microphone_network: "is a socket of another family than AF_UNIX"
        case camarb_microphone_listening: "is a socket that listens for connections"
        case camarb_microphone_unconnected: "is a socket that is not connected"
        default: "cannot be looked at"
        }
    }
}

extension BusMessage {
    /// A keeper's finding about a descriptor of this message, or about a duplicate of it; `nil` where no keeper took it.
    public func passed(_ descriptor: Int32) -> PassedDescriptor? {
        if passed.isEmpty { return nil }
        let cookie = camarb_socket_cookie(descriptor)
        return cookie == 0 ? nil : passed.first { $0.cookie == cookie }
    }
}
