import Arbiter
import PolicyFile
import Scenario

/// What the policy leads to: differences, traces, scenarios, and the small world's situations.
extension PolicyReport {
    var comparisonSection: PageSection? {
        guard let comparison else { return nil }
        return PageSection("against", "Against \(comparison.file)") {
            html("p") { (comparison.report.witness == nil ? comparison.mark : .unsure).shown(comparison.words) }
            if !comparison.pair.isEmpty {
                html("h3") { "The shortest difference" }
                sideBySide(comparison.pair, id: "difference")
            }
            if !comparison.report.kinds.isEmpty {
                table(
                    comparison.report.kinds.prefix(Self.kindsShown), comparison,
                    "Kinds of differences, the most frequent first")
                let rest = comparison.report.kinds.dropFirst(Self.kindsShown)
                if !rest.isEmpty {
                    html("details") {
                        html("summary") { "\(count(rest.count, "rarer kind"))" }
                        table(rest, comparison, "The rarer kinds")
                    }
                }
            }
            html("p", .style("soft")) { "Never varied: \(comparison.neverVaried.joined(separator: ", "))." }
        }
    }

    /// What is read at once; the others are behind a click.
    private static let kindsShown = 10

    private func table(
        _ kinds: ArraySlice<PolicyDifference.Kind>, _ comparison: Comparison, _ caption: String
    ) -> Markup {
        html("table") {
            html("caption") { caption }
            tableHead(
                "Kind", policy.policy.name, comparison.file, "Apps, at first", numbers: "Situations", "First after")
            html("tbody") {
                kinds.map { kind in
                    html("tr") {
                        html("th", .set("scope", "row")) { "\(kind.kind.rawValue) (\(kind.kind.direction.rawValue))" }
                        kind.outcomes.map { outcome in html("td") { outcome } }
                        html("td") {
                            comparison.report.differences.first { $0.kind == kind.kind }?.apps.joined(separator: ", ")
                                ?? ""
                        }
                        html("td", .style("number")) { grouped(kind.situations) }
                        html("td", .style("number")) { count(kind.shortest, "step") }
                    }
                }
            }
        }
    }

    private func sideBySide(_ pictures: [ToldScenario], id: String) -> Markup {
        html("div", .style("pair")) {
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
                    if !trace.remarks.isEmpty {
                        html("ul", .style("soft")) { trace.remarks.map { words in html("li") { words } } }
                    }
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
                html("details", .style("scenario")) {
                    html("summary") { told.title }
                    if !told.isAsWritten {
                        html("p") { Mark.unsure.shown("It does not come out as written under this policy.") }
                    }
                    told.shown(id: "scenario-\(index + 1)")
                }
            }
            if scenariosLeftOut > 0 {
                html("p", .style("soft")) { "\(count(scenariosLeftOut, "more scenario")) left out of this page." }
            }
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
            html("details") {
                html("summary") { "The world, as a scenario begins with it" }
                html("pre", .set("tabindex", "0")) { graph.setup.joined(separator: "\n") }
            }
            html("div", .style("wide"), .set("role", "region"), .set("tabindex", "0"), .set("aria-label", "Situations"))
            {
                drawing.svg
            }
            html("details") {
                html("summary") { "The same as a table" }
                drawing.table
            }
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
