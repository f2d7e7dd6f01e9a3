extension Interface {
    /// What every client sees first: sessions, its own presence, and the answers to "who" and "why".
    package static let broker = Interface(
        name: InterfaceName.broker, summary: "The broker: sessions, presence, status and explanations.",
        methods: [
            Method(
                "CreateSession", takes: "camera s, configuration a{sv}", gives: "session o",
                """
                Creates a stopped session on a camera (its id; "" for the back one, or where none is there the first by its id). At \
                most 64 for each client and 256 for each user.
                """),
            Method(
                "DeclareClient", takes: "attributes a{sv}",
                """
                Says what the client is: `app` (s, a claim), `kind` (s: app, picker, voip), `multitasking` (b), \
                `requiresFullScreen` (b); where camarbd trusts claims also `loginSession` (s). Before its first session.
                """),
            Method(
                "StandFor", takes: "process u, began t", gives: "app s",
                """
                From now on this connection stands for another process of its own user, as if that process had connected itself; \
                the answer is its app. `began` is when that process started, in nanoseconds since the machine's start (field \
                22 of `/proc/PID/stat`, whose ticks are 10 ms), so that no later one under its number is meant. It ends \
                with either process. For the unit that the policy names under `[agent]`, and for trusted peers; once, \
                and before anything else that says what the client is.
                """),
            Method(
                "DeclarePresence", takes: "presence s, focused b",
                "Says where the client's app is, for policies that believe `self-declared`."),
            Method(
                "LowerPriority", takes: "rank s",
                "Takes a weaker rank of the policy for all the client holds; a stronger one is refused."),
            Method(
                "LowerAttribute", takes: "attribute s, value s",
                """
                Takes a weaker value of an attribute of the policy for the client's whole app, until the client leaves; \
                a stronger one is refused.
                """),
            Method(
                "GetStatus", gives: "broker a{sv}, cameras aa{sv}, sessions aa{sv}",
                """
                Which apps hold and wait for cameras, and why; “Keys of a status” lists them. Other users' sessions show \
                only where they are, and whether they run. The first 64 sessions; where `moreSessions` of `broker` is true, \
                `GetSessions` has the others. `waiting` and `sharers` of a camera list the first 64.
                """),
            Method(
                "GetSessions", takes: "after t", gives: "sessions aa{sv}, more b",
                """
                Sessions as in `GetStatus`, in the order of their ids: at most 64 with an id greater than `after`, and \
                whether there are more.
                """),
            Method(
                "Explain", takes: "decision t", gives: "summary s, verdicts aa{sv}",
                """
                Why a decision fell as it did, and the smallest difference that would have changed it. 0: the latest. Each \
                verdict: `decision` t, `session` t, `app` s, `outcome` s, `rule` s, `opponent` s, `read` as, `changedBy` as \
                (one change a string, up to three facts joined by " and "), `searched` s (what was tried), `stops` as: the \
                apps any one of which, had it not asked for a camera, would have left the session its own.
                """),
            Method(
                "ExplainApp", takes: "app s", gives: "summary s, verdicts aa{sv}",
                """
                How the sessions of an app that ask to run stand at this moment, and why, whenever that was decided: what \
                holds each off, since when and till when. `app` is a name as events show it, or a session's. Each verdict \
                as in `Explain`, without `decision`, and with `camera` s, `since` x (microseconds of real time, 0: not known), \
                `hasWon` b (only the holder's time keeps it from its camera), and `limits` aa{sv}, the earliest first: `kind` s \
                (`min-hold`, `grace`, `lease`, `cool-down` or `cut`), `until` x (microseconds of real time), `app` s, `rule` s.
                """),
            Method(
                "Plan", takes: "scenario s", gives: "outcome s",
                """
                What would happen, in the scenario language: events in, events and notices out. Comments after them say \
                which apps would be interrupted, in order, and what would let a failing start through. Nothing changes. \
                Plans and explanations are worked out one after the other, each in bounded time; a user may have two \
                waiting.
                """),
            Method(
                "GetPolicy", gives: "text s, files as, origins aa{sv}",
                """
                The policy in force as one policy file, the files it was read from (none: it is built in), and where each \
                of its parts was written.
                """),
            Method(
                "PlanPolicy", takes: "policy s, file s, scenario s",
                gives: "outcome s, changes aa{sv}, policyHash s, plan s",
                """
                What would become of whom if this policy were loaded now; nothing changes. `policy` is one policy file's text \
                of at most 120 KiB, without includes, and with users and groups by their numbers; `file` is what problems \
                call it. `scenario` is empty, or lines as `Plan` takes them, for after the load. Each of `changes` is about \
                one session. `plan` stands for what the plan came to, for `LoadPolicy`.
                """),
            Method(
                "LoadPolicy", takes: "policy s, file s, plan s", gives: "changes aa{sv}, policyHash s",
                """
                Puts a policy in force, for root and the user of a broker that is not a service. `plan` is what `PlanPolicy` \
                answered: if that would be answered otherwise now, nothing happens, and the answer is `PlanChanged`; \
                "" loads it whatever happens. It holds until the broker's own files are read again: by \
                `UnloadPolicy`, a reload or a restart.
                """),
            Method(
                "UnloadPolicy",
                """
                Puts the policy of the broker's own files in force again, for those who may load one. A file with a mistake \
                leaves the loaded one in force, and the answer is `InvalidValue` with the problems.
                """),
            Method(
                "GetMetrics", gives: "text s",
                """
                Counts since camarbd's start as OpenMetrics text: grants, interruptions, waits, handovers, refusals, \
                recordings. Root and trusted peers get those of all users and of the broker itself, others their own user's.
                """), Method("Watch", takes: "on b", "Asks for `Decided` signals on this connection."),
            Method(
                "Trace", gives: "header h",
                """
                For root, and the user of a broker that is not a service: every step of the core from here on, as `Traced` signals. \
                `header` is a file with the trace's first line: policy and snapshot (trace.md).
                """),
        ],
        signals: [
            Signal("CamerasChanged", "A camera came, went or changed: read the object manager again."),
            Signal(
                "HolderChanged", carries: "camera s, holder s",
                "A camera has another holder: an app, \"another user's app\", \"outside: \" and the name of a program that streams without asking the broker, or \"\"."
            ),
            Signal(
                "PrioritiesChanged",
                "A policy was loaded, or ranks of the caller's user changed (root hears of everybody's): ask again who would win."
            ),
            Signal(
                "Decided", carries: "decision t, moment x, trace s, parts aa{sv}",
                """
                For subscribers: a decision as scenario lines (the event, then its notices), and the same as data, a dictionary \
                for each line. Of the event: `event` (s), its name, and its fields by their keys (trace.md); `note` (s), where \
                a timeline says something of it. Of a notice: `effect` (s), which is `notify` with \
                `client` and `session` (t), `sequence` (t), `notice` (s) and that signal's other arguments by their names, or \
                `refused` with `error`, `message` and `rule` (s). `name` (s) is what the journal calls the session, or the \
                client, that it is about. What is not known has no key. A subscriber that may not hear of the event gets the \
                notices of its own sessions alone.
                """),
            Signal(
                "Traced", carries: "step s",
                "After `Trace`: a line of the trace, without its checksum and its last brace."),
            Signal(
                "TraceLost", "The reader was too slow; there are no more `Traced` signals until it calls `Trace` again."
            ),
        ],
        properties: BrokerProperties.properties)
}
