import ArbiterProtocol
package import ArgumentParser
import CLinux
import Glibc
package import PolicyFile
import Scenario
import System
import TomlFile
import Workbench

struct WorldOptions: ParsableArguments {
    private static let usual = (clients: 3, cameras: 2)

    @Option(help: .value("number", "Clients in a world: 1 to 4.")) var clients = usual.clients
    @Option(help: .value("number", "Cameras in a world: 1 to 3.")) var cameras = usual.cameras

    /// The options by which another command has the same world.
    var words: [String] {
        (clients == Self.usual.clients ? [] : ["--clients \(clients)"])
            + (cameras == Self.usual.cameras ? [] : ["--cameras \(cameras)"])
    }

    func validate() throws {
        guard (1...4).contains(clients) else { throw ValidationError("--clients \(clients) is outside 1 to 4.") }
        guard (1...3).contains(cameras) else { throw ValidationError("--cameras \(cameras) is outside 1 to 3.") }
    }
}

struct SearchOptions: ParsableArguments {
    @OptionGroup var world: WorldOptions
    @Flag(help: "Not every choice of kinds of clients, but only as many that every two kinds meet.") var pairs = false
    @Option(help: .value("number", "States to look at, at most.")) var maxStates = 5_000_000
    @Option(help: .value("time", "Time for each search, such as 30s or 10min."))
    var maxTime = TimeArgument(duration: .seconds(60))
    @Option(help: .value("size", "Memory for all searches, such as 500M or 2G."))
    var maxMemory = CountArgument(count: 2_000_000_000)

    func validate() throws {
        guard maxStates > 0 else { throw ValidationError("--max-states \(maxStates) is not above 0.") }
        guard maxMemory.count > 0 else { throw ValidationError("--max-memory 0 is not above 0.") }
    }

    var bounds: SearchBounds { SearchBounds(statesMax: maxStates) }

    /// Shows on a terminal how far the search is, and stops it at the bounds of time and memory.
    func limiter(_ what: String, since begin: Moment = .now) -> SearchLimiter {
        let limiter = limiter([what])
        return { progress in
            var progress = progress
            progress.elapsed = Moment.now - begin
            return limiter(progress)
        }
    }

    /// A limiter of walks that are done together: each has its time, and the memory is that of all.
    func limiter(_ walks: [String]) -> SearchLimiter {
        let (timeMax, memoryMax, shown) = (maxTime.duration, Int(clamping: maxMemory.count), Progress())
        return { progress in
            if progress.elapsed >= timeMax { return .time }
            var memory = Int(clamping: camarb_own_memory())
            if memory >= memoryMax {
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
        transitions * 1000 / max(1, Int(time.wholeNanoseconds / 1_000_000))
    }
}

package struct PolicyFileOptions: ParsableArguments {
    @Option(
        help: .value(
            "folder", "Drop-ins to read over each policy file: every *.toml of the folder, in the order of the names."))
    package var policyDir: String?

    package init() {}

    package func load(_ file: String) throws(Failure) -> LoadedPolicy { try Self.load(file, dropIns: policyDir) }

    package static func load(
        _ file: String, dropIns: String?, _ sentence: String = ""
    ) throws(Failure) -> LoadedPolicy {
        do throws(FileProblems) {
            return try PolicyFile.load(path: file, dropIns: dropIns, accounts: MachineAccounts())
        } catch { throw Failure(error, sentence) }
    }

    func check(_ file: String) -> FileProblems? {
        PolicyFile.check(path: file, dropIns: policyDir, accounts: MachineAccounts())
    }

    func requireFolder() throws(Failure) {
        if let policyDir { _ = try entries(of: policyDir, named: "--policy-dir \(policyDir)") }
    }

    /// A scenario's `policy` line for a policy, and the folder that it is relative to: its file, or the policy itself where
    /// drop-ins have changed it.
    func line(_ file: String, _ policy: Policy) -> (name: String, folder: String) {
        let place = place(of: file)
        return (policyDir == nil ? place.name : Scenario.policyBlock(policy), place.folder)
    }
}

package struct OtherPolicyOptions: ParsableArguments {
    @Option(help: .value("file", "Decide by this policy instead.")) package var policy: String?
    @OptionGroup package var policyFiles: PolicyFileOptions

    package init() {}

    package func validate() throws {
        if policy == nil, policyFiles.policyDir != nil {
            throw ValidationError("--policy-dir needs --policy, whose drop-ins are meant.")
        }
    }

    func load() throws(Failure) -> Policy? {
        guard let policy else { return nil }
        return try policyFiles.load(policy).policy
    }
}

struct ScenarioOptions: ParsableArguments {
    @Option(help: .value("folder", "The folder that `policy FILE` in a scenario is relative to."))
    var policies = "policies"
}
