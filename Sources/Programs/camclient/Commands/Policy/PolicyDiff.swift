import Arbiter
import ArbiterProtocol
import ArgumentParser
import Glibc
import PolicyFile
import Scenario
import Workbench

struct PolicyDiff: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Find the shortest scenario on which two policies behave differently, and all kinds of differences.",
        discussion: """
            Two policies that say the same, names and orders that are nothing apart, are said to: nothing is walked then.
            Else both live through the same events, in small worlds made of what either of them can see; recorders answer \
            at once. A difference is what clients are told, and which app holds which camera; names of rules are none.
            Each difference is of one kind, as the second policy treats apps:
            \(Self.vocabulary)
            --allow names kinds, or a whole direction (stricter, laxer, other), that are no reason to say no: the worlds are \
            then walked whole, and not only a few steps behind the first difference. A path ends at its first difference; what \
            follows from that one is no other.
            Keys by which the two differ and that no walk reads (units, hours of modes, what the machine measures) are named.
            Exit status 0: no difference, or only allowed ones. 1: another one. 6: cut off by a bound, or keys differ that no \
            walk reads, and no other difference was found.
            Examples:
              camclient policy diff policies/ios9.toml policies/ipados16.toml
              camclient policy diff kiosk.toml kiosk-new.toml --clients 2 --depth 8
              camclient policy diff kiosk.toml kiosk-new.toml --allow stricter,timing
              camclient policy diff kiosk.toml kiosk-new.toml --witnesses seen
              camclient policy diff kiosk.toml kiosk.toml --second-dir drop-ins
            """)

    @Argument(help: ArgumentHelp("The first policy file.", valueName: "file"), completion: .file(extensions: ["toml"]))
    var first: String
    @Argument(help: ArgumentHelp("The second.", valueName: "file"), completion: .file(extensions: ["toml"]))
    var second: String
    @Option(
        help: ArgumentHelp(
            "Steps from the beginning, at most; without it as far as the bounds reach.", valueName: "number"))
    var depth: Int?
    @Flag(help: "Also what no policy sees: the machine's own events, configurations, clients that vanish.")
    var everything = false
    @Option(
        help: ArgumentHelp(
            "Kinds of differences, or directions, that are allowed, with commas between them.", valueName: "kinds"))
    var allow: String?
    @Option(
        help: ArgumentHelp(
            "Write the shortest way to each kind of difference into this folder, as a scenario under either policy.",
            valueName: "folder")) var witnesses: String?
    @OptionGroup var policyFiles: PolicyFileOptions
    @Option(help: ArgumentHelp("Drop-ins of the first alone, instead of --policy-dir.", valueName: "folder"))
    var firstDir: String?
    @Option(help: ArgumentHelp("Drop-ins of the second alone, instead of --policy-dir.", valueName: "folder"))
    var secondDir: String?
    @OptionGroup var search: SearchOptions
    @OptionGroup var output: OutputOptions

    private static var vocabulary: String {
        DifferenceKind.allCases.map { "  \($0.rawValue) (\($0.direction.rawValue)): \($0.sentence)" }
            .joined(separator: "\n")
    }

    /// - Throws: a word that is neither a kind nor a direction.
    private func allowed() throws -> Set<DifferenceKind> {
        var allowed: Set<DifferenceKind> = []
        for word in (allow ?? "").split(separator: ",", omittingEmptySubsequences: false) where allow != nil {
            guard let kinds = DifferenceKind.meant(by: String(word)) else {
                let words = DifferenceKind.Direction.allCases.map(\.rawValue) + DifferenceKind.allCases.map(\.rawValue)
                let meant = NearestWord.of(String(word), among: words).map { "; did you mean “\($0)”?" } ?? "."
                throw ValidationError("--allow has “\(word)” in it; it takes \(words.joined(separator: ", "))\(meant)")
            }
            allowed.formUnion(kinds)
        }
        return allowed
    }

    func validate() throws {
        _ = try allowed()
        if let depth, depth < 1 { throw ValidationError("--depth \(depth) is below 1.") }
    }

    func run() async throws {
        let policies = [
            try PolicyFileOptions.load(first, dropIns: firstDir ?? policyFiles.policyDir).policy,
            try PolicyFileOptions.load(second, dropIns: secondDir ?? policyFiles.policyDir).policy,
        ]
        let allowed = try allowed()
        let begin = Moment.now
        var report = PolicyDifference.Report()
        var (neverVaried, notCompared): ([String], [String]) = ([], [])
        if let idle = PolicyDifference.idleRanksOfEquals(policies[0], policies[1]) {
            report = .nothingToWalk(idle)
        } else {
            do throws(ScenarioError) {
                let difference = try PolicyDifference(
                    policies[0], policies[1], clients: search.clients, cameras: search.cameras, pairsOnly: search.pairs,
                    scope: everything ? .everything : .policy)
                neverVaried = difference.neverVaried
                notCompared = difference.keysNotCompared.map(\.description)
                report = difference.run(
                    SearchBounds(statesMax: search.maxStates, depthMax: depth ?? .max), allowed: allowed,
                    limiter: search.limiter("\(first) and \(second)", since: begin))
            } catch { throw Failure(.usage, error.description) }
        }
        let took = Moment.now - begin
        try writeWitnesses(report.differences)
        // Two files may hold policies of one name.
        let names = policies[0].name == policies[1].name ? sides : policies.map(\.name)
        let shown = DifferenceReport(
            report: report, names: names, allowed: allowed, neverVaried: neverVaried,
            notCompared: notCompared, took: took, files: [first, second], everything: everything,
            clients: search.clients, cameras: search.cameras)
        if output.json { Output.line(shown.json.text) } else { shown.show() }
        if report.forbidden != nil { throw Failure(.answerIsNo, "") }
        if report.cutOffBy != nil || !notCompared.isEmpty { throw Failure(.cutOff, "") }
    }

    /// The files; of one file with two folders of drop-ins, also those.
    private var sides: [String] {
        first != second
            ? [first, second]
            : zip([first, second], [firstDir, secondDir]).map { file, folder in
                folder.map { "\(file) with \($0)" } ?? file
            }
    }

    /// `refused.first.scenario` and `refused.second.scenario` of each kind.
    private func writeWitnesses(_ differences: [PolicyDifference.Difference]) throws(Failure) {
        guard let folder = witnesses, !differences.isEmpty else { return }
        if mkdir(folder, 0o777) != 0, errno != EEXIST { throw Failure.file(folder, "cannot be made", errno) }
        for difference in differences {
            for (side, text) in zip(["first", "second"], difference.scenarios ?? []) {
                try writeText(text, to: "\(folder)/\(difference.kind.rawValue).\(side).scenario")
            }
            if difference.scenarios == nil {
                Output.notice(
                    "camclient: a scenario cannot show the shortest difference of kind \(difference.kind.rawValue)")
            }
        }
    }
}
