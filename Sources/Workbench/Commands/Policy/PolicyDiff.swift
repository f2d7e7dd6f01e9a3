import ArbiterProtocol
import ArgumentParser
import PolicyFile
import Workbench

struct PolicyDiff: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Find the shortest scenario on which two policies behave differently, and all kinds of differences.",
        discussion: """
            Both policies go through the same events, in small worlds made of all that either of them reads; recorders \
            answer at once. A difference is one of a client's notices, or of a camera's holder; names of rules are none. \
            Each has one kind, by the second policy's treatment of apps:
            \(Self.vocabulary)
            --allow takes kinds, or a whole direction (stricter, laxer, other), that do not change the exit status. A path \
            ends at its first difference. Keys in which the two differ and that no walk reads are listed.
            Exit status 0: no difference, or only allowed ones. 1: another one. 6: no other difference so far, and a bound \
            cut the walk off, or the two differ in keys that no walk reads.
            Examples:
              camclient policy diff policies/ios9.toml policies/ipados16.toml
              camclient policy diff kiosk.toml kiosk-new.toml --clients 2 --depth 8
              camclient policy diff kiosk.toml kiosk-new.toml --allow stricter,timing
              camclient policy diff kiosk.toml kiosk-new.toml --witnesses seen
              camclient policy diff kiosk.toml kiosk.toml --second-dir drop-ins
            """)

    @Argument(help: .value("file", "The first policy file."), completion: .file(extensions: ["toml"])) var first: String
    @Argument(help: .value("file", "The second."), completion: .file(extensions: ["toml"])) var second: String
    @Option(help: .value("number", "Steps from the beginning, at most; without it the other bounds end the walk."))
    var depth: Int?
    @Flag(help: "Walk events that no policy reads, too: the machine's own, configurations, clients that vanish.")
    var everything = false
    @Option(help: .value("kinds", "Kinds of differences, or directions, that are allowed, with commas between them."))
    var allow: String?
    @Option(help: .value("folder", "Write the shortest scenario of each kind into this folder, under either policy."))
    var witnesses: String?
    @OptionGroup var policyFiles: PolicyFileOptions
    @Option(help: .value("folder", "Drop-ins of the first alone, instead of --policy-dir.")) var firstDir: String?
    @Option(help: .value("folder", "Drop-ins of the second alone, instead of --policy-dir.")) var secondDir: String?
    @OptionGroup var search: SearchOptions
    @OptionGroup var output: OutputOptions

    private static var vocabulary: String {
        DifferenceKind.allCases.map { "  \($0.rawValue) (\($0.direction.rawValue)): \($0.sentence)" }
            .joined(separator: "\n")
    }

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
        let (allowed, world, begin) = (try allowed(), search.world, Moment.now)
        let report: PolicyDifference.Report
        var (neverVaried, notCompared): ([String], [String]) = ([], [])
        if let idle = PolicyDifference.idleRanksOfEquals(policies[0], policies[1]) {
            report = .nothingToWalk(idle)
        } else {
            let difference = try PolicyDifference(
                policies[0], policies[1], clients: world.clients, cameras: world.cameras, pairsOnly: search.pairs,
                scope: everything ? .everything : .policy)
            neverVaried = difference.neverVaried
            notCompared = difference.keysNotCompared.map(\.description)
            report = difference.run(
                SearchBounds(statesMax: search.maxStates, depthMax: depth ?? .max), allowed: allowed,
                limiter: search.limiter("\(first) and \(second)", since: begin))
        }
        let took = Moment.now - begin
        try writeWitnesses(report.differences)
        let names = policies[0].name == policies[1].name ? sides : policies.map(\.name)
        let shown = DifferenceReport(
            command: self, report: report, names: names, allowed: allowed, neverVaried: neverVaried,
            notCompared: notCompared, took: took)
        output.show(shown.json, shown.lines)
        if report.forbidden != nil { throw Failure(.answerIsNo) }
        if report.cutOffBy != nil || !notCompared.isEmpty { throw Failure(.cutOff) }
    }

    private var sides: [String] {
        first != second
            ? [first, second]
            : zip([first, second], [firstDir, secondDir]).map { file, folder in
                folder.map { "\(file) with \($0)" } ?? file
            }
    }

    private func writeWitnesses(_ differences: [PolicyDifference.Difference]) throws(Failure) {
        guard let folder = witnesses, !differences.isEmpty else { return }
        try makeFolder(folder)
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

struct DifferenceReport {
    let command: PolicyDiff
    let report: PolicyDifference.Report
    let names: [String]
    let allowed: Set<DifferenceKind>
    let neverVaried: [String]
    let notCompared: [String]
    let took: Duration

    var lines: [String] {
        if report.isSame { return sameLines }
        let figures =
            "\(report.states.grouped) states and \(report.transitions.grouped) transitions of \(report.worlds) worlds "
            + "in \(took.shortText)"
        guard let witness = report.witness else {
            let cut = report.cutOffBy.map { "NOT COMPLETE, cut off \($0.sentence): no difference so far" }
            let keys = notCompared.isEmpty ? nil : "NOT COMPARED: \(unseen); no other difference"
            var lines = ["\(cut ?? keys ?? "no difference") in any world \(size); \(figures)"]
            if cut != nil, keys != nil { lines.append("  not compared: \(unseen)") }
            return lines + ["  never varied: \(neverVaried.joined(separator: ", "))"]
        }
        var lines =
            ["# \(names[0]) and \(names[1]) differ after \(witness.length.counted("step")):", ""] + witness.inputs
        for (name, outcome) in zip(names, witness.outcomes) {
            lines += ["  \(name):"] + (outcome.isEmpty ? ["nobody is told anything"] : outcome).map { "       \($0)" }
        }
        let reach =
            report.cutOffBy.map { "until it was cut off \($0.sentence)" }
            ?? (report.isExhausted ? "in all worlds" : "within \(report.depth.counted("step"))")
        lines += ["", "# Kinds of differences \(reach) (\(figures)):"]
        for difference in report.differences { lines += self.lines(difference).map { "# \($0)" } }
        if !report.perhaps.isEmpty {
            let kinds = report.perhaps.map(\.rawValue).joined(separator: ", ")
            lines.append(
                "#   \(kinds) (allowed): perhaps, in more than \(report.depth) steps, where nearly all of a lease is used up"
            )
        }
        if !notCompared.isEmpty { lines.append("# Not compared: \(unseen).") }
        if let page { lines.append("# \(page)") }
        return allowed.isEmpty ? lines : lines + ["# \(verdict)"]
    }

    /// A page has files as they are, without drop-ins of their own.
    private var page: String? {
        guard command.policyFiles.policyDir == nil, command.firstDir == nil, command.secondDir == nil else {
            return nil
        }
        return PolicyReportCommand.advice(command.second, against: command.first, command.search.world)
    }

    private var sameLines: [String] {
        let idle = report.idleRanks.map { "“\($0)”" }.joined(separator: ", ")
        let same =
            "no difference: names apart, the rules of both answer the same for all facts, and all else is equal; "
            + "nothing had to be walked"
        return idle.isEmpty
            ? [same]
            : [same, "  no rule gives the rank \(idle): only a program that lowers itself to it by name could tell"]
    }

    private var unseen: String { "they differ in \(notCompared.joined(separator: ", ")), which no walk reads" }

    private var verdict: String {
        if let forbidden = report.forbidden { return "Not allowed: \(forbidden.rawValue)." }
        return report.cutOffBy == nil && notCompared.isEmpty
            ? "Only what is allowed was found." : "Only what is allowed was found so far, and that is not the whole."
    }

    private var size: String {
        let steps = report.isExhausted ? "any number of steps" : report.depth.counted("step")
        let world = command.search.world
        return
            "of \(populationsWords(report.populations, of: report.populationsInAll)), \(worldWords(world.clients, world.cameras)), \(steps)"
    }

    private func lines(_ difference: PolicyDifference.Difference) -> [String] {
        let kind = difference.kind
        var head = "  \(kind.rawValue) (\(kind.direction.rawValue)"
        if !allowed.isEmpty { head += allowed.contains(kind) ? ", allowed" : ", not allowed" }
        head +=
            "): \(kind.sentence); \(difference.situations.counted("situation")), first after \(difference.witness.length.counted("step"))"
        var lines = [head]
        let whose = difference.apps.isEmpty ? "a camera" : difference.apps.joined(separator: ", ")
        lines.append(
            "    \(whose): "
                + zip(names, difference.rules).map { name, rules in
                    rules.isEmpty
                        ? "no rule of \(name) speaks"
                        : "\(name) because " + rules.map { "“\($0)”" }.joined(separator: " and ")
                }.joined(separator: "; "))
        let sentences = report.kinds.filter { $0.kind == kind }.map { "    \(sentence($0))" }
        lines += sentences.prefix(Self.sentencesMax)
        let more = sentences.count - Self.sentencesMax
        return more > 0 ? lines + ["    and in \(more) other way\(more == 1 ? "" : "s"), which --json lists"] : lines
    }

    /// The most frequent ways in which a difference of one kind comes about: a screen for all kinds together.
    private static let sentencesMax = 3

    private func sentence(_ kind: PolicyDifference.Kind) -> String {
        "\(names[0]) \(kind.outcomes[0]) where \(names[1]) \(kind.outcomes[1]): "
            + "\(kind.situations.counted("situation")), first after \(kind.shortest.counted("step"))"
    }

    var json: JSONObject {
        [
            "first": command.first, "second": command.second, "clients": command.search.world.clients,
            "cameras": command.search.world.cameras, "same": report.isSame,
            "idleRanks": report.idleRanks, "everything": command.everything, "casts": report.populations,
            "castsInAll": report.populationsInAll, "neverVaried": neverVaried, "notCompared": notCompared,
            "worlds": report.worlds, "states": report.states, "transitions": report.transitions,
            "steps": report.depth, "exhausted": report.isExhausted, "cutOffBy": report.cutOffBy?.rawValue,
            "seconds": took.roundSeconds, "difference": report.witness?.json, "forbidden": report.forbidden?.rawValue,
            "differences": report.differences.map { difference in
                [
                    "kind": difference.kind.rawValue, "direction": difference.kind.direction.rawValue,
                    "allowed": allowed.contains(difference.kind), "situations": difference.situations,
                    "apps": difference.apps, "rules": difference.rules, "witness": difference.witness.json,
                    "scenarios": difference.scenarios,
                ] as JSONObject
            }, "perhaps": report.perhaps.map(\.rawValue),
            "kinds": report.kinds.map { kind in
                [
                    "kind": kind.kind.rawValue, "direction": kind.kind.direction.rawValue, "outcomes": kind.outcomes,
                    "situations": kind.situations, "shortest": kind.shortest, "sentence": sentence(kind),
                ] as JSONObject
            },
        ]
    }
}

extension PolicyDifference.Witness {
    var json: JSONObject { ["length": length, "inputs": inputs, "outcomes": outcomes] }
}
