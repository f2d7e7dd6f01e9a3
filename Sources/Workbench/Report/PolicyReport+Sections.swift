import Arbiter
import ArbiterProtocol
import PolicyFile
import Scenario
import TomlFile

struct PageSection {
    var id: String
    var title: String
    var content: Markup

    init(_ id: String, _ title: String, @MarkupBuilder _ body: () -> Markup) {
        self.id = id
        self.title = title
        let inner = body()
        content = html("section", .id(id), .set("aria-labelledby", "\(id)-heading")) {
            html("h2", .id("\(id)-heading")) { title }
            inner
        }
    }
}

/// How something came out; its words stand beside it wherever it is shown.
enum Mark: String {
    case good, bad, unsure

    var sign: String {
        switch self {
        case .good: "✓"
        case .bad: "✗"
        case .unsure: "?"
        }
    }

    func shown(_ words: String) -> Markup {
        html("span", .style("mark \(rawValue)")) {
            html("span", .set("aria-hidden", "true")) { "\(sign) " }
            words
        }
    }
}

extension PolicyReport {
    var sections: [PageSection] {
        [atAGlance, statementSection, comparisonSection, textSection, coverageSection, traceSection, scenarioSection]
            .compactMap { $0 } + [graphSection].compactMap { $0 }
    }

    var header: Markup {
        html("header") {
            soft("Policy report")
            html("h1") { policy.policy.name }
            if !policy.policy.summary.isEmpty { html("p", .style("summary")) { policy.policy.summary } }
            html("p", .style("verdict-line")) { verdict.mark.shown(verdict.words) }
            html("nav", .set("aria-label", "Contents")) {
                list(sections) { section in html("a", .to(section.id)) { section.title } }
            }
        }
    }

    var footer: Markup {
        html("footer") {
            soft("Made by \(program). A verdict covers only what was walked; what was never varied stands with it.")
        }
    }

    private var verdict: (mark: Mark, words: String) {
        guard let walked else { return (.unsure, "Not verified.") }
        if let finding = walked.report.finding { return (.bad, "Broken: \(finding.message).") }
        let statements = policy.policy.statements.count
        let promises = "The broker's promises" + (statements == 0 ? "" : " and \(count(statements, "statement"))")
        if let cut = walked.report.cutOffBy {
            return (.unsure, "NOT COMPLETE, cut off \(cut.sentence). \(promises) hold as far as it went.")
        }
        if let problem = walked.problems.first { return (.bad, "A problem: \(problem).") }
        return (.good, "\(promises) hold in every state of \(size(walked)).")
    }

    private func size(_ walked: Walked) -> String {
        let report = walked.report
        let casts =
            report.casts == report.castsInAll
            ? "all \(count(report.casts, "cast"))" : "\(grouped(report.casts)) of \(count(report.castsInAll, "cast"))"
        return "\(casts), up to \(count(walked.clients, "client")) × \(count(walked.cameras, "camera"))"
    }

    private var atAGlance: PageSection {
        PageSection("glance", "At a glance") {
            html("dl", .style("facts")) {
                fact("File") { html("code") { file } }
                if policy.files.count > 1 {
                    fact("Read with it") { html("code") { policy.files.filter { $0 != file }.joined(separator: ", ") } }
                }
                fact("Policy hash") { html("code") { policy.policy.hash } }
                fact("Rules") {
                    "\(count(policy.policy.causeRules.count, "rule")) for “may it run now”, "
                        + "\(count(policy.policy.rankRules.count, "rule")) for “how strong is its bid”, "
                        + "\(count(policy.policy.ranks.count, "rank"))"
                }
                fact("Check") {
                    if problems.isEmpty {
                        Mark.good.shown("no problem")
                    } else {
                        Mark.unsure.shown(count(problems.count, "warning"))
                    }
                }
                if let walked {
                    fact("Walked") {
                        "\(count(walked.report.states, "state")) and \(count(walked.report.transitions, "transition")) of "
                            + "\(count(walked.report.worlds, "world")) in \(walked.took.words)"
                    }
                    fact("Never varied") { walked.neverVaried.joined(separator: ", ") }
                }
                if let reach {
                    fact("Coverage") {
                        "\(CoverageTally.Entry.percent(reach.coverage.total)) by \(count(reach.scenarios, "scenario"))"
                    }
                }
                if let comparison { fact("Against \(comparison.file)") { comparison.words } }
            }
            if !problems.isEmpty { list(problems) { problem in html("pre") { problem.description } } }
        }
    }

    private func fact(_ name: String, @MarkupBuilder _ content: () -> Markup) -> Markup {
        let content = content()
        return html("div") {
            html("dt") { name }
            html("dd") { content }
        }
    }

    private var statementSection: PageSection? {
        guard let walked else { return nil }
        return PageSection("statements", "What it promises") {
            if policy.policy.statements.isEmpty {
                html("p") { "The policy states nothing of itself; the broker's own promises were looked at." }
            } else {
                table(
                    "Statements, each held to every state that was walked", ["Statement", "Verdict"],
                    numbers: ["Applied in"],
                    rows: zip(policy.policy.statements, walked.report.applied).map { statementRow($0, $1, walked) })
            }
            if let finding = walked.report.finding {
                html("h3") { "The shortest way to break it, after \(count(finding.length, "step"))" }
                html("p") { "\(finding.message)." }
                if let told = walked.counterexample {
                    told.shown(id: "broken", heading: nil)
                } else {
                    listing([finding.scenario])
                }
            }
            if !walked.problems.isEmpty {
                list(walked.problems, .style("marks")) { problem in Mark.bad.shown(problem) }
            }
        }
    }

    private func statementRow(_ statement: Statement, _ applied: Int, _ walked: Walked) -> Markup {
        let verdict: Markup
        if walked.report.finding?.statement == statement.name {
            verdict = Mark.bad.shown("broken")
        } else if walked.report.finding != nil || walked.report.cutOffBy != nil {
            verdict = Mark.unsure.shown("holds as far as it was walked")
        } else if applied == 0 {
            verdict = Mark.bad.shown("was never put to the test")
        } else {
            verdict = Mark.good.shown("holds")
        }
        let head = markup {
            html("span", .style("soft")) { statement.isNever ? "Never: " : "Always: " }
            if let place = place(of: .statement(statement.name)) {
                html("a", .to(place.id)) { statement.name }
            } else {
                statement.name
            }
        }
        return row(head: head, [verdict], numbers: [applied == 0 ? "no state" : count(applied, "state")])
    }

    func place(of part: PolicyPart) -> LinePlace? {
        guard let origin = policy.origins[part], let file = texts.firstIndex(where: { $0.name == origin.file }) else {
            return nil
        }
        return LinePlace(file: file, line: origin.line)
    }
}

extension Duration {
    var words: String {
        let tenths = components.seconds * 10 + components.attoseconds / 100_000_000_000_000_000
        return "\(tenths / 10).\(tenths % 10) s"
    }
}
