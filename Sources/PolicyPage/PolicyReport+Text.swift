import PolicyFile
import Scenario

/// The policy's text, and what scenarios reach of it.
extension PolicyReport {
    var textSection: PageSection? {
        guard !texts.isEmpty else { return nil }
        return PageSection("text", "The policy") {
            if reach != nil {
                html("p") {
                    "Beside each line: in how many scenarios it decided something. "
                    html("span", .style("key heat-3")) { "5× and more" }
                    " "
                    html("span", .style("key heat-2")) { "2× to 4×" }
                    " "
                    html("span", .style("key heat-1")) { "1×" }
                    " "
                    html("span", .style("key heat-0")) { "never" }
                    " A half ◐: something of the line has not been shown yet."
                }
            }
            texts.indices.map(listing)
        }
    }

    private func listing(_ file: Int) -> Markup {
        let text = texts[file]
        let heat = reach.map { text.heat($0, policy) } ?? [:]
        return html(
            "div", .style("wide listing"), .set("role", "region"), .set("tabindex", "0"), .set("aria-label", text.name)
        ) {
            html("table") {
                html("caption") { text.name }
                html("thead", .style("unseen")) {
                    html("tr") {
                        html("th", .set("scope", "col")) { "Line" }
                        if reach != nil { html("th", .set("scope", "col")) { "Reached" } }
                        html("th", .set("scope", "col")) { "Text" }
                    }
                }
                html("tbody") {
                    text.lines.enumerated().map { index, line in
                        row(LinePlace(file: file, line: index + 1), line, heat[index + 1])
                    }
                }
            }
        }
    }

    private func row(_ place: LinePlace, _ line: String, _ heat: PolicyText.Heat?) -> Markup {
        let step = heat.map { " heat-\($0.step)" } ?? ""
        return html("tr", .id(place.id), .style("line\(step)")) {
            html("th", .set("scope", "row")) { "\(place.line)" }
            if reach != nil {
                html("td", .style("reach")) {
                    if let heat {
                        html("span", .set("title", heat.gaps.joined(separator: "; "))) {
                            heat.isReached ? "\(heat.count)×\(heat.gaps.isEmpty ? "" : " ◐")" : "never"
                        }
                    }
                }
            }
            html("td", .style("code")) { line }
        }
    }

    // MARK: Coverage

    var coverageSection: PageSection? {
        guard let reach else { return nil }
        let coverage = reach.coverage
        return PageSection("coverage", "What scenarios reach") {
            html("p") {
                "\(CoverageTally.Entry.percent(coverage.total)): \(coverage.total.reached) of \(coverage.total.all), "
                    + "by \(count(reach.scenarios, "scenario"))."
            }
            html("table") {
                html("caption") {
                    "A rule counts when a scenario makes it decide, and once more when one sees it not match"
                }
                html("thead") {
                    html("tr") {
                        html("th", .set("scope", "col")) { "Part" }
                        html("th", .set("scope", "col")) { "Made to decide" }
                        html("th", .set("scope", "col")) { "Seen not to match" }
                    }
                }
                html("tbody") {
                    PolicyClause.Group.allCases.map { group in
                        html("tr") {
                            html("th", .set("scope", "row")) { group.rawValue }
                            html("td") { share(coverage.firedShare(of: group)) }
                            html("td") { share(coverage.unmatchedShare(of: group)) }
                        }
                    }
                }
            }
            gaps(coverage)
            if !reach.failed.isEmpty {
                html("p") { "Not as written under this policy:" }
                html("ul") { reach.failed.map { title in html("li") { title } } }
            }
        }
    }

    private func share(_ share: PolicyCoverage.Share) -> Markup {
        guard share.all > 0 else { return html("span", .style("soft")) { "nothing to cover" } }
        return (share.reached == share.all ? Mark.good : .unsure).shown("\(share.reached) of \(share.all)")
    }

    private func gaps(_ coverage: PolicyCoverage) -> Markup {
        markup {
            if coverage.gaps.isEmpty {
                html("p") { Mark.good.shown("No gap.") }
            } else {
                html("h3") { "Gaps" }
                html("ul") {
                    coverage.gaps.map { gap in
                        html("li") {
                            if let place = place(of: gap.clause.part) {
                                html("a", .to(place.id)) { "line \(place.line)" }
                                ": "
                            }
                            gap.sentence(in: coverage.policy)
                        }
                    }
                }
            }
        }
    }
}
