import Arbiter
import ArbiterProtocol
public import PolicyFile
import Scenario
public import TomlFile

/// All that is known of a policy, as one page for people who answer for it. The page needs no network and no script, and
/// shows nothing that was not given to it.
public struct PolicyReport: Sendable {
    /// As many scenarios and traces as keep a page below two megabytes, which a telephone opens at once.
    public static let scenariosMax = 16

    /// What the policy's file is called.
    public var file: String
    public var policy: LoadedPolicy
    public var texts: [PolicyText]
    /// What is suspicious about the files.
    public var problems: [FileProblem] = []
    /// What scenarios reach; nil: none were given.
    public var reach: ScenarioReach?
    public var scenarios: [ToldScenario] = []
    public var scenariosLeftOut = 0
    public var walked: Walked?
    public var comparison: Comparison?
    public var traces: [TracePicture] = []
    public var graph: StateGraph?
    /// What made the page: `camclient 1.2.3`.
    public var program: String

    public init(file: String, policy: LoadedPolicy, texts: [PolicyText], program: String) {
        self.file = file
        self.policy = policy
        self.texts = texts
        self.program = program
    }

    /// What a walk of the policy's worlds came to.
    public struct Walked: Sendable {
        public var report: PolicyWalk.Report
        public var clients: Int
        public var cameras: Int
        /// What is wrong with the statements themselves, as sentences.
        public var problems: [String]
        public var neverVaried: [String]
        public var took: Duration
        /// The way to what is broken.
        public var counterexample: ToldScenario?

        public init(_ walk: PolicyWalk, _ report: PolicyWalk.Report, took: Duration) {
            self.report = report
            clients = walk.clients
            cameras = walk.cameras
            neverVaried = walk.neverVaried
            self.took = took
            problems = walk.problems(report)
        }
    }

    /// Where another policy behaves differently.
    public struct Comparison: Sendable {
        /// What the other's file is called.
        public var file: String
        public var report: PolicyDifference.Report
        /// The shortest way to a difference, under this policy and under the other.
        public var pair: [ToldScenario]
        public var neverVaried: [String]

        public init(file: String, report: PolicyDifference.Report, pair: [ToldScenario], neverVaried: [String]) {
            self.file = file
            self.report = report
            self.pair = pair
            self.neverVaried = neverVaried
        }
    }

    /// A trace's inputs under this policy, and beside it under another; remarks say what is not in the pictures.
    public typealias TracePicture = (file: String, pictures: [ToldScenario], remarks: [String])

    /// Something is broken, or a problem.
    public var isBroken: Bool { walked.map { $0.report.finding != nil || !$0.problems.isEmpty } ?? false }

    /// Something ended at a bound before it was done.
    public var isCutOff: Bool { walked?.report.cutOffBy != nil || comparison?.report.cutOffBy != nil }

    /// The whole page as one document.
    /// - Parameter nonce: what its style sheet and its script run by; nobody who wrote what the page shows can know it.
    public func page(nonce: String) -> String {
        let policyText =
            "default-src 'none'; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; base-uri 'none'; form-action 'none'"
        let name = policy.policy.name
        return Markup.document(
            title: "\(name): policy report",
            head: markup {
                html(empty: "meta", .set("http-equiv", "Content-Security-Policy"), .set("content", policyText))
                html(empty: "meta", .set("name", "referrer"), .set("content", "no-referrer"))
                Markup.style(PageFiles.style, nonce: nonce)
            },
            body: html("body") {
                html("a", .style("skip"), .to("main")) { "To the verdict" }
                Markup(drawn: PageFiles.sharedDrawing)
                header
                html("main", .id("main")) { sections.map(\.content) }
                footer
                Markup.script(PageFiles.reportScript, nonce: nonce)
            })
    }
}
