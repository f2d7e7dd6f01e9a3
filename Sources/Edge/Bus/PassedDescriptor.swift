import CLinux
import Glibc

/// A descriptor that a client passed, as a keeper found it. The file or socket itself never comes into this process: what a
/// message has in its place is an envelope (`envelopes.h`), empty where it will not do for anything.
///
/// While one is alive the descriptor counts as on its way, unless it is kept; with the last reference its keeper lets go of it.
public final class PassedDescriptor {
    /// What a keeper found. It does not know what the descriptor is passed for, and so says of each what it is.
    public enum Finding: Hashable, Sendable {
        /// A regular file that can be written to, and which.
        case good(device: UInt64, inode: UInt64)
        /// One end of a connected pair of AF_UNIX SOCK_SEQPACKET sockets.
        case microphone
        /// It is neither: why it takes no photo and no recording, and why it is no microphone.
        case fault(Fault, fileSystem: UInt64, MicrophoneFault)
    }

    /// Why a file will not do for a photo or a recording.
    public enum Fault: Hashable, Sendable {
        case notRegular, pathOnly, notWritable, appendOnly, sealed, kernels, programs, unknownSystem, unreadable
    }

    /// Why a descriptor is no microphone's socket: what it is.
    public enum MicrophoneFault: Hashable, Sendable {
        case regularFile, folder, pipe, device, pathOnly, programs, other
        case stream, datagram, network, listening, unconnected, unreadable
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

    /// The envelope's number; it stays this one's until `wasPassedOn`.
    var number: Int32 { envelope }

    func wasPassedOn() {
        Glibc.close(envelope)
        envelope = -1
    }

    private static func finding(_ found: camarb_keeper_found) -> Finding {
        if found.fault == camarb_file_good.rawValue { return .good(device: found.file.device, inode: found.file.inode) }
        guard let notAMicrophone = microphoneFault(found) else { return .microphone }
        return .fault(fileFault(found), fileSystem: found.file.system, notAMicrophone)
    }

    private static func fileFault(_ found: camarb_keeper_found) -> Fault {
        switch camarb_file_fault(rawValue: found.fault) {
        case camarb_file_not_regular: .notRegular
        case camarb_file_path_only: .pathOnly
        case camarb_file_not_writable: .notWritable
        case camarb_file_append_only: .appendOnly
        case camarb_file_sealed: .sealed
        case camarb_file_kernel: .kernels
        case camarb_file_fuse: .programs
        case camarb_file_unknown_system: .unknownSystem
        default: .unreadable
        }
    }

    /// Nil: it is one.
    private static func microphoneFault(_ found: camarb_keeper_found) -> MicrophoneFault? {
        switch camarb_microphone_fault(rawValue: found.microphone) {
        case camarb_microphone_good: nil
        case camarb_microphone_regular_file: .regularFile
        case camarb_microphone_folder: .folder
        case camarb_microphone_pipe: .pipe
        case camarb_microphone_device: .device
        case camarb_microphone_path_only: .pathOnly
        case camarb_microphone_fuse: .programs
        case camarb_microphone_other: .other
        case camarb_microphone_stream: .stream
        case camarb_microphone_datagram: .datagram
        case camarb_microphone_network: .network
        case camarb_microphone_listening: .listening
        case camarb_microphone_unconnected: .unconnected
        default: .unreadable
        }
    }
}

extension BusMessage {
    /// What a keeper found behind a descriptor of this message, or behind a duplicate of it; nil for one that no keeper took.
    public func passed(_ descriptor: Int32) -> PassedDescriptor? {
        if passed.isEmpty { return nil }
        let cookie = camarb_socket_cookie(descriptor)
        return cookie == 0 ? nil : passed.first { $0.cookie == cookie }
    }
}
