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

    private struct Mistake: Error {
        var sentence: String
    }

    /// Reads the arguments after the program's name.
    public static func read(_ arguments: [String]) -> Reading {
        var options = AgentOptions()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            var flag = argument
            var attached: String?
            if argument.hasPrefix("--"), let equals = argument.firstIndex(of: "=") {
                flag = String(argument[..<equals])
                attached = String(argument[argument.index(after: equals)...])
            }
            func value(_ what: String) throws(Mistake) -> String {
                guard let value = attached ?? rest.popFirst(), !value.isEmpty else {
                    throw Mistake(sentence: "\(flag) takes \(what), and nothing follows it.")
                }
                return value
            }
            func word<Word: RawRepresentable & CaseIterable>(_ type: Word.Type) throws(Mistake) -> Word
            where Word.RawValue == String {
                let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
                let text = try value("one of \(words)")
                guard let word = Word(rawValue: text) else {
                    throw Mistake(sentence: "\(flag) is “\(text)”; it takes \(words).")
                }
                return word
            }
            do throws(Mistake) {
                switch flag {
                case "--socket", "--address": options.socket = try value("a path")
                case "--display": options.display = try value("a display, such as :0")
                case "--windows": options.windows = try word(Windows.self)
                case "--microphones": options.microphones = try word(Microphones.self)
                default:
                    if attached != nil, switches.contains(flag) {
                        throw Mistake(sentence: "\(flag) takes no value.")
                    }
                    switch flag {
                    case "-h", "--help": return .show(help)
                    case "--version": return .show("camagent \(version)\n")
                    case "--print": options.printing = .always
                    case "--once": options.printing = .once
                    case "--json": options.isJSON = true
                    default:
                        throw Mistake(sentence: "There is no “\(argument)”; camagent --help lists what there is.")
                    }
                }
            } catch {
                return .mistake(error.sentence)
            }
        }
        if options.isJSON && options.printing == nil {
            return .mistake("--json goes with --print or --once: a camagent that tells a broker prints nothing.")
        }
        return .run(options)
    }

    private static let switches = ["-h", "--help", "--version", "--print", "--once", "--json"]

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
