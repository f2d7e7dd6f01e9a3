import Arbiter
import ArbiterProtocol
import ArgumentParser
import Exploration
import JSONText
import Machine
import PolicyFile
import Scenario
import Timeline
import TomlFile

/// Whether a policy keeps what is promised, in every state of small worlds.
struct PolicyVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Walk every state that small worlds can reach under a policy, and look for a broken promise.",
        discussion: """
            The worlds come from the policy: every choice of its kinds of clients, its cameras, and every event that it
            can see; recorders answer at once. With --everything they answer whenever they like, cameras are unplugged
            and blocked, clients vanish and configure, the machine sleeps, and the policy is loaded anew: best in a
            smaller world.
            In each state the broker's own promises have to hold (docs/semantics.md, 8), and the [[never]] and
            [[always]] statements of the policy. What breaks one is printed as the shortest scenario, which
            `camclient test` runs. A statement that applied in no state, or names what no rule knows, is a problem.
            Statements about time (within, warned, at-most) are walked in worlds of their own, of two clients at most,
            where time also passes between deadlines; the verdict says in which steps.
            Exit status 0: everything was walked, and holds. 1: something is broken, or a problem. 6: cut off by a
            bound before everything was walked, and nothing is broken so far.
            Examples:
              camclient policy verify policies/kiosk.toml
              camclient policy verify kiosk.toml --clients 2 --cameras 1 --everything
              camclient policy verify kiosk.toml --max-time 10min --max-memory 8G > broken.scenario
            """)

    @Argument(
        help: ArgumentHelp("The policy file; several are verified one after the other.", valueName: "file"),
        completion: .file(extensions: ["toml"]))
    var files: [String]
    @Flag(help: "Also what no policy sees: late recorders, the machine's own events, configurations, reloads.")
    var everything = false
    @OptionGroup var search: SearchOptions
    @OptionGroup var output: OutputOptions

    private var scope: WalkScope { everything ? .everything : .policy }

    func run() async throws {
        var isBroken = false
        var cut: SearchBound?
        // A mistake in any file is said before anything is walked.
        let policies = try files.map { file in
            do throws(FileProblems) {
                return try PolicyFile.load(path: file, accounts: MachineAccounts())
            } catch {
                throw Failure(.usage, error.description)
            }
        }
        for (file, policy) in zip(files, policies) {
            let walk: PolicyWalk
            do throws(ScenarioError) {
                walk = try PolicyWalk(
                    policy, clients: search.clients, cameras: search.cameras, scope: scope, pairsOnly: search.pairs)
            } catch {
                throw Failure(.usage, "\(file): \(error)")
            }
            let begin = Moment.now
            let place = SearchOptions.place(file)
            let report = walk.run(
                SearchBounds(statesMax: search.maxStates), policyLine: place.name, policies: place.folder,
                limiter: search.limiter(file, since: begin))
            let took = Moment.now - begin
            if Output.isErrorTerminal, took > .seconds(2) { Output.progress("") }
            let verdict = VerifyVerdict(file: file, walk: walk, report: report, took: took)
            if output.json { Output.line(verdict.json.text) } else { verdict.show() }
            isBroken = isBroken || report.finding != nil || !verdict.problems.isEmpty
            cut = cut ?? report.cutOffBy
        }
        if isBroken { throw Failure(.answerIsNo, "") }
        if cut != nil { throw Failure(.cutOff, "") }
    }
}
