import Arbiter
import ArbiterProtocol
import Scenario

/// Short situations that every shipped policy is put into, and what becomes of the apps in them.
///
/// The apps are the same everywhere, but for a policy that knows its apps by name: there each part is played by the
/// service that it is meant for.
struct PolicySituation {
    /// What a column says.
    var title: String
    /// Scenario lines; `A`, `B` and `CALL` are the apps.
    var lines: String
    /// Whose session is looked at in the end, and what a cell calls it.
    var watched: [(session: String, title: String)]

    /// A runs on the back camera, in front and with the focus, in the active login session.
    private static let begin = """
        0s   login-session one active
             connect A login=one presence=fullscreen focused
             session A camera=back
             start A

        """

    private static func begins(_ rest: String) -> String { begin + rest }
    private static let both = [("A", "A"), ("B", "B")]
    private static let call = [("A", "A"), ("CALL", "call")]

    /// In groups of a table each.
    static let groups: [(title: String, situations: [PolicySituation])] = [
        (
            "Windows",
            [
                PolicySituation(
                    title: "B comes in front beside A, takes the focus and starts",
                    lines: begins(
                        """
                        9s   connect B login=one presence=split focused
                             session B camera=back
                             start B
                        """), watched: both),
                PolicySituation(
                    title: "the same, and both opted in to multitasking",
                    lines: begins(
                        """
                             declare A multitasking
                        9s   connect B login=one presence=split focused multitasking
                             session B camera=back
                             start B
                        """), watched: both),
                PolicySituation(
                    title: "A goes to the background; nobody else wants the camera",
                    lines: begins("9s   presence A background\n"), watched: [("A", "A")]),
            ]
        ),
        (
            "Starting",
            [
                PolicySituation(
                    title: "B, in the background, starts while A runs",
                    lines: begins(
                        """
                        9s   connect B login=one presence=background
                             session B camera=back
                             start B
                        """), watched: both),
                PolicySituation(
                    title: "B covers A and starts; A goes to the background",
                    lines: begins(
                        """
                        9s   presence A background
                             connect B login=one presence=fullscreen focused
                             session B camera=back
                             start B
                        """), watched: both),
                PolicySituation(
                    title: "and then B stops and leaves, and A is in front again",
                    lines: begins(
                        """
                        9s   presence A background
                             connect B login=one presence=fullscreen focused
                             session B camera=back
                             start B
                        30s  stop B
                             presence B background
                             presence A fullscreen focused
                        """), watched: both),
            ]
        ),
        (
            "Sessions of one app",
            [
                PolicySituation(
                    title: "A opens the other camera, too",
                    lines: begins("9s   session other of A camera=front\n     start other\n"),
                    watched: [("A", "first"), ("other", "second")]),
                PolicySituation(
                    title: "A opens the same camera again",
                    lines: begins("9s   session again of A camera=back\n     start again\n"),
                    watched: [("A", "first"), ("again", "second")]),
            ]
        ),
        (
            "Watching",
            [
                PolicySituation(
                    title: "B comes in front beside A and asks to watch only",
                    lines: begins(
                        """
                        9s   connect B login=one presence=split
                             session B camera=back sharingMode=sharedReadOnly
                             start B
                        """), watched: both),
                PolicySituation(
                    title: "and then A stops and leaves",
                    lines: begins(
                        """
                        9s   connect B login=one presence=split
                             session B camera=back sharingMode=sharedReadOnly
                             start B
                        30s  stop A
                             presence A background
                        """), watched: both),
            ]
        ),
        (
            "Calls",
            [
                PolicySituation(
                    title: "a call in a corner takes the microphone; A records sound",
                    lines: """
                        0s   login-session one active
                             connect A login=one presence=fullscreen focused multitasking
                             session A camera=back audio
                             start A
                        9s   microphone CALL taken
                        """, watched: [("A", "A")]),
                PolicySituation(
                    title: "the same; A has no microphone",
                    lines: begins("9s   microphone CALL taken\n"), watched: [("A", "A")]),
                PolicySituation(
                    title: "a call in a corner starts on A's camera",
                    lines: begins(
                        """
                        9s   connect CALL login=one presence=picture-in-picture kind=voip
                             session CALL camera=back
                             start CALL
                        """), watched: call),
            ]
        ),
        (
            "A stronger bid, and the machine",
            [
                PolicySituation(
                    title: "the operator chooses B while A records",
                    lines: begins(
                        """
                             record A
                             connect B login=one presence=background
                             session B camera=back
                             start B
                        9s   operator B
                        """), watched: both),
                PolicySituation(
                    title: "it becomes very hot",
                    lines: begins("9s   pressure critical\n"), watched: [("A", "A")]),
                PolicySituation(
                    title: "another user's login session becomes active",
                    lines: begins("9s   login-session one inactive\n"), watched: [("A", "A")]),
            ]
        ),
    ]

    /// The apps that play the parts under a policy that knows its apps by name.
    private static let casts: [String: [String: String]] = [
        "kiosk": ["A": "photobooth.service", "B": "guide.service", "CALL": "intercom.service"]
    ]

    /// What becomes of the apps, in the words of a cell: read off the core when the last line has been taken.
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
        switch status.state {
        case .starting: return "starts"
        case .interrupted: return "waits"
        case .running:
            if isWarned(id, stage) { return "runs, and is told that it will be cut" }
            if status.access == .all { return "runs" }
            return status.isHolder ? "runs with \(status.access.names.joined(separator: ", "))" : "watches"
        case .stopped:
            var isEvicted = false
            for step in stage.steps {
                for case .notify(_, id, _, .sessionStopped) in step.effects { isEvicted = true }
            }
            if isEvicted { return "is stopped" }
            return stage.steps.contains { $0.event == .stopRunning(id) } ? "has stopped" : "is refused"
        }
    }

    /// The last that it was told is that it will be interrupted.
    private static func isWarned(_ id: SessionID, _ stage: Stage) -> Bool {
        var warned = false
        for step in stage.steps {
            for case .notify(_, id, _, let event) in step.effects {
                switch event {
                case .willBeInterrupted: warned = true
                case .interruptionWithdrawn, .wasInterrupted: warned = false
                default: break
                }
            }
        }
        return warned
    }
}
