import Glibc
import System

extension MessageBus {
    /// Whose bus it is.
    public enum Kind: Hashable, Sendable {
        case system
        /// A user's, on which that user's desktop is.
        case session

        /// Where the system's bus is unless `$DBUS_SYSTEM_BUS_ADDRESS` says otherwise.
        public static let usualSystemAddress = "unix:path=/run/dbus/system_bus_socket"

        /// The environment's address of the system's bus, else the usual one.
        public static var systemAddress: String {
            environment("DBUS_SYSTEM_BUS_ADDRESS") ?? usualSystemAddress
        }

        /// Nil where no login session says where the user's bus is.
        public var address: String? {
            switch self {
            case .system: Self.systemAddress
            case .session:
                environment("DBUS_SESSION_BUS_ADDRESS")
                    ?? environment("XDG_RUNTIME_DIR").map { "unix:path=\($0)/bus" }
            }
        }

        var words: String { self == .system ? "system bus" : "session bus" }

        var nowhere: String {
            self == .system
                ? "the system bus's address names no Unix socket"
                : "there is no session bus ($DBUS_SESSION_BUS_ADDRESS names no Unix socket, or neither it nor "
                    + "$XDG_RUNTIME_DIR is set)"
        }

        /// Nanoseconds between tries to connect; each is twice as long as the one before. A machine has its bus from its
        /// start on; a desktop's comes and goes with its login session, and is looked for as its other services are.
        package var pauseMin: Int64 { self == .system ? 1_000_000_000 : 250_000_000 }
        package var pauseMax: Int64 { self == .system ? 60_000_000_000 : 30_000_000_000 }

        /// On a user's bus every program of that user's may send what it likes: nothing that concerns camarb is longer
        /// than a permission store of ten thousand apps.
        var bound: MessageBound? { self == .system ? nil : MessageBound(bytesMax: 1 << 20) }
    }
}
