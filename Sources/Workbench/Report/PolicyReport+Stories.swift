import Arbiter
import ArbiterProtocol
import PolicyFile
import Scenario

/// Differences, traces, scenarios, and the small world's situations.
extension PolicyReport {
    var comparisonSection: PageSection? {
        guard let comparison else { return nil }
        return PageSection("against", "Against \(comparison.file)") {
            html("p") { (comparison.report.witness == nil ? comparison.mark : .unsure).shown(comparison.words) }
            if !comparison.pair.isEmpty {
                html("h3") { "The shortest difference" }
                sideBySide(comparison.pair, id: "difference")
            }
            let kinds = comparison.report.kinds
            if !kinds.isEmpty {
                differences(
                    kinds.prefix(Self.kindsShown), comparison, "Kinds of differences, the most frequent first")
                let rest = kinds.dropFirst(Self.kindsShown)
                if !rest.isEmpty {
                    details(count(rest.count, "rarer kind")) { differences(rest, comparison, "The rarer kinds") }
                }
            }
            soft("Never varied: \(comparison.neverVaried.joined(separator: ", ")).")
        }
    }

    /// The others are behind a click.
    private static let kindsShown = 10

    private func differences(
        _ kinds: ArraySlice<PolicyDifference.Kind>, _ comparison: Comparison, _ caption: String
    ) -> Markup {
        table(
            caption, ["Kind", policy.policy.name, comparison.file, "Apps, at first"],
            numbers: ["Situations", "First after"],
            rows: kinds.map { kind in
                let first = comparison.report.differences.first { $0.kind == kind.kind }
                return row(
                    head: Markup("\(kind.kind.rawValue) (\(kind.kind.direction.rawValue))"),
                    (kind.outcomes + [first?.apps.joined(separator: ", ") ?? ""]).map { Markup($0) },
                    numbers: [grouped(kind.situations), count(kind.shortest, "step")])
            })
    }

    private func sideBySide(_ pictures: [ToldScenario], id: String) -> Markup {
        html("div", ["class": "pair"]) {
            pictures.enumerated().map { index, told in
                told.shown(id: "\(id)-\(index + 1)", heading: "Under \(told.policy)")
            }
        }
    }

    var traceSection: PageSection? {
        guard !traces.isEmpty else { return nil }
        return PageSection("traces", "Traces") {
            traces.enumerated().map { index, trace in
                html("div") {
                    html("h3") { trace.file }
                    if !trace.remarks.isEmpty { list(trace.remarks, "soft") { words in words } }
                    sideBySide(trace.pictures, id: "trace-\(index + 1)")
                }
            }
        }
    }

    var scenarioSection: PageSection? {
        guard !scenarios.isEmpty else { return nil }
        return PageSection("scenarios", "What it leads to") {
            html("p") { "\(count(scenarios.count, "scenario")) under this policy." }
            scenarios.enumerated().map { index, told in
                details(told.title, "scenario") {
                    if !told.isAsWritten {
                        html("p") { Mark.unsure.shown("It does not come out as written under this policy.") }
                    }
                    told.shown(id: "scenario-\(index + 1)")
                }
            }
            if scenariosLeftOut > 0 { soft("\(count(scenariosLeftOut, "more scenario")) left out of this page.") }
        }
    }

    var graphSection: PageSection? {
        guard let graph, !graph.situations.isEmpty else { return nil }
        let drawing = StateDrawing(graph, id: "state")
        return PageSection("states", "Two apps and one camera") {
            html("p") {
                "Every situation that a person could tell apart, in one of the policy's small worlds: "
                    + "\(count(graph.situations.count, "situation")), which stand for \(count(graph.states, "state"))."
            }
            if graph.leftOut > 0 {
                html("p") { Mark.unsure.shown("\(count(graph.leftOut, "situation")) more left out.") }
            }
            if graph.isCutOff {
                html("p") { Mark.unsure.shown("Not complete: the world is larger than what was walked.") }
            }
            details("The world, as a scenario begins with it") { listing(graph.setup) }
            region("Situations") { drawing.svg }
            details("The same as a table") { drawing.asTable }
        }
    }
}

extension PolicyReport.Comparison {
    var mark: Mark { report.cutOffBy == nil ? .good : .unsure }

    var words: String {
        if report.isSame { return "No difference: the rules of both answer the same for all facts." }
        let size = "\(count(report.states, "state")) of \(count(report.worlds, "world"))"
        if let witness = report.witness {
            let cut =
                report.cutOffBy.map { "; the kinds below are those found until it was cut off \($0.sentence)" } ?? ""
            return "They differ, first after \(count(witness.length, "step")) (\(size))\(cut)."
        }
        if let cut = report.cutOffBy { return "NOT COMPLETE, cut off \(cut.sentence): no difference so far (\(size))." }
        return "No difference in any world (\(size))."
    }
}
