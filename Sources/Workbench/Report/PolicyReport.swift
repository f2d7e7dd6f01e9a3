import Arbiter
import ArbiterProtocol
public import PolicyFile
import Scenario
public import TomlFile

/// A policy as one page for the people who answer for it. The page needs no network and no script, and shows only its input.
public struct PolicyReport: Sendable {
    /// As many scenarios and traces as keep a page below two megabytes, which a telephone opens at once.
    public static let scenariosMax = 16

    public var file: String
    public var policy: LoadedPolicy
    public var texts: [PolicyText]
    public var problems: [FileProblem] = []
    public var reach: ScenarioReach?
    public var scenarios: [ToldScenario] = []
    public var scenariosLeftOut = 0
    public var walked: Walked?
    public var comparison: Comparison?
    public var traces: [TracePicture] = []
    public var graph: StateGraph?
    /// `camclient 1.2.3`.
    public var program: String

    public init(file: String, policy: LoadedPolicy, texts: [PolicyText], program: String) {
        (self.file, self.policy, self.texts, self.program) = (file, policy, texts, program)
    }

    /// A walk of the policy's worlds.
    public struct Walked: Sendable {
        var report: PolicyWalk.Report
        var walk: PolicyWalk
        var took: Duration
        /// The scenario of the broken promise.
        public var counterexample: ToldScenario?

        public init(_ walk: PolicyWalk, _ report: PolicyWalk.Report, took: Duration) {
            (self.walk, self.report, self.took) = (walk, report, took)
        }

        var problems: [String] { walk.problems(report) }
    }

    /// The shortest scenario on which another policy behaves differently, under this policy and under the other.
    public struct Comparison: Sendable {
        var file: String
        var report: PolicyDifference.Report
        var pair: [ToldScenario]
        var neverVaried: [String]

        public init(file: String, report: PolicyDifference.Report, pair: [ToldScenario], neverVaried: [String]) {
            (self.file, self.report, self.pair, self.neverVaried) = (file, report, pair, neverVaried)
        }
    }

    /// A trace's inputs under this policy, and beside it under another; remarks are about missing parts.
    public typealias TracePicture = (file: String, pictures: [ToldScenario], remarks: [String])

    /// Something is broken, or a problem.
    public var isBroken: Bool { walked.map { $0.report.finding != nil || !$0.problems.isEmpty } ?? false }

    /// Something ended at a bound before it was done.
    public var isCutOff: Bool { walked?.report.cutOffBy != nil || comparison?.report.cutOffBy != nil }

    /// The whole page as one document.
    /// - Parameter nonce: the page's style sheet and script run by it; no author of the page's content can know it.
    public func page(nonce: String) -> String {
        let policyText =
            "default-src 'none'; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; base-uri 'none'; form-action 'none'"
        let name = policy.policy.name
        return Markup.document(
            title: "\(name): policy report",
            head: markup {
                html(empty: "meta", ["http-equiv": "Content-Security-Policy", "content": policyText])
                html(empty: "meta", ["name": "referrer", "content": "no-referrer"])
                Markup.style(PageFiles.style, nonce: nonce)
            },
            body: html("body") {
                html("a", ["class": "skip", "href": "#main"]) { "To the verdict" }
                Markup(drawn: PageFiles.sharedDrawing)
                header
                html("main", ["id": "main"]) { sections.map(\.content) }
                footer
                Markup.script(PageFiles.reportScript, nonce: nonce)
            })
    }
}

struct PageSection {
    var id: String
    var title: String
    var content: Markup

    init(_ id: String, _ title: String, @MarkupBuilder _ body: () -> Markup) {
        self.id = id
        self.title = title
        let inner = body()
        content = html("section", ["id": id, "aria-labelledby": "\(id)-heading"]) {
            html("h2", ["id": "\(id)-heading"]) { title }
            inner
        }
    }
}

/// A result; its words stand beside it.
enum Mark: String {
    case good, bad, unsure

    func shown(_ words: String) -> Markup {
        html("span", ["class": "mark \(rawValue)"]) {
            html("span", ["aria-hidden": "true"]) { self == .good ? "✓ " : self == .bad ? "✗ " : "? " }
            words
        }
    }
}

extension PolicyReport {
    var sections: [PageSection] {
        [
            atAGlance, statementSection, comparisonSection, textSection, coverageSection, traceSection, scenarioSection,
            graphSection,
        ].compactMap(\.self)
    }

    var header: Markup {
        html("header") {
            soft("Policy report")
            html("h1") { policy.policy.name }
            if !policy.policy.summary.isEmpty { html("p", ["class": "summary"]) { policy.policy.summary } }
            html("p", ["class": "verdict-line"]) { verdict.mark.shown(verdict.words) }
            html("nav", ["aria-label": "Contents"]) {
                list(sections) { section in html("a", ["href": "#\(section.id)"]) { section.title } }
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
        let populations = populationsWords(walked.report.populations, of: walked.report.populationsInAll)
        let size = worldWords(walked.walk.clients, walked.walk.cameras)
        return (.good, "\(promises) hold in every state of \(populations), \(size).")
    }

    private var atAGlance: PageSection {
        PageSection("glance", "At a glance") {
            html("dl", ["class": "facts"]) {
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
                            + "\(count(walked.report.worlds, "world")) in \(walked.took.shortText)"
                    }
                    fact("Never varied") { walked.walk.neverVaried.joined(separator: ", ") }
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
                list(walked.problems, "marks") { problem in Mark.bad.shown(problem) }
            }
        }
    }

    private func statementRow(_ statement: Statement, _ applied: Int, _ walked: Walked) -> Markup {
        let isWhole = walked.report.finding == nil && walked.report.cutOffBy == nil
        let verdict =
            walked.report.finding?.statement == statement.name
            ? Mark.bad.shown("broken")
            : !isWhole
                ? Mark.unsure.shown("holds as far as it was walked")
                : applied == 0 ? Mark.bad.shown("was never put to the test") : Mark.good.shown("holds")
        let head = markup {
            html("span", ["class": "soft"]) { statement.isNever ? "Never: " : "Always: " }
            if let place = place(of: .statement(statement.name)) {
                html("a", ["href": "#\(place.id)"]) { statement.name }
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
