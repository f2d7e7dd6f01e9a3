/// The page on which a policy and a scenario are typed.
public struct PlayPage: Sendable {
    private let folder: String
    private let policies: [String]
    private let scenarios: [String]
    private let examples: [PlayExample]

    /// - Parameter examples: the page begins with the first.
    public init(folder: String, policies: [String], scenarios: [String], examples: [PlayExample]) {
        (self.folder, self.policies, self.scenarios, self.examples) = (folder, policies, scenarios, examples)
    }

    /// The texts of the first example, or of one that is always there.
    private var first: PlayExample.Texts {
        examples.first?.texts ?? ("typed.toml", Self.policyExample, Self.scenarioExample)
    }

    /// The browser's permissions for this page.
    public static func securityPolicy(nonce: String) -> String {
        "default-src 'none'; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; connect-src 'self'; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    }

    public func page(nonce: String) -> String {
        Markup.document(
            title: "camarb: play with a policy", head: Markup.style(PageFiles.style, nonce: nonce),
            body: html("body") {
                html("a", ["class": "skip", "href": "#result"]) { "To the outcome" }
                Markup(drawn: PageFiles.sharedDrawing)
                html("header") {
                    html("h1") { "Play with a policy" }
                    html("p", ["class": "soft"]) {
                        "A policy says who may have a camera, and a scenario what happens. Change either: at each pause the outcome "
                            + "follows, decided by the program itself. Files and includes come from "
                        html("code") { folder }
                        ", and nothing is written there. Of a whole policy "
                        html("code") { "camclient policy report" }
                        " makes a page, with what scenarios reach of it and what it promises."
                    }
                    html("noscript") {
                        html("p") { "This page asks its program while you type, for which it needs a script." }
                    }
                }
                html("main") {
                    form
                    html("p", ["id": "busy", "class": "soft", "role": "status"]) { "" }
                    html(
                        "section", ["id": "result", "aria-live": "polite", "aria-label": "Outcome", "tabindex": "-1"])
                }
                Markup.script(PageFiles.reportScript, nonce: nonce)
                Markup.script(PageFiles.playScript, nonce: nonce)
            })
    }

    private var form: Markup {
        html("form", ["class": "play", "id": "play"]) {
            if !examples.isEmpty { exampleChoice }
            html("div") {
                choice("policies", "Begin with a policy of the folder", policies, ending: ".toml")
                html("label", ["for": "policy"]) { "Policy" }
                area("policy", "policy-hint", first.policy)
                html("p", ["id": "policy-hint", "class": "soft"]) {
                    "An example, to be changed. Empty: the policy that the scenario names. Tab leaves the field."
                }
            }
            html("div") {
                choice("scenarios", "Begin with a scenario of the folder", scenarios, ending: ".scenario")
                html("label", ["for": "scenario"]) { "Scenario" }
                area("scenario", "scenario-hint", first.scenario)
                html("p", ["id": "scenario-hint", "class": "soft"]) {
                    "Inputs are indented by five, what they lead to by seven. "
                    html("button", ["type": "button", "id": "take", "disabled": nil]) { "Take the outcome over" }
                }
                html("label", ["for": "plan"]) { "And what if next" }
                html(
                    empty: "input",
                    [
                        "id": "plan", "autocomplete": "off", "spellcheck": "false",
                        "placeholder": "start photos; 10s presence photos background",
                    ])
            }
        }
    }

    private var exampleChoice: Markup {
        var groups: [(name: String, members: [(number: Int, example: PlayExample)])] = []
        for (number, example) in examples.enumerated() {
            if groups.last?.name != example.group { groups.append((example.group, [])) }
            groups[groups.count - 1].members.append((number, example))
        }
        return html("p", ["class": "examples"]) {
            html("label", ["for": "examples"]) { "Begin with an example: a policy, and a scenario for it" }
            html("select", ["id": "examples"]) {
                groups.map { group in
                    html("optgroup", ["label": group.name]) {
                        group.members.map { number, example in
                            html("option", ["value": "\(number)", "data-file": example.texts.file]) {
                                example.description.isEmpty ? example.name : "\(example.name): \(example.description)"
                            }
                        }
                    }
                }
            }
        }
    }

    private func choice(_ id: String, _ label: String, _ names: [String], ending: String) -> Markup {
        markup {
            if names.isEmpty {
                html("p", ["class": "soft"]) { "The folder has no file *\(ending) to begin with." }
            } else {
                html("p") {
                    html("label", ["for": id]) { label }
                    html("select", ["id": id]) {
                        html("option", ["value": ""]) { "–" }
                        names.map { name in html("option", ["value": name]) { name } }
                    }
                }
            }
        }
    }

    private func area(_ id: String, _ hint: String, _ text: String) -> Markup {
        html(
            "textarea",
            [
                "id": id, "spellcheck": "false", "autocapitalize": "off", "autocomplete": "off", "wrap": "off",
                "aria-describedby": hint,
            ]
        ) { text }
    }

    /// A whole policy and a whole scenario, from which the language can be guessed.
    private static let policyExample = """
        name = "example"
        ranks = ["calls", "others"]

        [[rank]]
        name = "A call goes first"
        app = "call"
        rank = "calls"

        [[rank]]
        name = "Everything else"
        rank = "others"
        grace = "2s"

        """

    private static let scenarioExample = """
        # A call comes while photos has the camera, and hangs up.

        camera front

        0s   connect photos
             session photos camera=front
             start photos
        5s   connect call
             session call camera=front
             start call
        20s  stop call

        """
}
