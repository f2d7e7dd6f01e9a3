extension Interface {
    /// What every client sees first: sessions, its own presence, and the answers to "who" and "why".
    package static let broker = Interface(
        name: InterfaceName.broker,
        summary: "The broker: sessions, presence, status and explanations.",
        methods: [
            Method(
                "CreateSession", [Argument("camera", "s"), Argument("configuration", "a{sv}")],
                gives: [Argument("session", "o")],
                "Creates a stopped session on a camera (its id, or \"\" for the first). At most 64 for each client and 256 for each user."
            ),
            Method(
                "DeclareClient", [Argument("attributes", "a{sv}")],
                """
                Says what the client is: `app` (s, a claim), `kind` (s: app, picker, voip), `multitasking` (b), \
                `requiresFullScreen` (b); where camarbd trusts claims also `loginSession` (s). Before its first session.
                """),
            Method(
                "StandFor", [Argument("process", "u"), Argument("began", "t")],
                gives: [Argument("app", "s")],
                """
                From now on this connection is another process of its own user's, as if that one had connected itself; \
                the answer is its app. `began` is when that process did, in nanoseconds since the machine's start (field \
                22 of `/proc/PID/stat`, whose ticks are 10 ms), so that no later one under its number is meant. It ends \
                with either process. For the unit that the policy names under `[agent]`, and for who is trusted; once, \
                and before anything else that says what the client is.
                """),
            Method(
                "DeclarePresence", [Argument("presence", "s"), Argument("focused", "b")],
                "Says where the client's app is, for policies that believe `self-declared`."),
            Method(
                "LowerPriority", [Argument("rank", "s")],
                "Takes a weaker rank of the policy for all the client holds; a stronger one is refused."),
            Method(
                "LowerAttribute", [Argument("attribute", "s"), Argument("value", "s")],
                """
                Takes a weaker value of an attribute of the policy for the client's whole app, until the client leaves; \
                a stronger one is refused.
                """),
            Method(
                "GetStatus", [],
                gives: [Argument("broker", "a{sv}"), Argument("cameras", "aa{sv}"), Argument("sessions", "aa{sv}")],
                """
                Who holds what, who waits, and why. Other users' sessions show only that they are there. The first 64 \
                sessions; where `moreSessions` (b) of `broker` is true, `GetSessions` has the others. `waiting` and \
                `sharers` of a camera have the first 64. `budgets` (aa{sv}) of `broker`: what the asker's user has of \
                each bounded `resource` (s), `used` and `most` (t); root is told of each `user` (u), and without one \
                of all together. `ownPrivacy` (b): the asker's user has its own privacy switch on. `pressure` is \
                what rules read; `pressureSaid` a shell's word, `pressureMeasured` the machine's own ("": nobody \
                looks), `pressureWhy` by which reading, `pressureTrouble` why there is none. Of a camera, `outside` \
                is a program that streams from it without asking, `openIn` one that merely has its node open, \
                `unwatched` why neither would be noticed before somebody asks.
                """),
            Method(
                "GetSessions", [Argument("after", "t")],
                gives: [Argument("sessions", "aa{sv}"), Argument("more", "b")],
                """
                Sessions as in `GetStatus`, in the order of their ids: at most 64 with an id greater than `after`, and \
                whether there are more.
                """),
            Method(
                "Explain", [Argument("decision", "t")],
                gives: [Argument("summary", "s"), Argument("verdicts", "aa{sv}")],
                """
                Why a decision fell as it did, and the smallest change that would have turned it. 0: the latest. Each \
                verdict: `decision` t, `session` t, `app` s, `outcome` s, `rule` s, `opponent` s, `read` as, `turnedBy` as \
                (one change a string, up to three facts joined by " and "), `searched` s (what was tried).
                """),
            Method(
                "Plan", [Argument("scenario", "s")], gives: [Argument("outcome", "s")],
                """
                What would happen, in the scenario language: events in, events and notices out. Comments behind them say \
                who would be interrupted, in order, and what would let a failing start through. Nothing changes. \
                Plans and explanations are worked out one after the other, each in bounded time; a user may have two \
                waiting.
                """),
            Method(
                "GetPolicy",
                gives: [Argument("text", "s"), Argument("files", "as"), Argument("origins", "aa{sv}")],
                """
                The policy in force as one policy file, the files it was read from (none: it is built in), and for each \
                of its parts the `table` (s: "", attribute, rule, contention, camera), `name` (s), `file` (s) and `line` (t).
                """),
            Method(
                "GetMetrics", gives: [Argument("text", "s")],
                """
                Counts since camarbd's start as OpenMetrics text: grants, interruptions, waits, handovers, refusals, \
                recordings. Root and trusted peers get those of all users and of the broker itself, others their own user's.
                """),
            Method("Watch", [Argument("on", "b")], "Asks for `Decided` signals on this connection."),
            Method(
                "Trace", [], gives: [Argument("header", "h")],
                """
                For root, and the user of a broker that is no service: every step of the core from here on, as `Traced` signals. `header` is \
                a file with the trace's first line: policy and snapshot (trace.md).
                """),
        ],
        signals: [
            Signal("CamerasChanged", [], "A camera came, went or changed: read the object manager again."),
            Signal(
                "HolderChanged", [Argument("camera", "s"), Argument("holder", "s")],
                "A camera has another holder: an app, \"another user's app\", \"outside: \" and a program that streams without asking the broker, or \"\"."
            ),
            Signal(
                "PrioritiesChanged", [],
                "A policy was loaded, or ranks of the caller's user changed (root hears of everybody's): ask again who would win."
            ),
            Signal(
                "Decided",
                [
                    Argument("decision", "t"), Argument("moment", "x"), Argument("trace", "s"),
                    Argument("parts", "aa{sv}"),
                ],
                """
                For watchers: a decision as scenario lines (the event, then its notices), and the same as data, a dictionary \
                for each line. Of the event: `event` (s), its name, and its fields by their keys (trace.md); `note` (s), where \
                a picture of who had the camera says something of it. Of a notice: `effect` (s), which is `notify` with \
                `client` and `session` (t), `sequence` (t), `notice` (s) and that signal's other arguments by their names, or \
                `refused` with `error`, `message` and `rule` (s). `name` (s) is what the journal calls the session, or the \
                client, that it is about. What is not known has no key. Who may not hear of the event has the notices of its \
                own sessions alone.
                """),
            Signal(
                "Traced", [Argument("step", "s")],
                "For those who asked with `Trace`: a line of the trace, without its checksum and its last brace."),
            Signal(
                "TraceLost", [],
                "The reader was too slow; there are no more `Traced` signals until it calls `Trace` again."),
        ],
        properties: [
            Property("Version", "s", changes: .never, "camarbd's version."),
            Property("PolicyName", "s", "The policy in force."),
            Property("Degraded", "s", "Why the broker runs without what it was told to use; empty when all is well."),
            Property("PresenceKnown", "b", "False: no presence source, so every client counts as foreground."),
        ])

    package static let camera = Interface(
        name: InterfaceName.camera,
        summary: "A camera, at /org/camarb/camera/NAME.",
        methods: [],
        signals: [],
        properties: [
            Property("Id", "s", changes: .never, "The stable identity."),
            Property("Name", "s", changes: .named, "What a person calls it."),
            Property("Position", "s", changes: .named, "front, back or external."),
            Property("Generation", "t", "Grows each time it appears."),
            Property("Present", "b", "Whether it is plugged in."),
            Property(
                "Holder", "s",
                "The holder's app, \"another user's app\", \"outside: \" and a program that did not ask, or \"\"."),
            Property("Formats", "aa{sv}", changes: .named, "Its formats, the default first."),
            Property(
                "Controls", "aa{sv}", changes: .named,
                """
                What else can be set on it: `key` s, its `usual` value, and `least`, `most`, `step` d of a number or the \
                `words` as of a mode.
                """),
        ])

    /// A capture session, at /org/camarb/session/N. Every signal begins with the session's sequence
    /// number (from 1, without gaps) and the decision it came from.
    package static let session = Interface(
        name: InterfaceName.session,
        summary: "A capture session.",
        methods: [
            Method(
                "StartRunning",
                """
                Asks to run. Interrupted at once, and not an error, while causes leave no access; `AccessDenied` without a \
                right to the camera.
                """),
            Method(
                "Reclaim", [Argument("secret", "s")],
                """
                In place of `StartRunning`, on a session that was just created at another broker: goes on with the camera \
                that the secret was given for. `StaleGrant` where that is over; the secret is used up in any case but \
                where it was another's.
                """),
            Method(
                "GetReclaimSecret", gives: [Argument("secret", "s")],
                """
                While it holds a camera that streams: 32 hexadecimal digits for `Reclaim`, once, by the same user and \
                app. The one before is void.
                """),
            Method("StopRunning", "Takes the start request back."),
            Method("BeginConfiguration", "Opens a batch; nests at most 16 deep."),
            Method("CommitConfiguration", "Closes a batch; the outermost one applies it as a whole."),
            Method(
                "Configure", [Argument("batch", "a{sv}")],
                "Sets keys as a whole or not at all: camera, activeFormat, frameRate, videoZoomFactor, …"),
            Method(
                "OpenStream", gives: [Argument("stream", "h")],
                "The preview stream of the present grant, a SOCK_SEQPACKET socket. It ends with the grant."),
            Method(
                "CapturePhoto", [Argument("file", "h"), Argument("options", "a{sv}")], gives: [Argument("photo", "t")],
                "Writes one JPEG to a regular file; `PhotoCaptured` says when it is whole."),
            Method(
                "StartRecording", [Argument("file", "h"), Argument("options", "a{sv}")],
                gives: [Argument("recording", "t")],
                "Records to an empty or overwritable regular file, open for writing and not for appending."),
            Method("StopRecording", "Finishes the recording; `RecordingFinished` says when its file is whole."),
            Method(
                "Ready", [Argument("interruption", "t")],
                "Answers `WillBeInterrupted`: the camera may go before the deadline."),
            Method("Continue", "Clears sensitive-content-mitigation-activated, and nothing else."),
            Method("Close", "Ends the session. Its path answers no more."),
        ],
        signals: [
            sessionSignal(
                "WillBeInterrupted",
                [
                    Argument("interruption", "t"), Argument("cause", "s"), Argument("deadline", "x"),
                    Argument("rule", "s"),
                ],
                "The camera goes at the deadline (nanoseconds of CLOCK_MONOTONIC), or on `Ready`."),
            sessionSignal("InterruptionWithdrawn", [Argument("interruption", "t")], "It stays."),
            sessionSignal(
                "WasInterrupted",
                [
                    Argument("interruption", "t"), Argument("causes", "as"), Argument("reason", "s"),
                    Argument("interrupter", "s"), Argument("recording", "t"), Argument("rule", "s"),
                ],
                "Interrupted; `recording` is the one that was cut, or 0."),
            sessionSignal(
                "InterruptionChanged",
                [
                    Argument("interruption", "t"), Argument("causes", "as"), Argument("reason", "s"),
                    Argument("interrupter", "s"), Argument("rule", "s"),
                ],
                "Other causes or another interrupter, the same interruption."),
            sessionSignal(
                "InterruptionEnded",
                [
                    Argument("interruption", "t"), Argument("causes", "as"), Argument("duration", "x"),
                    Argument("willResume", "b"),
                ],
                "Ended after `duration` nanoseconds; `causes` are all it had."),
            sessionSignal("DidStartRunning", [Argument("grant", "t")], "Frames flow: open the stream."),
            sessionSignal("DidStopRunning", [], "No frame is captured for this session any more."),
            sessionSignal(
                "AccessChanged", [Argument("access", "as"), Argument("causes", "as"), Argument("rule", "s")],
                "What the session may do now, without an interruption."),
            sessionSignal(
                "SharersChanged", [Argument("sharers", "as")],
                "To a shared camera's holder: whose apps watch it, each app once; other users' as \"another user's app\"."
            ),
            sessionSignal(
                "SessionStopped", [Argument("reason", "s"), Argument("rule", "s")], "Stopped for good; may start again."
            ),
            sessionSignal("RecordingStarted", [Argument("recording", "t")], "Recording."),
            sessionSignal(
                "RecordingFinished",
                [
                    Argument("recording", "t"), Argument("why", "s"), Argument("frames", "t"),
                    Argument("duration", "x"), Argument("bytes", "t"), Argument("nextChance", "s"),
                ],
                "The file is whole and playable."),
            sessionSignal(
                "PhotoCaptured",
                [
                    Argument("photo", "t"), Argument("width", "u"), Argument("height", "u"), Argument("bytes", "t"),
                    Argument("error", "s"),
                ],
                "The JPEG is whole, or `error` says why not."),
            sessionSignal(
                "ConfigurationApplied",
                [Argument("asked", "a{sv}"), Argument("inForce", "a{sv}"), Argument("by", "s")],
                "What was asked, and the whole of what is in force."),
            sessionSignal("RampFinished", [Argument("videoZoomFactor", "d")], "A zoom ramp arrived."),
            sessionSignal(
                "RuntimeError", [Argument("code", "s"), Argument("message", "s")],
                "Something failed; the session lives."),
        ],
        properties: [
            Property("Camera", "s", "The camera's id."),
            Property("Running", "b", "Whether frames flow."),
            Property("Interrupted", "b", "Whether causes leave nothing."),
            Property("Access", "as", "What it may do now."),
            Property("Causes", "as", "Every live cause, the reason first."),
            Property(
                "Configuration", "a{sv}",
                """
                While it runs, the whole of what is in force on its camera, and `usesAudio` and `sharingMode` where it set \
                them; otherwise what it asked for, which is set when it runs.
                """),
        ])

    /// Presence and other facts from peers the policy trusts. A shell is believed for its own user;
    /// root, and the user of a broker that is no service, for everybody. One client speaks in each role.
    package static let shell = Interface(
        name: InterfaceName.shell,
        summary: "Facts from a shell, a compositor or an agent.",
        methods: [
            Method(
                "Attach", [Argument("source", "s")],
                """
                Becomes a presence source: `shell`, or `agent`, which speaks for its own user alone. Gone when the \
                connection ends. One client is it for a user; a second one is refused, with who it is, unless the policy \
                names its unit or it is root's: then `Displaced` tells the first.
                """),
            Method(
                "AttachPlacing", [Argument("source", "s"), Argument("apps", "aa{sv}")],
                """
                The same, with all apps placed at once: no app is in the background until its turn comes. Each has \
                `app` s, `presence` s and `focused` b.
                """),
            Method(
                "DescribeSource", [Argument("words", "s")],
                """
                What a presence source knows the windows from, for people: at most 255 bytes, such as `sway 1.7`. Status \
                has it in `speakers`, until the source detaches.
                """),
            Method("Detach", [Argument("source", "s")], "Is a presence source no more."),
            Method(
                "PlaceApp", [Argument("app", "s"), Argument("presence", "s"), Argument("focused", "b")],
                "Places an app: background, fullscreen, split, slide-over or picture-in-picture."),
            Method(
                "TakeMicrophone", [Argument("app", "s")],
                "The app has the microphone. For who speaks for its user: after `WatchMicrophones` or `Attach`, or as root."
            ),
            Method("ReleaseMicrophone", [Argument("app", "s")], "The app has it no more."),
            Method(
                "WatchMicrophones", [Argument("on", "b")],
                """
                The caller knows, from now on, which of its user's apps have a microphone, or no more. While nobody \
                does, status says so. One client does for a user, as with `Attach`.
                """),
            Method(
                "ListClients", gives: [Argument("clients", "aa{sv}")],
                """
                The clients of the caller's user that have an app: `app` s, as the broker calls it, and `process` u. \
                From then on `ClientsChanged` says when to ask again.
                """),
            Method(
                "SetPrivacy", [Argument("camera", "s"), Argument("on", "b")],
                "The privacy switch of a camera, or of all with \"\"."),
            Method(
                "SetPressure", [Argument("level", "s")],
                """
                nominal, fair, serious or critical, until it is said anew; the machine's own figures say it, too, and the \
                harder word counts.
                """),
            Method(
                "RaiseSensitiveContent", [Argument("app", "s")],
                "Interrupts the app's sessions until they continue. For who speaks for its user, and for root."),
            Method(
                "SetLoginSession", [Argument("session", "s"), Argument("active", "b"), Argument("locked", "b")],
                "A login session's state."),
            Method("SetSleep", [Argument("asleep", "b")], "The machine is about to sleep, or woke."),
            Method(
                "Override", [Argument("app", "s")],
                "The operator's choice (`operator = \"chosen\"`); \"\" takes it back."),
            Method(
                "SetAttribute", [Argument("app", "s"), Argument("attribute", "s"), Argument("value", "s")],
                """
                An app's value of an attribute that the policy declares. It stays when the caller leaves; \
                \"\" forgets it, and the policy's default counts.
                """),
            Method(
                "Plug", [Argument("camera", "s"), Argument("present", "b")],
                "Unplugs or re-plugs a simulated or file camera."),
        ] + shellAnswers,
        signals: [
            Signal(
                "ClientsChanged", [], "For who asked `ListClients`: a client of its user came, went or has another app."
            ),
            Signal(
                "Displaced", [Argument("role", "s"), Argument("by", "s")],
                """
                To who was `shell`, `agent`, knew the `microphones` or was asked (`ask`): somebody else is it now, in \
                words, and what the caller said ends as when it leaves.
                """),
        ] + shellAnswerSignals,
        properties: [])

    /// Between broker (the caller) and recorder core, on a private connection. `grant` orders everything:
    /// a call for another grant than the open one is refused with `org.camarb.Error.StaleGrant`.
    package static let recorder = Interface(
        name: InterfaceName.recorder,
        summary: "A recorder core: one process, one camera.",
        methods: [
            Method(
                "Serve", [Argument("camera", "s")], gives: [Argument("process", "h")],
                """
                Tells a recorder core that was started without a camera which one it serves; the first call then, and \
                called once. Gives a pidfd of its own process, so that one that hangs can be killed.
                """),
            Method(
                "Describe", gives: [Argument("capabilities", "a{sv}")],
                """
                What the camera can do: `name` s, `position` s, `sensorWidth` u, `sensorHeight` u, and `formats` aa{sv} \
                (`pixelFormat` s, `width` u, `height` u, `minFrameRate` d, `maxFrameRate` d, `videoMaxZoomFactor` d, \
                `videoZoomFactorUpscaleThreshold` d, `isBinned` b, `fieldOfView` d), the default first.
                """),
            Method(
                "Open", [Argument("grant", "t"), Argument("configuration", "a{sv}")],
                gives: [Argument("inForce", "a{sv}")],
                "Starts the camera for a grant, with fresh buffers; answers when the first frame is there."),
            Method(
                "Configure", [Argument("grant", "t"), Argument("batch", "a{sv}")],
                gives: [Argument("inForce", "a{sv}")],
                "Applies a batch as a whole or refuses it as a whole."),
            Method(
                "OpenStream", [Argument("grant", "t"), Argument("session", "t")], gives: [Argument("stream", "h")],
                "One more preview stream of the grant: the client's end of a SOCK_SEQPACKET pair."),
            Method(
                "CloseStreams", [Argument("grant", "t"), Argument("session", "t")],
                """
                Closes a session's preview streams, blanks their buffers, and gives up its photos that wait for a frame, \
                while the camera goes on. Answers when that is so; a recording ends by its own call.
                """),
            Method(
                "CapturePhoto",
                [
                    Argument("grant", "t"), Argument("session", "t"), Argument("photo", "t"), Argument("file", "h"),
                    Argument("options", "a{sv}"),
                ],
                "Takes the next frame as a JPEG into the file of an envelope; `PhotoCaptured` follows."),
            Method(
                "StartRecording",
                [
                    Argument("grant", "t"), Argument("recording", "t"), Argument("file", "h"),
                    Argument("options", "a{sv}"),
                ],
                "Records from the next frame on into the file of an envelope. One at a time."),
            Method(
                "StopRecording", [Argument("recording", "t"), Argument("why", "s")],
                "Finishes the file; `RecordingFinished` follows. Unknown recordings are ignored: it may just have ended."
            ),
            Method(
                "Complete", [Argument("recording", "t"), Argument("file", "h")],
                gives: [Argument("frames", "t"), Argument("duration", "x"), Argument("bytes", "t")],
                """
                Completes a recording of a recorder core that was lost over it, in the envelope that one had: says what is \
                in the file, whole. Nothing waits for it. A file that cannot be read, or is no recording of the recorder \
                core's own kind, is left as it is and refused.
                """),
            Method(
                "Keep", [Argument("grant", "t"), Argument("process", "h"), Argument("listener", "h")],
                """
                The open grant may outlive the broker, for 3 s: until another one connects to `listener`, a listening \
                AF_UNIX stream socket, as the broker's user or root, or the client ends, whose pidfd is `process`.
                """),
            Method(
                "Survey", gives: [Argument("process", "h"), Argument("grant", "t"), Argument("recordings", "at")],
                """
                What is there for another broker, whose first call it is: a pidfd of the recorder core's process, the grant \
                that is kept (0: none), and its recordings that run or whose end is told next. Until `Resume` nothing is \
                begun for the grant.
                """),
            Method(
                "Resume", [Argument("grant", "t"), Argument("sessionBefore", "t"), Argument("session", "t")],
                gives: [Argument("inForce", "a{sv}")],
                """
                The kept grant goes on, for a session of another number. Streams of any other session are closed, their \
                buffers blanked, and photos that wait are given up.
                """),
            Method(
                "Cut", [Argument("grant", "t"), Argument("why", "s")], gives: [Argument("lastCapture", "x")],
                """
                Ends a grant: streams closed, buffers blanked, no later frame is captured for it. Answers when that is so, \
                with the capture time of its last frame (0: none); a recording is finished after the answer.
                """),
            Method(
                "WatchNode", [Argument("queue", "h")],
                """
                Has the kernel say in an inotify queue of the broker's who opens and closes the camera's node: the broker \
                itself may not read it. Refused where the camera has no node.
                """),
            Method(
                "Look", gives: [Argument("openIn", "s")],
                """
                Looks whether a program outside the broker has the device, and tells `DeviceChanged` before it answers with \
                who has the node open, as far as that can be seen ("": it cannot). During a grant the device is left alone.
                """),
        ],
        signals: [
            Signal(
                "RecordingFinished",
                [
                    Argument("recording", "t"), Argument("why", "s"), Argument("frames", "t"),
                    Argument("duration", "x"), Argument("bytes", "t"),
                ],
                "A file is whole."),
            Signal(
                "PhotoCaptured",
                [
                    Argument("photo", "t"), Argument("width", "u"), Argument("height", "u"), Argument("bytes", "t"),
                    Argument("error", "s"),
                ],
                "A JPEG is whole, or `error` says why not."),
            Signal("RampFinished", [Argument("grant", "t"), Argument("videoZoomFactor", "d")], "A ramp arrived."),
            Signal(
                "DeviceChanged", [Argument("state", "s"), Argument("message", "s")],
                "`ok`, `disconnected`, `error`, `held-outside`, `privacy-on`, `privacy-off`."),
            Signal(
                "RuntimeError", [Argument("code", "s"), Argument("message", "s")], "Something failed; capture goes on."),
            Signal("Leaving", [], "There is nothing to do: its process ends, and another is started when there is."),
        ],
        properties: [])

    /// The ones a client can meet.
    package static let publicInterfaces: [Interface] = [broker, camera, session, shell]

    private static func sessionSignal(_ name: String, _ carries: [Argument], _ summary: String) -> Signal {
        Signal(name, [Argument("sequence", "t"), Argument("decision", "t")] + carries, summary)
    }
}

extension Interface.Method {
    /// A method that takes and gives nothing.
    init(_ name: String, _ summary: String) { self.init(name, [], gives: [], summary) }
    init(_ name: String, gives: [Interface.Argument], _ summary: String) { self.init(name, [], gives: gives, summary) }
}
