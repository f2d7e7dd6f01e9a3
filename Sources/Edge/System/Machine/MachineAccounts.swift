import Glibc
public import Vocabulary

/// The users and groups of this machine, wherever it keeps them (`nsswitch.conf`).
///
/// A look-up may go over a network. So it is made when a policy is read, and never for a client.
public struct MachineAccounts: Accounts {
    public init() {}

    public func user(named name: String) -> UInt32? {
        Self.find { buffer, bytes in
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            let error = getpwnam_r(name, &entry, buffer, bytes, &found)
            return (error, found?.pointee.pw_uid)
        }
    }

    public func group(named name: String) -> UInt32? {
        Self.find { buffer, bytes in
            var entry = Glibc.group()
            var found: UnsafeMutablePointer<Glibc.group>?
            let error = getgrnam_r(name, &entry, buffer, bytes, &found)
            return (error, found?.pointee.gr_gid)
        }
    }

    /// Enough for a group of ten thousand members with long names.
    private static let bufferBytesMax = 1 << 20

    /// Looks up with as much room as an entry needs.
    private static func find(_ ask: (UnsafeMutablePointer<CChar>, Int) -> (error: Int32, number: UInt32?)) -> UInt32? {
        var bytes = 4096
        while bytes <= bufferBytesMax {
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: bytes)
            defer { buffer.deallocate() }
            let answer = ask(buffer, bytes)
            if answer.error != ERANGE { return answer.error == 0 ? answer.number : nil }
            bytes *= 4
        }
        return nil
    }
}
