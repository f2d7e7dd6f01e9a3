import ArbiterProtocol
import CLinux
import Glibc

/// The groups of whoever connected a socket, as the kernel noted them then.
public enum PeerGroups {
    /// `SO_PEERGROUPS`, which Glibc's module does not have: the number of every architecture but SPARC and PA-RISC.
    private static let option: Int32 = 59

    /// Sorted, the primary one among them; of a process in more than `ClientIdentity.groupsMax` only that one. Asks the
    /// kernel alone, and does not fail: a peer whose groups cannot be read has only that one.
    public static func of(_ descriptor: Int32, primary: UInt32) -> [UInt32] {
        var groups = [gid_t](repeating: 0, count: ClientIdentity.groupsMax - 1)
        var bytes = socklen_t(groups.count * MemoryLayout<gid_t>.stride)
        // ERANGE: there are more.
        guard getsockopt(descriptor, SOL_SOCKET, option, &groups, &bytes) == 0 else { return [primary] }
        let count = min(groups.count, Int(bytes) / MemoryLayout<gid_t>.stride)
        return Set(groups.prefix(count) + [primary]).sorted()
    }

    /// Those of a process, as they are now, by the same rule. While it is known to live, they are that one's.
    public static func of(process: Int32) -> [UInt32] {
        var groups = [gid_t](repeating: 0, count: ClientIdentity.groupsMax - 1)
        var primary: gid_t = 0
        let count = Int(camarb_groups_of(process, &primary, &groups, Int32(groups.count)))
        // A process whose groups cannot be read has none; and as above, -ERANGE: there are more.
        if count == -Int(ERANGE) { return [primary] }
        return count < 0 ? [] : Set(groups.prefix(count) + [primary]).sorted()
    }
}
