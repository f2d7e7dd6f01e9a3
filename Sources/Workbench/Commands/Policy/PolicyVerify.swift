import ArbiterProtocol
import ArgumentParser
import Glibc
import PolicyFile
import Scenario
import Workbench

struct PolicyVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Walk every state that small worlds can reach under a policy, and look for a broken promise.",
        discussion: """
            The worlds come from the policy: every choice of its kinds of clients, its cameras, and every event that it \
            reads. --everything adds late recorders, unplugged and blocked cameras, clients that vanish, sleep and \
            reloads: best in a smaller world.
            Each state is checked against the broker's own promises (docs/semantics.md, 8) and the policy's [[never]] and \
            [[always]] statements. A broken one is printed as the shortest scenario, which `camclient test` runs, with \
            the cameras' holders and waiting apps in the end and, where one change of a rule or a choice repairs it, with \
            that change. A loop that breaks a fair statement is printed twice around. A statement that applies in no \
            state is a problem. Times (within, warned, at-most) are walked in worlds of their own.
            With --resume a file keeps the worlds that were walked whole, and an interrupted walk continues with the others.
            Exit status 0: everything was walked, and holds. 1: something is broken, or a problem. 6: nothing is broken so \
            far, and a bound cut the walk off, or the policy has a key that no walk reads.
            Examples:
              camclient policy verify policies/kiosk.toml
              camclient policy verify kiosk.toml --policy-dir /etc/camarb/policy.d
              camclient policy verify kiosk.toml --clients 2 --cameras 1 --everything
              camclient policy verify kiosk.toml --max-time 10min > broken.scenario
              camclient policy verify *.toml --clients 4 --max-time 1h --resume walk
            """)

    @Argument(help: .value("file", "The policy file, or several."), completion: .file(extensions: ["toml"]))
    var files: [String]
    @Flag(help: "Walk events that no policy reads, too: late recorders, the machine's own events, reloads.")
    var everything = false
    @Option(
        help: .value("file", "Keep the worlds that were walked whole in this file, and walk only the others."),
        completion: .file()) var resume: String?
    @Flag(help: "Do not search for the change of the policy that repairs a broken promise.") var noRepairs = false
    @OptionGroup var policyFiles: PolicyFileOptions
    @Option(help: .value("number", "Threads: 1 to 64; without it as many as cores."))
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

    func run() async throws {
        // A mistake in any file ends the command before the first walk.
        let policies = try files.map { try policyFiles.load($0).policy }
        var record = try resume.map { try WalkRecord($0, files: files, policies, search, everything: everything) }
        let walks = try zip(files, policies).enumerated().map { index, pair in
            try planned(pair.0, pair.1, known: record?.known(index) ?? [:])
        }
        if let record, record.knownCount > 0 {
            Output.notice("\(record.path): walked whole before: \(record.knownCount.counted("world"))")
        }
        var verdicts: [VerifyVerdict] = []
        var failure: Failure?
        let begin = Moment.now
        let limiter = search.limiter(files)
        PolicyWalk.run(
            walks, threads: threadsUsed, clock: { Moment.now }, limiter: { failure == nil ? limiter($0) : .time },
            kept: { policy, world, figures in
                do throws(Failure) { try record?.keep(policy, world, figures) } catch { failure = error }
            },
            ended: { end in
                guard failure == nil else { return }
                let (file, walk) = (files[end.walk], walks[end.walk].walk)
                let verdict = VerifyVerdict(
                    file: file, dropIns: policyFiles.policyDir, walk: walk,
                    report: completed(end.report, of: walk, file), took: end.took,
                    page: PolicyReportCommand.advice(file, dropIns: policyFiles.policyDir, search.world))
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
            &report, search.bounds, policyLine: place.name, policies: place.folder, limiter: search.limiter(file))
        if !noRepairs, var finding = report.finding {
            let found = RepairSearch(walk, finding, policies: place.folder).run(search.limiter(file))
            finding.note(found, VerifyVerdict.origins(file, policyFiles.policyDir))
            report.finding = finding
        }
        return report
    }

    private func planned(_ file: String, _ policy: Policy, known: [Int: WalkedWorld]) throws -> PlannedWalk {
        let place = policyFiles.line(file, policy)
        return try at(file) { () throws(ScenarioError) in
            let walk = try PolicyWalk(
                policy, clients: search.world.clients, cameras: search.world.cameras,
                scope: everything ? .everything : .policy,
                pairsOnly: search.pairs)
            return PlannedWalk(
                walk, search.bounds, policyLine: place.name, policies: place.folder, known: known)
        }
    }

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

/// The file of `policy verify --resume`: the worlds that were walked whole, with their figures. One JSON value a line: the walk
/// and its program, then each world. It is written anew as a whole, so that after a crash it is a whole file.
struct WalkRecord {
    let path: String
    private let header: JSON
    private var policies: [Walked]
    private var written: Moment?
    private var isBehind = false

    private struct Walked {
        var file: String
        var fingerprint: String
        var worlds: [Int: WalkedWorld] = [:]
    }

    /// Small worlds come by the hundred a second; a killed process loses a second's work at most.
    private static let pause = Duration.seconds(1)

    init(
        _ path: String, files: [String], _ policies: [Policy], _ search: SearchOptions, everything: Bool
    ) throws {
        self.path = path
        var walked = zip(files, policies).map { file, policy in
            Walked(file: file, fingerprint: Fingerprint(of: PolicyWriter.text(policy)).text)
        }
        header = try JSONEncoding.json(
            of: [
                "walk": "camclient policy verify", "version": Release.version, "program": try Self.program(),
                "clients": search.world.clients, "cameras": search.world.cameras, "pairs": search.pairs,
                "everything": everything,
                "policies": walked.map { ["file": $0.file, "fingerprint": $0.fingerprint] as JSONObject },
            ] as JSONObject)
        if access(path, F_OK) == 0 {
            var lines = try readText(path).split(separator: "\n", omittingEmptySubsequences: true)
            guard let first = lines.first else { throw Self.noRecord(path, 1, "it is empty") }
            if let difference = Self.difference(try Self.read(first, path, 1), header) {
                throw Failure(
                    .usage, "\(path) cannot be gone on with: \(difference). Name another file, or remove this one.")
            }
            lines.removeFirst()
            for (number, line) in lines.enumerated() { try Self.take(line, path, number + 2, into: &walked) }
        }
        self.policies = walked
        // A folder where nothing can be written ends the command before hours of walks.
        try write()
    }

    func known(_ policy: Int) -> [Int: WalkedWorld] { policies[policy].worlds }

    var knownCount: Int { policies.reduce(0) { $0 + $1.worlds.count } }

    mutating func keep(_ policy: Int, _ world: Int, _ figures: WalkedWorld) throws(Failure) {
        let now = Moment.now
        policies[policy].worlds[world] = figures
        isBehind = true
        if let written, now - written < Self.pause { return }
        try write()
        written = now
    }

    mutating func finish() throws(Failure) {
        if isBehind { try write() }
        isBehind = false
    }

    private func write() throws(Failure) {
        var lines = [header.text]
        for (index, policy) in policies.enumerated() {
            lines += policy.worlds.sorted { $0.key < $1.key }.map { number, world in
                JSONEncoding.text(
                    of: [
                        "policy": index, "world": number, "states": world.states, "transitions": world.transitions,
                        "depth": world.depth, "recounted": world.recounted, "applied": world.applied,
                    ] as JSONObject)
            }
        }
        try writeTextAtOnce(lines.joined(separator: "\n") + "\n", to: path)
    }

    private static func noRecord(_ path: String, _ line: Int, _ what: String) -> Failure {
        Failure(.usage, "\(path):\(line): this is not a file of camclient policy verify --resume: \(what).")
    }

    private static func read(_ line: Substring, _ path: String, _ number: Int) throws(Failure) -> JSON {
        do throws(JSONReader.Problem) { return try JSONReader.read(line) } catch {
            throw noRecord(path, number, error.message)
        }
    }

    private static func take(
        _ line: Substring, _ path: String, _ number: Int, into walked: inout [Walked]
    ) throws(Failure) {
        let json = try read(line, path, number)
        func count(_ key: String) throws(Failure) -> Int {
            guard let value = json[key]?.integer, let count = Int(exactly: value), count >= 0 else {
                throw noRecord(path, number, "it has no number “\(key)”")
            }
            return count
        }
        let policy = try count("policy")
        guard walked.indices.contains(policy) else { throw noRecord(path, number, "there is no policy \(policy)") }
        let applied = (json["applied"]?.array ?? []).compactMap { $0.integer.flatMap { Int(exactly: $0) } }
        let world = WalkedWorld(
            states: try count("states"), transitions: try count("transitions"), depth: try count("depth"),
            recounted: try count("recounted"), applied: applied)
        walked[policy].worlds[try count("world")] = world
    }

    private static func difference(_ known: JSON, _ asked: JSON) -> String? {
        guard known["walk"] == asked["walk"] else { return "it is not a file of camclient policy verify --resume" }
        guard known["version"] == asked["version"] else {
            let other = known["version"]?.string ?? "of another version"
            return "camclient \(other) began it, and this is \(Release.version)"
        }
        guard known["program"] == asked["program"] else {
            return "another build of camclient \(Release.version) began it, which may walk otherwise"
        }
        for key in ["clients", "cameras"] where known[key] != asked[key] {
            return "it was begun with --\(key) \(known[key]?.integer ?? 0), and now it is \(asked[key]?.integer ?? 0)"
        }
        for key in ["pairs", "everything"] where known[key] != asked[key] {
            return "it was begun \(known[key]?.bool == true ? "with" : "without") --\(key)"
        }
        let (before, now) = (known["policies"]?.array ?? [], asked["policies"]?.array ?? [])
        if before == now { return nil }
        for (one, other) in zip(before, now) where one != other {
            let file = one["file"]?.string ?? ""
            return file == other["file"]?.string
                ? "\(file) says something else than when it was begun" : "it was begun with the files in another order"
        }
        return "it was begun with \(before.count) policies, and now there are \(now.count)"
    }

    /// The fingerprint of this program: another build of its version may walk otherwise.
    private static func program() throws(Failure) -> String {
        let path = "/proc/self/exe"
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, fstat(descriptor, &status) == 0,
            let bytes = mmap(nil, Int(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0), bytes != MAP_FAILED
        else { throw Failure.file(path, "cannot be read", errno) }
        defer { munmap(bytes, Int(status.st_size)) }
        return Fingerprint(of: UnsafeRawBufferPointer(start: bytes, count: Int(status.st_size))).text
    }
}
