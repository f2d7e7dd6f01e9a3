extension Interface {
    /// The part of `Shell1` that is about a user's apps: questions, answers, what is in use, and ending it.
    static let shellAnswers: [Method] = [
        Method(
            "WatchQuestions", takes: "on b",
            """
            The caller is asked about its user's apps, where the policy has `[access] apps = "ask"`. One client for \
            each user, as with `Attach`. While there is none, questions wait for the next one until they are late.
            """),
        Method(
            "AnswerQuestion", takes: "question u, answer s",
            "`allow` or `deny`, from the client that is asked, or from root. A question that is over is refused."),
        Method(
            "ListAnswers", gives: "answers aa{sv}",
            "What is said of the caller's user's apps, for users who may use some camera."),
        Method(
            "SetAnswer", takes: "app s, vouched b, answer s",
            """
            `allow`, `deny`, or \"\" which forgets it. Neither from a sandbox nor from a service: an app does not answer for \
            itself. Nor from a user without a right to any camera (`AccessDenied`). Answered when it is on the disk.
            """),
        Method(
            "SetDenied", takes: "apps as",
            """
            The apps to which the permission store of the caller's desktop says no, the whole list each time; at most 1,024. \
            From the `agent` of their user or, where there is none, the client that knows its microphones; and from root. \
            Not for a user without a right to any camera.
            """),
        Method(
            "StopApp", takes: "app s",
            """
            Stops the app's sessions that ask to run: `SessionStopped(stopped-by-user)`. For root and the user's own \
            programs, but in a sandbox or a service only for one that speaks for that user in any role.
            """),
        Method(
            "SetOwnPrivacy", takes: "on b",
            """
            The privacy switch for all sessions of the caller's user, on every camera. It stays when the caller leaves, and \
            over the broker's end. In a sandbox or a service only for a client that speaks for that user in any role. Not for a \
            user without a right to any camera.
            """),
        Method(
            "ListUse", gives: "cameras aa{sv}",
            """
            Each camera that somebody has or that a session of the caller's user waits for. From then on `UseChanged` says \
            when to ask again. For a client that speaks for a user in any role, and for root.
            """),
    ]

    static let shellAnswerSignals: [Signal] = [
        Signal(
            "Question", AppQuestion.arguments,
            """
            To the client that is asked: may this app of its user have cameras? `vouched`: the kernel vouches for the name, \
            else the app claims it. `program` is the path of its executable, or \"\"; `camera` is the camera's name for \
            people; an answer counts for so many `seconds` more. One at a time for each user.
            """),
        Signal(
            "QuestionEnded", carries: "question u, answer s",
            "To the client that is asked: `allow`, `deny`, `late` (nobody answered: no, and nothing is stored) or `gone`."
        ),
        Signal(
            "UseChanged",
            "After `ListUse`: ask it again, and `GetStatus` for a user's own privacy switch. The next comes only after that."
        ),
        Signal(
            "RecordingCut", RecordingCut.arguments,
            """
            To a client that speaks for the app's user: an interruption ended a recording of that app. `by` names the \
            interrupter as far as that user may know, or is \"\"; `why` is the cause.
            """),
        Signal(
            "AnswerChanged", AnswerChange.arguments,
            """
            To each client that speaks for the app's user in any role, but for the one that said it: somebody said of an \
            app `allow`, `deny`, or \"\", which forgets what was said. `by` names the app that did, as far as that user may \
            know; `process` and `program`, the path of its executable, are 0 and \"\" where it is another user's or not known.
            """),
    ]
}
