extension Interface {
    /// A shell is believed for its own user; root, and the user of a broker that is no service, for everybody. One
    /// client speaks in each role.
    package static let shell = Interface(
        name: InterfaceName.shell, summary: "Facts from a shell, a compositor or an agent.",
        methods: """
            Attach(source s)
              Becomes a presence source: `shell`, or `agent`, which speaks for its own user alone. Ends with the
              connection. One client for each user; a second one is refused with the name of the first, unless the
              policy names its unit or it is root's: then the first gets `Displaced`.
            AttachPlacing(source s, apps aa{sv})
              The same, with all apps placed at once: none counts as in the background until its `PlaceApp` comes.
            DescribeSource(words s)
              How a presence source knows the windows, for people: at most 255 bytes, such as `sway 1.7`. Status shows
              it in `speakers` until the source detaches.
            Detach(source s)
              Ends being a presence source.
            PlaceApp(app s, presence s, focused b)
              Places an app: background, fullscreen, split, slide-over or picture-in-picture.
            TakeMicrophone(app s)
              The app has the microphone. For a client that speaks for its user: after `WatchMicrophones` or `Attach`,
              or as root.
            ReleaseMicrophone(app s)
              The app no longer has it.
            WatchMicrophones(on b)
              From now on the caller knows which of its user's apps have a microphone, or no longer does. While nobody
              does, status says so. One client for each user, as with `Attach`.
            ListClients() → clients aa{sv}
              The clients of the caller's user that have an app. From then on `ClientsChanged` says when to ask again.
            SetPrivacy(camera s, on b)
              The privacy switch of a camera, or of all with "".
            SetPressure(level s)
              nominal, fair, serious or critical, until it is said anew. The machine's own figures say it too, and the
              harder word counts.
            RaiseSensitiveContent(app s)
              Interrupts the app's sessions until they continue. For a client that speaks for its user, and for root.
            SetLoginSession(session s, active b, locked b)
              A login session's state.
            SetSleep(asleep b)
              The machine is about to sleep, or woke.
            Override(app s)
              The operator's choice (`operator = "chosen"`); "" takes it back.
            SetMode(mode s)
              Sets the machine's mode, one that the policy declares, until it is taken back: "" does that, and the
              policy's calendar counts again. For those that `set-by` of the mode names; it stays when the caller
              leaves.
            SetAttribute(app s, attribute s, value s)
              Sets an app's value of an attribute that the policy declares. It stays when the caller leaves; "" forgets
              it, and the policy's default counts.
            Plug(camera s, present b)
              Unplugs or re-plugs a simulated or file camera.
            WatchQuestions(on b)
              The caller is asked about its user's apps, where the policy has `[access] apps = "ask"`. One client for
              each user, as with `Attach`. While there is none, questions wait for the next one until they are late.
            AnswerQuestion(question u, answer s)
              `allow` or `deny`, from the client that is asked, or from root. A question that is over is refused.
            ListAnswers() → answers aa{sv}
              What is said of the caller's user's apps, for users who may use some camera.
            SetAnswer(app s, vouched b, answer s)
              `allow`, `deny`, or "" which forgets it. Neither from a sandbox nor from a service: an app does not answer
              for itself. Nor from a user without a right to any camera (`AccessDenied`). Answered when it is on the
              disk.
            SetDenied(apps as)
              The apps to which the permission store of the caller's desktop says no, the whole list each time; at most
              1,024. From the `agent` of their user or, where there is none, the client that knows its microphones; and
              from root. Not for a user without a right to any camera.
            StopApp(app s)
              Stops the app's sessions that ask to run: `SessionStopped(stopped-by-user)`. For root and the user's own
              programs, but in a sandbox or a service only for one that speaks for that user in any role.
            SetOwnPrivacy(on b)
              The privacy switch for all sessions of the caller's user, on every camera. It stays when the caller
              leaves, and over the broker's end. In a sandbox or a service only for a client that speaks for that user
              in any role. Not for a user without a right to any camera.
            ListUse() → cameras aa{sv}
              Each camera that somebody has or that a session of the caller's user waits for. From then on `UseChanged`
              says when to ask again. For a client that speaks for a user in any role, and for root.
            """,
        signals: Signal.list(
            """
            ClientsChanged()
              After `ListClients`: a client of its user came, went or has another app.
            Displaced(role s, by s)
              To a client that was `shell`, `agent`, knew the `microphones` or was asked (`ask`): `by` says in words
              which one is it now, and what this client said ends as when it leaves.
            Question(\(AppQuestion.argumentList))
              To the client that is asked: may this app of its user have cameras? `vouched`: the kernel vouches for the
              name, else the app claims it. `program` is the path of its executable, or ""; `camera` is the camera's
              name for people; an answer counts for so many `seconds` more. One at a time for each user.
            QuestionEnded(question u, answer s)
              To the client that is asked: `allow`, `deny`, `late` (nobody answered: no, and nothing is stored) or
              `gone`.
            UseChanged()
              After `ListUse`: ask it again, and `GetStatus` for a user's own privacy switch. The next comes only after
              that.
            RecordingCut(\(RecordingCut.argumentList))
              To a client that speaks for the app's user: an interruption ended a recording of that app. `by` names the
              interrupter as far as that user may know, or is ""; `why` is the cause.
            AnswerChanged(\(AnswerChange.argumentList))
              To each client that speaks for the app's user in any role, but for the one that said it: somebody said of
              an app `allow`, `deny`, or "", which forgets what was said. `by` names the app that did, as far as that
              user may know; `process` and `program`, the path of its executable, are 0 and "" where it is another
              user's or not known.
            """))
}
