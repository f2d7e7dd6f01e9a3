import Arbiter
import ArbiterProtocol
import ArgumentParser
import Glibc
import PolicyFile
import Scenario
import System
import TomlFile
import Workbench

struct PolicyVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Walk every state that small worlds can reach under a policy, and look for a broken promise.",
        discussion: """
            The worlds come from the policy: every choice of its kinds of clients, its cameras, and every event that it \
            can see; recorders answer at once. With --everything they answer whenever they like, cameras are unplugged \
            and blocked, clients vanish and configure, the machine sleeps, and the policy is loaded anew: best in a \
            smaller world.
            In each state the broker's own promises have to hold (docs/semantics.md, 8), and the [[never]] and \
            [[always]] statements of the policy. What breaks one is printed as the shortest scenario, which \
            `camclient test` runs, with a table of who holds, has won and waits for each camera in the end, and, where \
            one change of a rule or a choice repairs it, with that change. An [[always]] statement with fair = true, \
            about apps that go on asking, is broken by a loop of events, which the scenario shows twice. A statement that applied in no \
            state, or names what no rule knows, is a problem.
            Worlds are walked on all cores, also those of several policies; the verdict is the same with any number of \
            threads. With --resume the worlds that were walked whole are kept in a file, and a walk that was stopped or \
            cut off goes on where it was.
            Statements about time (within, warned, at-most) are walked in worlds of their own, where time also passes between deadlines; the verdict says in which steps.
            Exit status 0: everything was walked, and holds. 1: something is broken, or a problem. 6: cut off by a \
            bound before everything was walked, or the policy has a key that no walk reads, and nothing is broken so far.
            Examples:
              camclient policy verify policies/kiosk.toml
              camclient policy verify kiosk.toml --policy-dir /etc/camarb/policy.d
              camclient policy verify kiosk.toml --clients 2 --cameras 1 --everything
              camclient policy verify kiosk.toml --max-time 10min > broken.scenario
              camclient policy verify *.toml --clients 4 --max-time 1h --resume walk
            """)

    @Argument(help: .value("file", "The policy file, or several."), completion: .file(extensions: ["toml"]))
    var files: [String]
    @Flag(help: "Also what no policy sees: late recorders, the machine's own events, configurations, reloads.")
    var everything = false
    @Option(
        help: .value(
            "file", "Keep the worlds that were walked whole in this file, and do not walk those that are in it."),
        completion: .file()) var resume: String?
    @Flag(help: "Do not look for the change of the policy that repairs what is broken.") var noRepairs = false
    @OptionGroup var policyFiles: PolicyFileOptions
    @Option(help: .value("number", "Threads: 1 to 64; as many as there are cores when it is missing."))
    var threads: Int?
    @OptionGroup var search: SearchOptions
    @OptionGroup var output: OutputOptions

    /// More cores than most machines have. Each takes the memory of a world under way.
    private static let threadsMax = 64

    private var threadsUsed: Int { threads ?? min(Self.threadsMax, max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))) }

    func validate() throws {
        if let threads, !(1...Self.threadsMax).contains(threads) {
            throw ValidationError("--threads \(threads) is outside 1 to \(Self.threadsMax).")
        }
    }

    private var scope: WalkScope { everything ? .everything : .policy }

    func run() async throws {
        // A mistake in any file is said before anything is walked.
        let policies = try files.map { try policyFiles.load($0).policy }
        var record = try resume.map { try WalkRecord($0, files: files, policies, search, everything: everything) }
        let walks = try zip(files, policies).enumerated().map { index, pair in
            try planned(pair.0, pair.1, known: record?.known(index) ?? [:])
        }
        if let record, record.knownCount > 0 {
            Output.notice("\(record.path): \(record.knownCount.grouped) worlds were walked whole before")
        }
        var verdicts: [VerifyVerdict] = []
        var failure: Failure?
        let begin = Moment.now
        let limiter = search.limiter(files)
        PolicyWalk.run(
            walks, threads: threadsUsed, clock: { Moment.now }, limiter: { failure == nil ? limiter($0) : .time },
            kept: { policy, world, figures in
                do throws(Failure) { try record?.keep(policy, world, figures, at: Moment.now) } catch {
                    // Nothing is worth walking on for that cannot be kept.
                    failure = error
                }
            },
            ended: { end in
                guard failure == nil else { return }
                let (file, walk) = (files[end.walk], walks[end.walk].walk)
                let verdict = VerifyVerdict(
                    file: file, dropIns: policyFiles.policyDir, walk: walk,
                    report: completed(end.report, of: walk, file), took: end.took)
                verdicts.append(verdict)
                if output.json { Output.json(verdict.json) } else { verdict.show() }
            })
        try record?.finish()
        if let failure { throw failure }
        if verdicts.count > 1, !output.json { sum(verdicts, Moment.now - begin) }
        if verdicts.contains(where: { $0.report.finding != nil || !$0.problems.isEmpty }) {
            throw Failure(.answerIsNo)
        }
        if verdicts.contains(where: { $0.report.cutOffBy != nil || !$0.isWhole }) { throw Failure(.cutOff) }
    }

    private func completed(_ report: PolicyWalk.Report, of walk: PolicyWalk, _ file: String) -> PolicyWalk.Report {
        let place = policyFiles.line(file, walk.policy)
        var report = report
        walk.walkCourses(
            &report, SearchBounds(statesMax: search.maxStates), policyLine: place.name, policies: place.folder,
            limiter: search.limiter(file, since: Moment.now))
        if !noRepairs {
            walk.lookForRepairs(
                &report, file: file, dropIns: policyFiles.policyDir, policies: place.folder,
                search.limiter(file, since: Moment.now))
        }
        return report
    }

    private func planned(_ file: String, _ policy: Policy, known: [Int: WalkedWorld]) throws -> PlannedWalk {
        let place = policyFiles.line(file, policy)
        return try at(file) { () throws(ScenarioError) in
            let walk = try PolicyWalk(
                policy, clients: search.world.clients, cameras: search.world.cameras, scope: scope,
                pairsOnly: search.pairs)
            return PlannedWalk(
                walk, SearchBounds(statesMax: search.maxStates), policyLine: place.name, policies: place.folder,
                known: known)
        }
    }

    /// Walks overlap, so that their times add up to more than all of them took.
    private func sum(_ verdicts: [VerifyVerdict], _ took: Duration) {
        let states = verdicts.reduce(0) { $0 + $1.report.states }
        let transitions = verdicts.reduce(0) { $0 + $1.report.transitions }
        let threads = threadsUsed
        // A scenario on standard output stays one.
        Output.notice(
            "\(verdicts.count) policies in \(took.shortText) on \(threads) thread\(threads == 1 ? "" : "s"): "
                + "\(states.grouped) states, \(transitions.grouped) transitions, "
                + "\(SearchOptions.rate(transitions, took).grouped) a second")
    }
}

extension PolicyWalk {
    func lookForRepairs(
        _ report: inout Report, file: String, dropIns: String?, policies: String, _ limiter: @escaping SearchLimiter
    ) {
        guard var finding = report.finding else { return }
        let found = RepairSearch(self, finding, policies: policies).run(limiter)
        finding.note(found, Self.origins(file, dropIns))
        report.finding = finding
    }

    static func origins(_ file: String, _ dropIns: String?) -> (PolicyPart) -> String? {
        var places: [PolicyPart: LoadedPolicy.Origin] = [:]
        do throws(FileProblems) {
            places = try PolicyFile.load(path: file, dropIns: dropIns, accounts: MachineAccounts()).origins
        } catch {
            // It was read a moment ago; now its lines are not known.
        }
        return { place in
            places[place].map { "\(SearchOptions.place($0.file).name):\($0.line)" }
        }
    }
}
