extension Interface {
    package static let broker = Interface(
        name: InterfaceName.broker, summary: "The broker: sessions, presence, status and explanations.",
        methods: """
            CreateSession(camera s, configuration a{sv}) → session o
              Creates a stopped session on a camera (its id; "" for the back one, or where none is there the first by
              its id). At most 64 for each client and 256 for each user.
            DeclareClient(attributes a{sv})
              Says what the client is: `app` (s, a claim), `kind` (s: app, picker, voip), `multitasking` (b),
              `requiresFullScreen` (b); where camarbd trusts claims also `loginSession` (s). Before its first session.
            StandFor(process u, began t) → app s
              From now on this connection stands for another process of its own user, as if that process had connected
              itself; the answer is its app. `began` is when that process started, in nanoseconds since the machine's
              start (field 22 of `/proc/PID/stat`, whose ticks are 10 ms), so that no later one under its number is
              meant. It ends with either process. For the unit that the policy names under `[agent]`, and for trusted
              peers; once, and before anything else that says what the client is.
            DeclarePresence(presence s, focused b)
              Says where the client's app is, for policies that believe `self-declared`.
            LowerPriority(rank s)
              Takes a weaker rank of the policy for all the client holds; a stronger one is refused.
            LowerAttribute(attribute s, value s)
              Takes a weaker value of an attribute of the policy for the client's whole app, until the client leaves; a
              stronger one is refused.
            GetStatus() → broker a{sv}, cameras aa{sv}, sessions aa{sv}
              Which apps hold and wait for cameras, and why; “Keys of a status” lists them. Other users' sessions show
              only where they are, and whether they run. The first 64 sessions; where `moreSessions` of `broker` is
              true, `GetSessions` has the others. `waiting` and `sharers` of a camera list the first 64.
            OpenConnection() → connection h
              On the system bus alone: one end of a new connection to the broker, for a program that does not reach its
              socket. From its authentication on it is as one to the socket. It counts as the process that called, by
              the bus's word, and ends with that process, whoever has the descriptor by then. `AccessDenied` for a
              proxy that is in no app's sandbox; at most two calls of a sender wait at once.
            GetSessions(after t) → sessions aa{sv}, more b
              Sessions as in `GetStatus`, in the order of their ids: at most 64 with an id greater than `after`, and
              whether there are more.
            Explain(decision t) → summary s, verdicts aa{sv}
              Why a decision was made, and the smallest difference that would have changed it. 0: the latest. Each
              verdict: `decision` t, `session` t, `app` s, `outcome` s, `rule` s, `opponent` s, `read` as, `changedBy`
              as (one change a string, up to three facts joined by " and "), `searched` s (what was tried), `stops` as:
              the apps any one of which, had it not asked for a camera, would have left the session its own.
            ExplainApp(app s) → summary s, verdicts aa{sv}
              How the sessions of an app that ask to run stand at this moment, and why, whenever that was decided: what
              holds each off, since when and till when. `app` is a name as events show it, or a session's. Each verdict
              as in `Explain`, without `decision`, and with `camera` s, `since` x (microseconds of real time, 0: not
              known), `hasWon` b (only the holder's time keeps it from its camera), and `limits` aa{sv}, the earliest
              first: `kind` s (`min-hold`, `grace`, `lease`, `cool-down` or `cut`), `until` x (microseconds of real
              time), `app` s, `rule` s.
            Plan(scenario s) → outcome s
              What would happen, in the scenario language: events in, events and notices out. Comments after them say
              which apps would be interrupted, in order, and what would let a failing start through. Nothing changes.
              Plans and explanations are worked out one after the other, each in bounded time; a user may have two
              waiting.
            GetPolicy() → text s, files as, origins aa{sv}
              The policy in force as one policy file, the files it was read from (none: it is built in), and where each
              of its parts was written.
            PlanPolicy(policy s, file s, scenario s) → outcome s, changes aa{sv}, policyHash s, plan s
              What would become of whom if this policy were loaded now; nothing changes. `policy` is one policy file's
              text of at most 120 KiB, without includes, and with users and groups by their numbers; `file` is what
              problems call it. `scenario` is empty, or lines as `Plan` takes them, for after the load. Each of
              `changes` is about one session. `plan` stands for what the plan came to, for `LoadPolicy`.
            LoadPolicy(policy s, file s, plan s) → changes aa{sv}, policyHash s
              Puts a policy in force, for root and the user of a broker that is not a service. `plan` is what
              `PlanPolicy` answered: if that would be answered otherwise now, nothing happens, and the answer is
              `PlanChanged`; "" loads it whatever happens. It holds until the broker's own files are read again: by
              `UnloadPolicy`, a reload or a restart.
            UnloadPolicy()
              Puts the policy of the broker's own files in force again, for those who may load one. A file with a
              mistake leaves the loaded one in force, and the answer is `InvalidValue` with the problems.
            GetMetrics() → text s
              Counts since camarbd's start as OpenMetrics text: grants, interruptions, waits, handovers, refusals,
              recordings. Root and trusted peers get those of all users and of the broker itself, others their own
              user's.
            Watch(on b)
              Asks for `Decided` signals on this connection.
            Trace() → header h
              For root, and the user of a broker that is not a service: every step of the core from here on, as `Traced`
              signals. `header` is a file with the trace's first line: policy and snapshot (trace.md).
            """,
        signals: Signal.list(
            """
            CamerasChanged()
              A camera came, went or changed: read the object manager again.
            HolderChanged(camera s, holder s)
              A camera has another holder: an app, "another user's app", "outside: " and the name of a program that
              streams without asking the broker, or "".
            PrioritiesChanged()
              A policy was loaded, or ranks of the caller's user changed (root hears of everybody's): ask again who
              would win.
            Decided(decision t, moment x, trace s, parts aa{sv})
              For subscribers: a decision as scenario lines (the event, then its notices), and the same as data, a
              dictionary for each line. Of the event: `event` (s), its name, and its fields by their keys (trace.md);
              `note` (s), where a timeline says something of it. Of a notice: `effect` (s), which is `notify` with
              `client` and `session` (t), `sequence` (t), `notice` (s) and that signal's other arguments by their names,
              or `refused` with `error`, `message` and `rule` (s). `name` (s) is what the journal calls the session, or
              the client, that it is about. What is not known has no key. A subscriber that may not hear of the event
              gets the notices of its own sessions alone.
            Traced(step s)
              After `Trace`: a line of the trace, without its checksum and its last brace.
            TraceLost()
              The reader was too slow; there are no more `Traced` signals until it calls `Trace` again.
            """),
        properties: BrokerProperties.properties)

    /// At /org/camarb/session/N. Every signal begins with the session's sequence number (from 1, without gaps) and its
    /// decision.
    package static let session = Interface(
        name: InterfaceName.session, summary: "A capture session.",
        methods: """
            StartRunning()
              Asks to run. Interrupted at once, and not an error, while causes leave no access; `AccessDenied` without a
              right to the camera.
            Reclaim(secret s)
              In place of `StartRunning`, on a session that was just created at another broker: goes on with the camera
              that the secret was given for. `StaleGrant` where that is over; the secret is used up unless it was
              another client's.
            GetReclaimSecret() → secret s
              While it holds a camera that streams: 32 hexadecimal digits for `Reclaim`, once, by the same user and app.
              The one before is void.
            StopRunning()
              Takes the start request back.
            BeginConfiguration()
              Opens a batch; nests at most 16 deep.
            CommitConfiguration()
              Closes a batch; the outermost one applies it as a whole.
            Configure(batch a{sv})
              Sets keys as a whole or not at all: camera, activeFormat, frameRate, videoZoomFactor, … The answer says
              that the batch was taken. While the session runs it is in force, and in `Configuration`, with
              `ConfigurationApplied`, which may come later.
            CheckConfiguration(batch a{sv})
              Answers as `Configure` would at this moment, refusal and sentence alike, and sets nothing.
            OpenStream() → stream h
              The preview stream of the present grant, a SOCK_SEQPACKET socket. It ends with the grant.
            CapturePhoto(file h, options a{sv}) → photo t
              Writes one JPEG to a regular file; `PhotoCaptured` says when it is whole.
            CapturePhotoBracket(files ah, options a{sv}) → photos at
              Writes 1 to 8 JPEGs of consecutive frames, each with an exposure of its own and into a file of its own:
              all or none is ordered. `PhotoCaptured` comes for each, as each file is whole, in no promised order; their
              numbers follow each other, as the files do.
            AttachMicrophone(microphone h, options a{sv})
              Brings the sound of the client's own microphone, while the session runs, may record and has `usesAudio`:
              the other end of a SOCK_SEQPACKET socket pair, on which the client writes packets of samples from then on.
              It ends with the grant, with `usesAudio` false, and when another one is attached.
            StartRecording(file h, options a{sv}) → recording t
              Records to an empty or overwritable regular file, open for writing and not for appending; with the sound
              of the microphone that is attached. Refused with `usesAudio` and no microphone.
            StopRecording()
              Finishes the recording; `RecordingFinished` says when its file is whole.
            PauseRecording()
              No frame and no sound gets into the file until `ResumeRecording`; in the file, times run on without a
              hole.
            ResumeRecording()
              The paused recording goes on, in the same file.
            AppendMetadata(kind s, time x, items as)
              Adds items to a kind of metadata that `StartRecording` declared, in the form of its type: `iso6709` such
              as `+48.2082+016.3738/`, `number` a decimal number, `text` any. They count from a moment of the recording
              (nanoseconds of CLOCK_MONOTONIC), not before the last one, until the next; no items: none from here on. At
              most 64 KiB at a time, and 100 times a second.
            Ready(interruption t)
              Answers `WillBeInterrupted`: the camera may go before the deadline.
            Continue()
              Clears sensitive-content-mitigation-activated, and nothing else.
            Close()
              Ends the session. Its path answers no more.
            """,
        signals: NoticeDescription.all.map(\.signal), properties: SessionProperties.properties)
}
