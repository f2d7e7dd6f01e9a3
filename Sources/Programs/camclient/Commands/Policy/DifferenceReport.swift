import ArbiterProtocol
import Workbench

/// What a comparison of two policies came to, in words and for programs.
struct DifferenceReport {
    let report: PolicyDifference.Report
    let names: [String]
    let allowed: Set<DifferenceKind>
    let neverVaried: [String]
    /// By which the two differ, and which no walk compares.
    let notCompared: [String]
    let took: Duration
    let files: [String]
    let everything: Bool
    let clients: Int
    let cameras: Int

    func show() {
        if report.isSame { return showSame() }
        let figures =
            "\(report.states.grouped) states and \(report.transitions.grouped) transitions of \(report.worlds) worlds "
            + "in \(took.shortText)"
        guard let witness = report.witness else {
            let cut = report.cutOffBy.map { "NOT COMPLETE, cut off \($0.sentence): no difference so far" }
            let keys = notCompared.isEmpty ? nil : "NOT COMPARED: \(unseen); no other difference"
            Output.line("\(cut ?? keys ?? "no difference") in any world \(size); \(figures)")
            if cut != nil, keys != nil { Output.line("  not compared: \(unseen)") }
            return Output.line("  never varied: \(neverVaried.joined(separator: ", "))")
        }
        Output.line(
            "# \(names[0]) and \(names[1]) differ after \(witness.length) step\(witness.length == 1 ? "" : "s"):")
        Output.line("")
        for line in witness.inputs { Output.line(line) }
        for (name, outcome) in zip(names, witness.outcomes) {
            Output.line("  \(name):")
            for line in outcome.isEmpty ? ["nobody is told anything"] : outcome { Output.line("       \(line)") }
        }
        Output.line("")
        let reach =
            report.cutOffBy.map { "until it was cut off \($0.sentence)" }
            ?? (report.isExhausted
                ? "in all worlds" : "within \(report.depth) step\(report.depth == 1 ? "" : "s")")
        Output.line("# Kinds of differences \(reach) (\(figures)):")
        for difference in report.differences { for line in lines(difference) { Output.line("# \(line)") } }
        if !report.perhaps.isEmpty {
            let kinds = report.perhaps.map(\.rawValue).joined(separator: ", ")
            Output.line(
                "#   \(kinds) (allowed): perhaps, in more than \(report.depth) steps, where nearly all of a lease is used up"
            )
        }
        if !notCompared.isEmpty { Output.line("# Not compared: \(unseen).") }
        if !allowed.isEmpty { Output.line("# \(verdict)") }
    }

    private func showSame() {
        let idle = report.idleRanks.map { "“\($0)”" }.joined(separator: ", ")
        Output.line(
            "no difference: names apart, the rules of both answer the same for all facts, and all else is equal; "
                + "nothing had to be walked"
                + (idle.isEmpty
                    ? ""
                    : "\n  no rule gives the rank \(idle): only a program that lowers itself to it by name could tell"))
    }

    private var unseen: String { "they differ in \(notCompared.joined(separator: ", ")), which no walk reads" }

    /// What `--allow` comes to.
    private var verdict: String {
        if let forbidden = report.forbidden { return "Not allowed: \(forbidden.rawValue)." }
        return report.cutOffBy == nil && notCompared.isEmpty
            ? "Only what is allowed was found." : "Only what is allowed was found so far, and that is not the whole."
    }

    private var size: String {
        let steps = report.isExhausted ? "any number of steps" : "\(report.depth) steps"
        return "of \(VerifyVerdict.casts(report.casts, of: report.castsInAll)), "
            + "up to \(clients) clients × \(cameras) cameras, \(steps)"
    }

    private func lines(_ difference: PolicyDifference.Difference) -> [String] {
        let kind = difference.kind
        var head = "  \(kind.rawValue) (\(kind.direction.rawValue)"
        if !allowed.isEmpty { head += allowed.contains(kind) ? ", allowed" : ", not allowed" }
        head +=
            "): \(kind.sentence); \(difference.situations.counted("situation")), first after \(difference.witness.length) steps"
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
            + "\(kind.situations.counted("situation")), first after \(kind.shortest) steps"
    }

    var json: JSON {
        .object([
            "first": .string(files[0]), "second": .string(files[1]), "clients": .integer(Int64(clients)),
            "cameras": .integer(Int64(cameras)), "same": .bool(report.isSame), "idleRanks": .strings(report.idleRanks),
            "everything": .bool(everything), "casts": .integer(Int64(report.casts)),
            "castsInAll": .integer(Int64(report.castsInAll)), "neverVaried": .strings(neverVaried),
            "notCompared": .strings(notCompared), "worlds": .integer(Int64(report.worlds)),
            "states": .integer(Int64(report.states)), "transitions": .integer(Int64(report.transitions)),
            "steps": .integer(Int64(report.depth)), "exhausted": .bool(report.isExhausted),
            "cutOffBy": .optional(report.cutOffBy?.rawValue),
            "seconds": .number(Double(took.wholeNanoseconds / 1_000_000) / 1000),
            "difference": report.witness.map(json) ?? .null, "forbidden": .optional(report.forbidden?.rawValue),
            "differences": .array(report.differences.map(json)), "perhaps": .strings(report.perhaps.map(\.rawValue)),
            "kinds": .array(
                report.kinds.map { kind in
                    .object([
                        "kind": .string(kind.kind.rawValue), "direction": .string(kind.kind.direction.rawValue),
                        "outcomes": .strings(kind.outcomes), "situations": .integer(Int64(kind.situations)),
                        "shortest": .integer(Int64(kind.shortest)), "sentence": .string(sentence(kind)),
                    ])
                }),
        ])
    }

    private func json(_ witness: PolicyDifference.Witness) -> JSON {
        .object([
            "length": .integer(Int64(witness.length)), "inputs": .strings(witness.inputs),
            "outcomes": .array(witness.outcomes.map { .strings($0) }),
        ])
    }

    private func json(_ difference: PolicyDifference.Difference) -> JSON {
        .object([
            "kind": .string(difference.kind.rawValue), "direction": .string(difference.kind.direction.rawValue),
            "allowed": .bool(allowed.contains(difference.kind)), "situations": .integer(Int64(difference.situations)),
            "apps": .strings(difference.apps), "rules": .array(difference.rules.map { .strings($0) }),
            "witness": json(difference.witness), "scenarios": difference.scenarios.map { .strings($0) } ?? .null,
        ])
    }
}
