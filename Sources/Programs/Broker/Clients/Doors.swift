import ArbiterProtocol
import Bus
import Glibc
import System

/// Where clients connect: the sockets that the service manager passed, else the one that was asked for, else the usual one.
struct Doors {
    private let options: BrokerOptions
    init(_ options: BrokerOptions) { self.options = options }

    func open(on loop: EventLoop, _ clients: Clients) throws(SystemFault) -> [UnixListener] {
        let refused: (SystemFault) -> Void = { [unowned clients] fault in
            clients.refusedConnection("\(fault)", of: nil)
        }
        let accepted: (Int32) -> Void = { [unowned clients] descriptor in clients.accept(descriptor) }
        let passed = options.socket == nil ? ServiceManager.listeners() : []
        var listeners: [UnixListener] = []
        for descriptor in passed {
            listeners.append(
                try UnixListener(adopting: descriptor, on: loop, onRefused: refused, onConnection: accepted))
        }
        if !passed.isEmpty { return listeners }
        let path: String
        if let said = options.socket { path = said } else { path = try Self.usualSocket() }
        Self.makeParent(of: path)
        return [try UnixListener(path: path, on: loop, onRefused: refused, onConnection: accepted)]
    }

    private static func usualSocket() throws(SystemFault) -> String {
        if let said = getenv("CAMARB_SOCKET"), said[0] != 0 { return String(cString: said) }
        if getuid() == 0 { return SocketAddress.system }
        guard let path = SocketAddress.user else {
            throw SystemFault("find a place for the socket without XDG_RUNTIME_DIR (use --socket PATH)", ENOENT)
        }
        return path
    }

    private static func makeParent(of path: String) {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        // There already, or it cannot be made: then listening says why.
        _ = mkdir(String(path[..<slash]), 0o755)
    }
}
