import Arbiter
import ArbiterProtocol
import Explain
import Scenario

/// Short situations that every shipped policy is put into, and what becomes of the apps in them.
///
/// The apps are the same everywhere, but for a policy that knows its apps by name: there each part is played by the
/// service that it is meant for.
struct PolicySituation {
    /// The head of a column.
    var title: String
    /// Scenario lines; `A`, `B` and `CALL` are the apps.
    var lines: String
    /// Whose session is looked at in the end, and what a cell calls it.
    var watched: [(session: String, title: String)]

    /// In front and with the focus, in the active login session.
    private static let begin = "0s   login-session one active\n" + starts("A", "fullscreen focused", at: "0s")

    private static func starts(
        _ app: String, _ presence: String, at time: String = "9s", session: String = ""
    ) -> String {
        "\(time)   connect \(app) login=one presence=\(presence)\n     session \(app) camera=back\(session)\n"
            + "     start \(app)\n"
    }

    private typealias Watched = [(session: String, title: String)]
    private static let both: Watched = [("A", "A"), ("B", "B")]
    private static let call: Watched = [("A", "A"), ("CALL", "call")]
    private static let alone: Watched = [("A", "A")]

    private static let covered = "9s   presence A background\n" + starts("B", "fullscreen focused")
    private static let watching = starts("B", "split", session: " sharingMode=sharedReadOnly")

    /// - Parameter begin: what happened before.
    private init(
        _ title: String, _ lines: String, _ watched: Watched = Self.both, after begin: String = Self.begin
    ) {
        (self.title, self.watched, self.lines) = (title, watched, begin + lines)
    }

    /// In groups of a table each.
    static let groups: KeyValuePairs<String, [PolicySituation]> = [
        "Windows": [
            PolicySituation("B comes in front beside A, takes the focus and starts", starts("B", "split focused")),
            PolicySituation(
                "the same, and both opted in to multitasking",
                "     declare A multitasking\n\(starts("B", "split focused multitasking"))"),
            PolicySituation(
                "A goes to the background; nobody else wants the camera", "9s   presence A background\n", alone),
        ],
        "Starting": [
            PolicySituation("B, in the background, starts while A runs", starts("B", "background")),
            PolicySituation("B covers A and starts; A goes to the background", covered),
            PolicySituation(
                "and then B stops and leaves, and A is in front again",
                "\(covered)30s  stop B\n     presence B background\n     presence A fullscreen focused\n"),
        ],
        "Sessions of one app": [
            PolicySituation(
                "A opens the other camera, too", "9s   session other of A camera=front\n     start other\n",
                [("A", "first"), ("other", "second")]),
            PolicySituation(
                "A opens the same camera again", "9s   session again of A camera=back\n     start again\n",
                [("A", "first"), ("again", "second")]),
        ],
        "Watching": [
            PolicySituation("B comes in front beside A and asks to watch only", watching),
            PolicySituation(
                "and then A stops and leaves", "\(watching)30s  stop A\n     presence A background\n"),
        ],
        "Calls": [
            PolicySituation(
                "a call in a corner takes the microphone; A records sound",
                """
                0s   login-session one active
                     connect A login=one presence=fullscreen focused multitasking
                     session A camera=back audio
                     start A
                9s   microphone CALL taken
                """, alone, after: ""),
            PolicySituation("the same; A has no microphone", "9s   microphone CALL taken\n", alone),
            PolicySituation(
                "a call in a corner starts on A's camera", starts("CALL", "picture-in-picture kind=voip"), call),
        ],
        "A stronger bid, and the machine": [
            PolicySituation(
                "the operator chooses B while A records",
                "     record A\n\(starts("B", "background", at: "0s"))9s   operator B\n"),
            PolicySituation("it becomes very hot", "9s   pressure critical\n", alone),
            PolicySituation(
                "another user's login session becomes active", "9s   login-session one inactive\n", alone),
        ],
    ]

    /// The apps that play the parts under a policy that knows its apps by name.
    private static let casts: [String: [String: String]] = [
        "kiosk": ["A": "photobooth.service", "B": "guide.service", "CALL": "intercom.service"]
    ]

    /// The apps' states, in the words of a cell: read off the core after the last line.
    func cell(under policy: Policy) throws -> String {
        let cast = Self.casts[policy.name] ?? [:]
        let lines = self.lines.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.split(separator: " ", omittingEmptySubsequences: false).map { word -> String in
                let isApp = ["A", "B", "CALL"].contains(word)
                return isApp ? cast[String(word)] ?? String(word) : String(word)
            }.joined(separator: " ")
        }
        let text = "# A situation.\n\npolicy built-in\ncamera back\ncamera front\n\n" + lines.joined(separator: "\n")
        let scenario = try Scenario.parse(text, file: title, policies: "policies").under(policy)
        var stage = Stage(Arbiter(policy: policy))
        let outcome = scenario.run(on: &stage)
        precondition(outcome.violations.isEmpty, "\(title) breaks a promise: \(outcome.violations)")
        return watched.map { session, title in
            let name = cast[session] ?? session
            guard let id = scenario.names.session(name) else { return "\(title) –" }
            return "\(title) \(Self.fate(of: id, stage))"
        }.joined(separator: ", ")
    }

    private static func fate(of id: SessionID, _ stage: Stage) -> String {
        guard let status = stage.arbiter.status(of: id) else { return "is gone" }
        var (isEvicted, isWarned) = (false, false)
        for step in stage.steps {
            for case .notify(_, id, _, let event) in step.effects {
                switch event {
                case .sessionStopped: isEvicted = true
                case .willBeInterrupted: isWarned = true
                case .interruptionWithdrawn, .wasInterrupted: isWarned = false
                default: break
                }
            }
        }
        switch status.state {
        case .starting: return "starts"
        case .interrupted: return "waits"
        case .running:
            if isWarned { return "runs, and is told that it will be cut" }
            if status.access == .all { return "runs" }
            if status.isHolder { return "runs with \(status.access.names.joined(separator: ", "))" }
            return status.access.contains(.record) ? "shares" : "watches"
        case .stopped:
            if isEvicted { return "is stopped" }
            return stage.steps.contains { $0.event == .stopRunning(id) } ? "has stopped" : "is refused"
        }
    }
}
