import Arbiter
import ArbiterProtocol
import ArgumentParser
import CLinux
import Glibc
import PolicyFile
import Scenario
import System
import TomlFile
import Workbench

struct WorldOptions: ParsableArguments {
    @Option(help: .value("number", "Clients in a world: 1 to 4.")) var clients = 3
    @Option(help: .value("number", "Cameras in a world: 1 to 3.")) var cameras = 2

    func validate() throws {
        guard (1...4).contains(clients) else { throw ValidationError("--clients \(clients) is outside 1 to 4.") }
        guard (1...3).contains(cameras) else { throw ValidationError("--cameras \(cameras) is outside 1 to 3.") }
    }
}

func searchTime(_ text: String) throws -> Duration {
    guard let time = TimeText.parse(text) else {
        throw ValidationError("--max-time \(text) is not a time; a time is written 30s, 500ms or 10min.")
    }
    return time
}

struct SearchOptions: ParsableArguments {
    @OptionGroup var world: WorldOptions
    @Flag(help: "Not every choice of kinds of clients, but only enough that every two kinds meet.") var pairs = false
    @Option(help: .value("number", "States to look at, at most.")) var maxStates = 5_000_000
    @Option(help: .value("time", "How long to search, such as 30s or 10min.")) var maxTime = "1min"
    @Option(help: .value("size", "Memory to take, such as 500M or 2G.")) var maxMemory = "2G"

    func validate() throws {
        guard maxStates > 0 else { throw ValidationError("--max-states \(maxStates) is not above 0.") }
        _ = try searchTime(maxTime)
        guard Self.bytes(maxMemory) != nil else {
            throw ValidationError("--max-memory \(maxMemory) is not a size; a size is written 500M or 2G.")
        }
    }

    private static func bytes(_ text: String) -> Int? {
        let units = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
        guard let last = text.last, let unit = units[String(last).uppercased()], let count = Int(text.dropLast()),
            count > 0, count < 1 << 20
        else { return nil }
        return count * unit
    }

    /// Says on a terminal how far the search is, and stops it at the bounds that need a clock or a look at memory.
    func limiter(_ what: String, since begin: Moment) -> SearchLimiter {
        let limiter = limiter([what])
        return { progress in
            var progress = progress
            progress.elapsed = Moment.now - begin
            return limiter(progress)
        }
    }

    /// The same for walks that are done together. Each has its time, and the memory is that of all.
    func limiter(_ walks: [String]) -> SearchLimiter {
        let timeMax = (try? searchTime(maxTime)) ?? .seconds(60)
        let memoryMax = Self.bytes(maxMemory) ?? .max
        let shown = Progress()
        return { progress in
            if progress.elapsed >= timeMax { return .time }
            var memory = Int(clamping: camarb_own_memory())
            if memory >= memoryMax {
                // Worlds that are done leave much that nobody uses.
                camarb_give_back_memory()
                memory = Int(clamping: camarb_own_memory())
                if memory >= memoryMax { return .memory }
            }
            shown.show(
                "world \(progress.world) of \(progress.worlds), "
                    + "\(progress.states) states, \(Self.rate(progress.transitions, progress.elapsed)) "
                    + "transitions/s, \(memory >> 20) MB", of: walks[progress.walk])
            return nil
        }
    }

    static func rate(_ transitions: Int, _ time: Duration) -> Int {
        let milliseconds = max(1, Int(time.wholeNanoseconds / 1_000_000))
        return transitions * 1000 / milliseconds
    }

    static func place(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        return (String(path[..<slash]), String(path[path.index(after: slash)...]))
    }
}

/// Drop-ins over policy files, read as camarbd reads them over its own.
struct PolicyFileOptions: ParsableArguments {
    @Option(
        help: .value(
            "folder", "Drop-ins to read over each policy file: every *.toml of the folder, in the order of the names."))
    var policyDir: String?

    func load(_ file: String) throws(Failure) -> LoadedPolicy { try Self.load(file, dropIns: policyDir) }

    static func load(_ file: String, dropIns: String?) throws(Failure) -> LoadedPolicy {
        do throws(FileProblems) {
            return try PolicyFile.load(path: file, dropIns: dropIns, accounts: MachineAccounts())
        } catch { throw Failure(error) }
    }

    func requirePolicy(_ policy: String?) throws(Failure) {
        if policy == nil, policyDir != nil {
            throw Failure(.usage, "--policy-dir needs --policy, whose drop-ins are meant.")
        }
    }

    func requireFolder() throws(Failure) {
        guard let policyDir else { return }
        guard let folder = opendir(policyDir) else {
            throw Failure.file("--policy-dir \(policyDir)", "cannot be read", errno)
        }
        closedir(folder)
    }

    /// What a scenario's `policy` line says of the policy, and the folder that it is relative to: its file, or the policy
    /// itself where drop-ins have made it one that is in no file.
    func line(_ file: String, _ policy: Policy) -> (name: String, folder: String) {
        let place = SearchOptions.place(file)
        return (policyDir == nil ? place.name : Scenario.policyBlock(policy), place.folder)
    }
}
