import DesktopFacts
import Glibc
import Identity

/// The processes of this machine, as /proc shows them, for one user.
struct SystemProcesses: ProcessTable {
    var user: UInt32

    func app(of process: Int32) -> String? { AppIdentity.name(of: process, user: user) }
    func parent(of process: Int32) -> Int32? { AppIdentity.owner(of: process)?.parent }
    func appUnit(of process: Int32) -> String? { AppIdentity.appUnit(of: process, user: user) }
    func hasTerminal(_ process: Int32) -> Bool { AppIdentity.hasTerminal(process) ?? false }
}

/// A variable that is set, and not to nothing.
func environment(_ name: String) -> String? {
    guard let value = getenv(name), value[0] != 0 else { return nil }
    return String(cString: value)
}

extension Duration {
    var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
