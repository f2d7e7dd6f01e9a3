/// A process that is a client of the broker, and the app it counts as there.
public struct ClientProcess: Hashable, Sendable {
    public var process: Int32
    public var app: String

    public init(process: Int32, app: String) {
        self.process = process
        self.app = app
    }
}

/// What the system says about processes. The real one reads /proc; tests have one of their own.
public protocol ProcessTable {
    /// The app that a process of the user's belongs to, in the broker's words; nil when the process is gone or is
    /// another user's.
    func app(of process: Int32) -> String?
    /// The process that started it; nil at the top, and when it is gone.
    func parent(of process: Int32) -> Int32?
}

/// Turns processes into apps: in the broker's own words for its clients, in the system's for all others.
public struct AppNames {
    /// More generations than any program has between its window and the process that uses the camera; without a bound
    /// a table that runs in a circle would be walked for ever.
    public static let ancestorsMax = 32

    private let apps: [Int32: [String]]
    private let clients: [ClientProcess]
    private let table: any ProcessTable

    public init(_ clients: [ClientProcess], _ table: any ProcessTable) {
        self.clients = clients
        self.table = table
        apps = Dictionary(grouping: clients, by: \.process).mapValues { $0.map(\.app) }
    }

    func isClient(_ process: Int32) -> Bool { apps[process] != nil }

    /// The apps of a process: more than one where a client has said that it is several.
    func apps(of process: Int32) -> [String] {
        apps[process] ?? table.app(of: process).map { [$0] } ?? []
    }

    /// Clients that are behind one of `owners`: it itself, or a process it started, directly or not. A browser captures
    /// in another process than the one that has its window, and a program in a terminal has no window at all.
    func clients(behind owners: Set<Int32>) -> [(app: String, owner: Int32)] {
        clients.compactMap { client in
            var process = client.process
            for _ in 0..<Self.ancestorsMax {
                if owners.contains(process) { return (client.app, process) }
                guard let parent = table.parent(of: process), parent > 1 else { return nil }
                process = parent
            }
            return nil
        }
    }
}
