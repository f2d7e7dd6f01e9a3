import ArbiterProtocol
public import System

public struct AgentOptions: Sendable {
    /// Whether something is shown to the user, or a microphone observed.
    public enum Shown: String, Sendable, CaseIterable {
        case automatic = "auto"
        case none
    }

    /// Output instead of a broker.
    public enum Printing: Sendable {
        case once
        case always
    }

    /// `nil`: the usual search of clients.
    public var socket: String?
    /// `nil`: `$DISPLAY`.
    public var display: String?
    public var windows = ChosenSource.Asked.automatic
    public var microphones = Shown.automatic
    /// The item in the panel.
    public var indicator = Shown.automatic
    /// Notifications about events of apps, questions excepted.
    public var notifications = Shown.automatic
    public var questions = Shown.automatic
    public var permissionStore = Shown.automatic
    public var pipeWireDoor = Shown.automatic
    /// `nil`: nothing is printed, and the facts go to a broker.
    public var printing: Printing?
    public var isJSON = false
    /// A keeper started it, and receives a byte at descriptor 3 when the doorways are there.
    public var isKept = false

    /// Whether doorways are to stay in PipeWire after a crash.
    public var wantsKeeper: Bool { !isKept && printing == nil && pipeWireDoor == .automatic }
    var hasFace: Bool { [indicator, notifications, questions, permissionStore].contains(.automatic) }

    /// Reads the arguments after the program's name.
    public static func read(_ arguments: [String]) -> Asked<AgentOptions> {
        var options = AgentOptions()
        var flags = Flags(arguments)
        do throws(Flags.Mistake) {
            while let flag = flags.next() {
                switch flag {
                case "--socket", "--address": options.socket = try flags.value("a path")
                case "--display": options.display = try flags.value("a display, such as :0")
                case "--windows": options.windows = try flags.word(ChosenSource.Asked.self)
                case "--microphones": options.microphones = try flags.word(Shown.self)
                case "--indicator": options.indicator = try flags.word(Shown.self)
                case "--notifications": options.notifications = try flags.word(Shown.self)
                case "--questions": options.questions = try flags.word(Shown.self)
                case "--permission-store": options.permissionStore = try flags.word(Shown.self)
                case "--pipewire-door": options.pipeWireDoor = try flags.word(Shown.self)
                case "-h", "--help": if try flags.isThere() { return .show(help) }
                case "--version": if try flags.isThere() { return .show("camagent \(Release.version)\n") }
                case "--print": if try flags.isThere() { options.printing = .always }
                case "--once": if try flags.isThere() { options.printing = .once }
                case "--kept": options.isKept = try flags.isThere()
                case "--json": options.isJSON = try flags.isThere()
                default: throw flags.unknown(to: "camagent")
                }
            }
        } catch { return .mistake(error.sentence) }
        if options.isJSON && options.printing == nil {
            return .mistake("--json goes with --print or --once: a camagent that tells a broker prints nothing.")
        }
        return .run(options)
    }

    static let help = """
        camagent reports to camarbd where a user's apps are and which of them have a microphone, and shows its user which
        of them have a camera. Each user runs one.

        usage: camagent [--socket SOCKET] [--display NAME] [--windows HOW] [--microphones HOW]
                        [--indicator HOW] [--notifications HOW] [--questions HOW] [--permission-store HOW]
                        [--pipewire-door HOW]
               camagent --once|--print [--json]

          --socket SOCKET     the broker's socket: a path, or unix:path=…; without it $CAMARB_SOCKET, else
                              $XDG_RUNTIME_DIR/camarb/socket, else /run/camarb/socket (--address is the same)
          --display NAME      the X11 display; without it $DISPLAY
          --windows HOW       auto (sway and KWin in their Wayland sessions, nothing in others, else X11),
                              x11, sway, kwin, none
          --microphones HOW   auto (PipeWire, where it is), none
          --indicator HOW     auto (an icon in the panel while a camera is in use, where panels show icons), none
          --notifications HOW auto (an app lost a recording, or waits long for a camera), none
          --questions HOW     auto (asks by a notification with buttons, where the policy has apps = "ask"), none
          --permission-store HOW
                              auto (the broker is told which apps the desktop's portals deny the camera), none
          --pipewire-door HOW auto (the broker's cameras in PipeWire, where it is), none
          --once              print what there is to see and end; no broker gets it
          --print             the same, and again at each change, until Ctrl-C
          --json              with these two: one JSON object a line
          --version, --help

        Windows: the app whose window has the focus is focused, one that fills the screen is fullscreen, one that can
        be seen is in front (split), all others are in the background. X11, sway ($SWAYSOCK) and KWin show
        programs their windows and processes. Other Wayland compositors have to report to the broker themselves
        (docs/wire.md, Shell1), as GNOME Shell does with the extension camarb@camarb.org.
        Microphones: an app has one while it records through PipeWire, and no more while its stream is paused.
        Facts that no source reports are named once, and in camclient status; a source that comes back is found by itself.

        Try it:
          camagent --once                                   what it sees
          camagent --socket $XDG_RUNTIME_DIR/my-camarb &    tells a broker of your own
          camclient status                                  "not known: …" is gone

        It ends with status 0 after SIGTERM, SIGINT or --once, 1 when it cannot start, and 2 when it was called wrongly.

        """
}
