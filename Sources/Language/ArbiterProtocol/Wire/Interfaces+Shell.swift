extension Interface {
    /// Presence and other facts from peers the policy trusts. A shell is believed for its own user;
    /// root, and the user of a broker that is no service, for everybody. One client speaks in each role.
    package static let shell = Interface(
        name: InterfaceName.shell, summary: "Facts from a shell, a compositor or an agent.",
        methods: [
            Method(
                "Attach", [Argument("source", "s")],
                """
                Becomes a presence source: `shell`, or `agent`, which speaks for its own user alone. Ends with the \
                connection. One client for each user; a second one is refused with the name of the first, unless the \
                policy names its unit or it is root's: then the first gets `Displaced`.
                """),
            Method(
                "AttachPlacing", [Argument("source", "s"), Argument("apps", "aa{sv}")],
                """
                The same, with all apps placed at once: none counts as in the background until its `PlaceApp` comes. Each has \
                `app` s, `presence` s and `focused` b.
                """),
            Method(
                "DescribeSource", [Argument("words", "s")],
                """
                How a presence source knows the windows, for people: at most 255 bytes, such as `sway 1.7`. Status \
                shows it in `speakers` until the source detaches.
                """), Method("Detach", [Argument("source", "s")], "Ends being a presence source."),
            Method(
                "PlaceApp", [Argument("app", "s"), Argument("presence", "s"), Argument("focused", "b")],
                "Places an app: background, fullscreen, split, slide-over or picture-in-picture."),
            Method(
                "TakeMicrophone", [Argument("app", "s")],
                "The app has the microphone. For a client that speaks for its user: after `WatchMicrophones` or `Attach`, or as root."
            ), Method("ReleaseMicrophone", [Argument("app", "s")], "The app no longer has it."),
            Method(
                "WatchMicrophones", [Argument("on", "b")],
                """
                From now on the caller knows which of its user's apps have a microphone, or no longer does. While nobody \
                does, status says so. One client for each user, as with `Attach`.
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
                nominal, fair, serious or critical, until it is said anew. The machine's own figures say it too, and the harder \
                word counts.
                """),
            Method(
                "RaiseSensitiveContent", [Argument("app", "s")],
                "Interrupts the app's sessions until they continue. For a client that speaks for its user, and for root."
            ),
            Method(
                "SetLoginSession", [Argument("session", "s"), Argument("active", "b"), Argument("locked", "b")],
                "A login session's state."),
            Method("SetSleep", [Argument("asleep", "b")], "The machine is about to sleep, or woke."),
            Method(
                "Override", [Argument("app", "s")],
                "The operator's choice (`operator = \"chosen\"`); \"\" takes it back."),
            Method(
                "SetMode", [Argument("mode", "s")],
                """
                Sets the machine's mode, one that the policy declares, until it is taken back: \"\" does that, and the \
                policy's calendar counts again. For those that `set-by` of the mode names; it stays when the caller leaves.
                """),
            Method(
                "SetAttribute", [Argument("app", "s"), Argument("attribute", "s"), Argument("value", "s")],
                """
                Sets an app's value of an attribute that the policy declares. It stays when the caller leaves; \
                \"\" forgets it, and the policy's default counts.
                """),
            Method(
                "Plug", [Argument("camera", "s"), Argument("present", "b")],
                "Unplugs or re-plugs a simulated or file camera."),
        ] + shellAnswers,
        signals: [
            Signal("ClientsChanged", [], "After `ListClients`: a client of its user came, went or has another app."),
            Signal(
                "Displaced", [Argument("role", "s"), Argument("by", "s")],
                """
                To a client that was `shell`, `agent`, knew the `microphones` or was asked (`ask`): `by` says in words \
                which one is it now, and what this client said ends as when it leaves.
                """),
        ] + shellAnswerSignals, properties: [])
}
