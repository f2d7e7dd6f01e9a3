import SystemdBus

/// What camagent was told on its command line.
public struct AgentOptions: Sendable {
    public enum Windows: String, Sendable, CaseIterable {
        /// X11, unless this is a Wayland session or there is no display.
        case automatic = "auto"
        case x11, none
    }

    public enum Microphones: String, Sendable, CaseIterable {
        case automatic = "auto"
        case none
    }

    /// What is printed instead of telling a broker.
    public enum Printing: Sendable {
        /// What is seen now.
        case once
        /// And again at each change.
        case always
    }

    /// Nil: where clients look first.
    public var socket: String?
    /// Nil: `$DISPLAY`.
    public var display: String?
    public var windows = Windows.automatic
    public var microphones = Microphones.automatic
    /// Nil: nothing is printed, and a broker is told.
    public var printing: Printing?
    public var isJSON = false

    public init() {}

    public static let version = "0.1.0"

    public enum Reading: Sendable {
        case run(AgentOptions)
        /// Text for standard output, and nothing else to do.
        case show(String)
        /// What is wrong, for standard error.
        case mistake(String)
    }

    /// Reads the arguments after the program's name.
    public static func read(_ arguments: [String]) -> Reading {
        var options = AgentOptions()
        var flags = Flags(arguments)
        do throws(Flags.Mistake) {
            while let flag = flags.next() {
                switch flag {
                case "--socket", "--address": options.socket = try flags.value("a path")
                case "--display": options.display = try flags.value("a display, such as :0")
                case "--windows": options.windows = try flags.word(Windows.self)
                case "--microphones": options.microphones = try flags.word(Microphones.self)
                case "-h", "--help": if try flags.isThere() { return .show(help) }
                case "--version": if try flags.isThere() { return .show("camagent \(version)\n") }
                case "--print": if try flags.isThere() { options.printing = .always }
                case "--once": if try flags.isThere() { options.printing = .once }
                case "--json": options.isJSON = try flags.isThere()
                default: throw flags.unknown(to: "camagent")
                }
            }
        } catch {
            return .mistake(error.sentence)
        }
        if options.isJSON && options.printing == nil {
            return .mistake("--json goes with --print or --once: a camagent that tells a broker prints nothing.")
        }
        return .run(options)
    }

    static let help = """
        camagent tells camarbd where a user's apps are and which of them have a microphone. Each user runs one.

        usage: camagent [--socket SOCKET] [--display NAME] [--windows HOW] [--microphones HOW]
               camagent --once|--print [--json]

          --socket SOCKET     the broker's socket: a path, or unix:path=…; without it $CAMARB_SOCKET, else
                              $XDG_RUNTIME_DIR/camarb/socket, else /run/camarb/socket
          --display NAME      the X11 display; without it $DISPLAY
          --windows HOW       auto (X11, unless this is a Wayland session), x11, none
          --microphones HOW   auto (PipeWire, where it is), none
          --once              print what there is to see and end; no broker is told
          --print             the same, and again at each change, until Ctrl-C
          --json              with these two: one JSON object a line
          --version, --help

        Windows: the app whose window has the focus is focused, one that fills the screen is fullscreen, one that can
        be seen is in front (split), all others are in the background. Only X11 tells every program about windows; on
        Wayland the compositor itself has to tell the broker (docs/wire.md, Shell1).
        Microphones: an app has one while it records through PipeWire, and no more while its stream is paused.
        What cannot be known is said once, and camclient status shows it; what comes back is found by itself.

        Try it:
          camagent --once                     what it sees
          camagent --socket /tmp/camarb &     tells a broker of your own
          camclient status                    "not known: …" is gone

        It ends with status 0 after SIGTERM, SIGINT or --once, 1 when it cannot start, and 2 when it was called wrongly.

        """
}
