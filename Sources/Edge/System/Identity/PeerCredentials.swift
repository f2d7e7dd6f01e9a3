import CLinux
import Glibc
import Vocabulary

/// The kernel's facts about the process that connected a socket.
public struct PeerCredentials {
    public var pid: Int32
    public var uid: UInt32
    public var gid: UInt32
    public var process: ProcessHandle
    /// Further facts where the kernel names a process by its number only (Linux before 6.5); `nil` where the kernel
    /// names the process itself.
    public var weak: WeakIdentity?

    /// The facts about the process behind a connection to a message bus, by the bus's word.
    /// - Parameter process: `nil` where the bus knows the process by its number only: the identity is weak then.
    /// - Parameter moment: when a call of its had arrived, in nanoseconds of CLOCK_BOOTTIME.
    /// - Throws: when the process has ended, or another one may have its number.
    public init(
        ofUser user: UInt32, pid: Int32, _ process: ProcessHandle?, calledBy moment: Int64
    ) throws(SystemFault) {
        guard let handle = process ?? ProcessHandle(opening: pid), pid > 0 else {
            throw SystemFault("tell who called", ESRCH)
        }
        // The bus does not mark the primary group among the groups, and nothing reads it of such a process.
        (self.pid, uid, gid, self.process) = (pid, user, .max, handle)
        if process == nil {
            guard let facts = ProcessFacts(of: pid), WeakIdentity.mayHaveConnected(facts, as: user, by: moment) else {
                throw SystemFault("tell who called: process \(pid) is not the one that did", ESRCH)
            }
            weak = WeakIdentity(facts)
        }
        // Last of all: while the process lives, its number was its own.
        guard handle.isAlive else { throw SystemFault("tell who called", ESRCH) }
    }

    /// - Parameter byNumber: As on a kernel that names no process itself; for tests.
    /// - Throws: when the peer cannot be named, also because it is gone: refuse it then.
    public init(ofSocket descriptor: Int32, byNumber: Bool = false) throws(SystemFault) {
        // Before any look-up: the peer had connected by then.
        let connectedBy = camarb_boottime_ns()
        var peer = camarb_peer()
        try check(camarb_peer_of_socket(descriptor, byNumber ? 1 : 0, &peer), "tell who connected")
        pid = peer.pid
        uid = peer.uid
        gid = peer.gid
        process = ProcessHandle(owning: peer.pidfd)
        guard peer.weak != 0 else { return }
        guard let facts = ProcessFacts(of: pid), process.isAlive else { throw SystemFault("tell who connected", ESRCH) }
        guard WeakIdentity.mayHaveConnected(facts, as: uid, by: connectedBy) else {
            throw SystemFault("tell who connected: process \(pid) is not the one that did", ESRCH)
        }
        weak = WeakIdentity(facts)
    }
}

/// The facts in /proc by which another process under the same number, or with other rights, is noticed.
package struct ProcessFacts: Hashable, Sendable {
    /// Its effective user.
    package var user: UInt32
    /// The start time, in nanoseconds of CLOCK_BOOTTIME, rounded down to the clock tick.
    package var began: Int64
    package var controlGroup: String

    package init(user: UInt32, began: Int64, controlGroup: String) {
        self.user = user
        self.began = began
        self.controlGroup = controlGroup
    }

    /// `nil` when it is gone, or cannot be read.
    package init?(of pid: Int32) {
        var began: Int64 = 0
        guard let user = AppIdentity.owner(of: pid)?.user, camarb_process_began(pid, &began) == 0,
            let group = AppIdentity.controlGroup(pid)
        else { return nil }
        self.init(user: user, began: began, controlGroup: group)
    }
}

/// The likely peer, on a kernel that gives the number of the process that connected, and not the process.
///
/// Between connecting and being accepted a process can end, and its number become another's: a descriptor that was
/// looked up by the number names that one then. So the facts in /proc have to fit the peer, or the connection is
/// refused; and before every grant they have to be the same again. A number that was given within that moment to a
/// process of the same user, which began before the broker looked, stays unnoticed.
public final class WeakIdentity: Sendable {
    private let facts: ProcessFacts

    package init(_ facts: ProcessFacts) { self.facts = facts }

    /// Whether a process can be the one that connected as this user: it has that user's rights, and had begun by then.
    /// - Parameter moment: nanoseconds of CLOCK_BOOTTIME.
    package static func mayHaveConnected(_ facts: ProcessFacts, as user: UInt32, by moment: Int64) -> Bool {
        facts.user == user && facts.began <= moment
    }

    /// Whether /proc still has the facts of the time of connecting.
    public func holds(of pid: Int32, _ process: ProcessHandle) -> Bool {
        holds(ProcessFacts(of: pid)) && process.isAlive
    }

    package func holds(_ now: ProcessFacts?) -> Bool { now == facts }
}

/// The groups of a socket's peer, as the kernel noted them at connecting.
public enum PeerGroups {
    /// `SO_PEERGROUPS`, which Glibc's module does not have: the number of every architecture but SPARC and PA-RISC.
    private static let option: Int32 = 59

    /// Sorted, the primary one among them; of a process in more than `ClientIdentity.groupsMax` only the primary one.
    /// Asks the kernel alone, and does not fail: a peer whose groups cannot be read has only that one.
    public static func of(_ descriptor: Int32, primary: UInt32) -> [UInt32] {
        var groups = [gid_t](repeating: 0, count: ClientIdentity.groupsMax - 1)
        var bytes = socklen_t(groups.count * MemoryLayout<gid_t>.stride)
        // ERANGE: there are more.
        guard getsockopt(descriptor, SOL_SOCKET, option, &groups, &bytes) == 0 else { return [primary] }
        let count = min(groups.count, Int(bytes) / MemoryLayout<gid_t>.stride)
        return Set(groups.prefix(count) + [primary]).sorted()
    }

    /// The present groups of a process, by the same rule; the process is known to live.
    public static func of(process: Int32) -> [UInt32] {
        var groups = [gid_t](repeating: 0, count: ClientIdentity.groupsMax - 1)
        var primary: gid_t = 0
        let count = Int(camarb_groups_of(process, &primary, &groups, Int32(groups.count)))
        // A process whose groups cannot be read has none; and as above, -ERANGE: there are more.
        if count == -Int(ERANGE) { return [primary] }
        return count < 0 ? [] : Set(groups.prefix(count) + [primary]).sorted()
    }
}
