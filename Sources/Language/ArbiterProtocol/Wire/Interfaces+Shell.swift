extension Interface {
    /// Presence and other facts from peers the policy trusts. A shell is believed for its own user;
    /// root, and the user of a broker that is no service, for everybody. One client speaks in each role.
    package static let shell = Interface(
        name: InterfaceName.shell, summary: "Facts from a shell, a compositor or an agent.",
        methods: [
            Method(
                "Attach", takes: "source s",
                """
                Becomes a presence source: `shell`, or `agent`, which speaks for its own user alone. Ends with the \
                connection. One client for each user; a second one is refused with the name of the first, unless the \
                policy names its unit or it is root's: then the first gets `Displaced`.
                """),
            Method(
                "AttachPlacing", takes: "source s, apps aa{sv}",
                "The same, with all apps placed at once: none counts as in the background until its `PlaceApp` comes."),
            Method(
                "DescribeSource", takes: "words s",
                """
                How a presence source knows the windows, for people: at most 255 bytes, such as `sway 1.7`. Status \
                shows it in `speakers` until the source detaches.
                """), Method("Detach", takes: "source s", "Ends being a presence source."),
            Method(
                "PlaceApp", takes: "app s, presence s, focused b",
                "Places an app: background, fullscreen, split, slide-over or picture-in-picture."),
            Method(
                "TakeMicrophone", takes: "app s",
                "The app has the microphone. For a client that speaks for its user: after `WatchMicrophones` or `Attach`, or as root."
            ), Method("ReleaseMicrophone", takes: "app s", "The app no longer has it."),
            Method(
                "WatchMicrophones", takes: "on b",
                """
                From now on the caller knows which of its user's apps have a microphone, or no longer does. While nobody \
                does, status says so. One client for each user, as with `Attach`.
                """),
            Method(
                "ListClients", gives: "clients aa{sv}",
                """
                The clients of the caller's user that have an app. From then on `ClientsChanged` says when to ask again.
                """),
            Method("SetPrivacy", takes: "camera s, on b", "The privacy switch of a camera, or of all with \"\"."),
            Method(
                "SetPressure", takes: "level s",
                """
                nominal, fair, serious or critical, until it is said anew. The machine's own figures say it too, and the harder \
                word counts.
                """),
            Method(
                "RaiseSensitiveContent", takes: "app s",
                "Interrupts the app's sessions until they continue. For a client that speaks for its user, and for root."
            ),
            Method("SetLoginSession", takes: "session s, active b, locked b", "A login session's state."),
            Method("SetSleep", takes: "asleep b", "The machine is about to sleep, or woke."),
            Method("Override", takes: "app s", "The operator's choice (`operator = \"chosen\"`); \"\" takes it back."),
            Method(
                "SetMode", takes: "mode s",
                """
                Sets the machine's mode, one that the policy declares, until it is taken back: \"\" does that, and the \
                policy's calendar counts again. For those that `set-by` of the mode names; it stays when the caller leaves.
                """),
            Method(
                "SetAttribute", takes: "app s, attribute s, value s",
                """
                Sets an app's value of an attribute that the policy declares. It stays when the caller leaves; \
                \"\" forgets it, and the policy's default counts.
                """),
            Method("Plug", takes: "camera s, present b", "Unplugs or re-plugs a simulated or file camera."),
        ] + shellAnswers,
        signals: [
            Signal("ClientsChanged", "After `ListClients`: a client of its user came, went or has another app."),
            Signal(
                "Displaced", carries: "role s, by s",
                """
                To a client that was `shell`, `agent`, knew the `microphones` or was asked (`ask`): `by` says in words \
                which one is it now, and what this client said ends as when it leaves.
                """),
        ] + shellAnswerSignals)
}
