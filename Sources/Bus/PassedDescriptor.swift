import CLinux
import Glibc

/// A descriptor that a client passed, as a keeper found it. The file itself never comes into this process: what a message
/// has in its place is an envelope (`envelopes.h`), empty where the file will not do.
///
/// While one is alive the descriptor counts as on its way, unless it is kept; with the last reference its keeper lets go of
/// it.
public final class PassedDescriptor {
    /// What a keeper found.
    public enum Finding: Hashable, Sendable {
        /// A regular file that can be written to, and which.
        case good(device: UInt64, inode: UInt64)
        case fault(Fault, fileSystem: UInt64)
    }

    /// Why a file will not do for a photo or a recording.
    public enum Fault: Hashable, Sendable {
        case notRegular, pathOnly, notWritable, appendOnly, sealed, kernels, programs, unknownSystem, unreadable
    }

    public let finding: Finding
    /// The envelope's, by which a message's descriptor is known for this one.
    let cookie: UInt64
    let user: UInt32
    /// The envelope, until it was passed on to libsystemd; else -1.
    private var envelope: Int32
    private var isKept = false
    private let keeper: DescriptorKeeper

    init(_ found: camarb_keeper_found, envelope: Int32, user: UInt32, keeper: DescriptorKeeper) {
        finding = Self.finding(found)
        cookie = found.cookie
        self.user = user
        self.envelope = envelope
        self.keeper = keeper
        keeper.pool?.began(user)
    }

    deinit {
        if envelope >= 0 { Glibc.close(envelope) }
        // libsystemd may have its own a moment longer: it lets go of a message after the handler that is running.
        keeper.pool?.ended(user, cookie, keeper, wasKept: isKept)
    }

    /// It has arrived, and is kept for longer: it does not count as on its way any more. Its keeper bounds how many are
    /// kept.
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

    /// The envelope's number; it stays this one's until `wasPassedOn`.
    var number: Int32 { envelope }

    func wasPassedOn() {
        Glibc.close(envelope)
        envelope = -1
    }

    private static func finding(_ found: camarb_keeper_found) -> Finding {
        let fault: Fault
        switch camarb_file_fault(rawValue: UInt32(truncatingIfNeeded: found.fault)) {
        case camarb_file_good: return .good(device: found.file.device, inode: found.file.inode)
        case camarb_file_not_regular: fault = .notRegular
        case camarb_file_path_only: fault = .pathOnly
        case camarb_file_not_writable: fault = .notWritable
        case camarb_file_append_only: fault = .appendOnly
        case camarb_file_sealed: fault = .sealed
        case camarb_file_kernel: fault = .kernels
        case camarb_file_fuse: fault = .programs
        case camarb_file_unknown_system: fault = .unknownSystem
        default: fault = .unreadable
        }
        return .fault(fault, fileSystem: found.file.system)
    }
}

extension BusMessage {
    /// What a keeper found behind a descriptor of this message, or behind a duplicate of it; nil for one that no keeper
    /// took.
    public func passed(_ descriptor: Int32) -> PassedDescriptor? {
        if passed.isEmpty { return nil }
        let cookie = camarb_socket_cookie(descriptor)
        return cookie == 0 ? nil : passed.first { $0.cookie == cookie }
    }
}
