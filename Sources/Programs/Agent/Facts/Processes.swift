import System

/// A process that is a client of the broker, and the broker's app of it.
public struct ClientProcess: Hashable, Sendable {
    public var process: Int32
    public var app: String

    public init(process: Int32, app: String) {
        self.process = process
        self.app = app
    }
}

/// The system's facts about processes. The real table reads /proc; tests have one of their own.
public protocol ProcessTable {
    /// The app of a process of the user's, by the broker's name; `nil` when it is gone or another user's.
    func app(of process: Int32) -> String?
    func parent(of process: Int32) -> Int32?
    /// The unit that the desktop made for one app, such as `app-firefox-1234.scope`; `nil`: none.
    func appUnit(of process: Int32) -> String?
    func hasTerminal(_ process: Int32) -> Bool
}

/// Turns processes into apps: by the broker's names for its clients, by the system's for all others.
public struct AppNames {
    /// More generations than any program has between its window and the process that uses the camera; without a bound a
    /// table that runs in a circle would be walked for ever.
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

    /// The apps of a process: several where a client has declared several.
    func apps(of process: Int32) -> [String] { apps[process] ?? table.app(of: process).map { [$0] } ?? [] }

    /// Clients that belong to one of `owners`, the processes with windows: a browser captures in another process than
    /// the one with its window, and a program in a terminal has no window at all.
    ///
    /// A client belongs to the nearest of its ancestors with a window, beginning with itself. Without one, as for a
    /// helper whose parent has ended, it belongs to the window of its unit, if the desktop made that for one app.
    /// Programs that were started in a terminal share its unit and are no one app: for them, ancestors alone count, and
    /// so each is where its own window is, or else where the terminal is, and never where another program's window is.
    /// Having a launcher, a shell or a session manager in common makes no app of two processes, so siblings alone never
    /// count.
    func clients(behind owners: Set<Int32>) -> [(app: String, owner: Int32)] {
        var units: [String: Int32]?
        return clients.compactMap { client in
            if let owner = ancestor(of: client.process, among: owners) { return (client.app, owner) }
            guard let unit = unit(of: client.process) else { return nil }
            // Read only where it is needed: every window's process costs a look-up.
            let known = units ?? unitOwners(owners)
            units = known
            return known[unit].map { (client.app, $0) }
        }
    }

    private func ancestor(of process: Int32, among owners: Set<Int32>) -> Int32? {
        var process = process
        for _ in 0..<Self.ancestorsMax {
            if owners.contains(process) { return process }
            guard let parent = table.parent(of: process), parent > 1 else { return nil }
            process = parent
        }
        return nil
    }

    private func unit(of process: Int32) -> String? { table.hasTerminal(process) ? nil : table.appUnit(of: process) }

    /// The owner of a unit's windows: of several the process that started the others. Where two unrelated processes
    /// have windows, a unit does not decide about a third process.
    private func unitOwners(_ owners: Set<Int32>) -> [String: Int32] {
        let first = owners.filter { owner in
            table.parent(of: owner).flatMap { ancestor(of: $0, among: owners) } == nil
        }
        let grouped = Dictionary(grouping: first.sorted()) { unit(of: $0) ?? "" }
        return grouped.filter { !$0.key.isEmpty && $0.value.count == 1 }.compactMapValues(\.first)
    }
}

struct SystemProcesses: ProcessTable {
    var user: UInt32

    func app(of process: Int32) -> String? { AppIdentity.name(of: process, user: user) }
    func parent(of process: Int32) -> Int32? { AppIdentity.owner(of: process)?.parent }
    func appUnit(of process: Int32) -> String? { AppIdentity.appUnit(of: process, user: user) }
    func hasTerminal(_ process: Int32) -> Bool { AppIdentity.hasTerminal(process) ?? false }
}

func text<Characters>(_ characters: Characters) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}

extension Duration {
    var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
