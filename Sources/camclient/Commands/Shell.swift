import ArbiterProtocol
import ArgumentParser
import Camarb
import JSONText
import Timeline

/// The shell, by script.
struct Shell: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Act as the shell: place apps, take the microphone, throw the privacy switch.",
        usage: "camclient shell [options] [<command> ...]",
        discussion: """
            \(ShellCommand.help)

            Placements and microphones last as long as this command: without arguments it reads commands from \
            standard input and ends with it; with arguments it ends after them, unless --stay.

            Examples:
              camclient shell override photos
              camclient shell --stay "place photos fullscreen focused"
              camclient shell                           and then type the commands
            """)

    @Option(help: "What to act as: shell or agent.")
    var source = Source.shell
    @Flag(help: "Stay until standard input ends, or Ctrl-C: placements last as long.")
    var stay = false
    @Argument(help: ArgumentHelp("Commands; standard input if left out.", valueName: "command"))
    var commands: [String] = []
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    enum Source: String, ExpressibleByArgument, CaseIterable {
        case shell, agent
    }

    func run() async throws {
        for command in commands {
            do throws(Failure) { _ = try ShellCommand(command) } catch { throw error.ofScript(commands) }
        }
        let client = try connection.connect()
        var isAttached = false
        var isLeavingSomething = false
        var first: Failure?
        let isTyped = commands.isEmpty && Output.isInputTerminal
        let lines = commands.isEmpty || stay ? inputLines() : nil
        var given = commands.makeIterator()
        var typed = lines?.makeAsyncIterator()
        while true {
            var line = given.next()
            if line == nil { line = await typed?.next() }
            guard let line else { break }
            do throws(Failure) {
                guard let command = try ShellCommand(line) else { continue }
                do throws(BrokerError) {
                    if command.isPlacement, !isAttached {
                        try await client.attach(as: source == .shell ? .shell : .agent)
                        isAttached = true
                    }
                    try await command.perform(on: client)
                    isLeavingSomething = isLeavingSomething || command.lastsWithConnection
                } catch { throw Failure(error) }
                if output.json {
                    if command.isFact { Output.line(LogEntry.fact(.now, .note(line)).json.text) }
                } else if isTyped {
                    Output.line("done")
                }
            } catch {
                if output.json {
                    Output.line(
                        JSON.object([
                            "moment": .integer(Moment.now.nanoseconds), "command": .string(line), "ok": .bool(false),
                            "error": .optional(error.name), "message": .string(error.message),
                        ]).text)
                } else {
                    Output.notice("camclient: \(error.text)")
                }
                first = first ?? error
                if error.status == .unreachable { break }
            }
        }
        if isLeavingSomething, !stay, !commands.isEmpty {
            Output.notice("camclient: what was placed or taken ends with this command; --stay keeps it.")
        }
        if let first, !isTyped { throw Failure(first.status, "") }
    }
}

/// A line of `camclient shell`.
enum ShellCommand {
    case place(String, Presence, focused: Bool)
    case microphone(String, taken: Bool)
    case privacy(Bool, camera: String)
    case pressure(SystemPressure)
    case sensitive(String)
    case sleep(Bool)
    case loginSession(String, active: Bool, locked: Bool)
    case override(String?)
    case attribute(String, String, String?)
    case plug(String, Bool)
    case stopApp(String)
    case ownPrivacy(Bool)
    case wait(Duration)

    static let help = """
        Commands, one an argument or one a line of standard input:
          place APP LAYOUT [focused]   background, fullscreen, split, slide-over,
                                       picture-in-picture
          microphone take|release APP  the app has the microphone, or no more
          privacy on|off [CAMERA]      the camera's own privacy switch, or the one of
                                       all; a camera is free when both are off
          own-privacy on|off           the switch of this user's own sessions, on
                                       every camera
          stop-app APP                 stop the app's sessions
          pressure LEVEL               nominal, fair, serious, critical
          sensitive APP                interrupt the app until it continues
          sleep, wake                  the machine is about to sleep, or woke
          login-session NAME STATE     active, inactive, locked
          override APP|none            the operator's choice
          attribute APP NAME [VALUE]   the app's value of an attribute that the policy
                                       declares; without a value it is forgotten
          plug CAMERA, unplug CAMERA   a simulated or file camera
          wait TIME                    let 2s, 500ms or 1min pass
        """

    /// Nil for an empty line or a comment.
    init?(_ line: String) throws(Failure) {
        guard var words = CommandWords(line) else { throw Failure(.usage, "“\(line)”: a quotation does not end.") }
        guard let command = words.next(), !command.hasPrefix("#") else { return nil }
        switch command {
        case "place":
            let app = try words.next("an app")
            let presence = try words.next("a layout", Presence.wireNames) { Presence(wireName: $0) }
            self = .place(app, presence, focused: words.take("focused"))
        case "microphone":
            let taken = try words.next("what happens to it", ["take", "release"]) { Self.flag($0, "take", "release") }
            self = .microphone(try words.next("an app"), taken: taken)
        case "privacy":
            let on = try words.next("a state", ["on", "off"]) { Self.flag($0, "on", "off") }
            self = .privacy(on, camera: words.next() ?? "")
        case "pressure":
            let levels = SystemPressure.allCases.map(\.wireName)
            self = .pressure(try words.next("a level", levels) { SystemPressure(wireName: $0) })
        case "sensitive": self = .sensitive(try words.next("an app"))
        case "sleep": self = .sleep(true)
        case "wake": self = .sleep(false)
        case "login-session":
            let name = try words.next("a login session")
            let state = try words.next("a state", ["active", "inactive", "locked"]) {
                ["active", "inactive", "locked"].contains($0) ? $0 : nil
            }
            self = .loginSession(name, active: state != "inactive", locked: state == "locked")
        case "override":
            let app = try words.next("an app, or none")
            self = .override(app == "none" ? nil : app)
        case "attribute":
            self = .attribute(try words.next("an app"), try words.next("an attribute"), words.next())
        case "own-privacy":
            self = .ownPrivacy(try words.next("a state", ["on", "off"]) { Self.flag($0, "on", "off") })
        case "stop-app": self = .stopApp(try words.next("an app"))
        case "plug": self = .plug(try words.next("a camera"), true)
        case "unplug": self = .plug(try words.next("a camera"), false)
        case "wait":
            let text = try words.next("a time")
            guard let time = TimeArgument(argument: text) else {
                throw Failure(.usage, "“\(line)”: “\(text)” is no time such as 2s or 500ms.")
            }
            self = .wait(time.duration)
        default:
            throw Failure(.usage, "“\(command)” is no command; camclient shell --help lists them.")
        }
        try words.end()
    }

    private static func flag(_ word: String, _ yes: String, _ no: String) -> Bool? {
        word == yes ? true : word == no ? false : nil
    }

    var isPlacement: Bool { if case .place = self { true } else { false } }
    var lastsWithConnection: Bool {
        switch self {
        case .place, .microphone(_, taken: true): true
        default: false
        }
    }
    /// Whether something in the world changed, for a timeline.
    var isFact: Bool { if case .wait = self { false } else { true } }

    func perform(on client: CameraClient) async throws(BrokerError) {
        switch self {
        case .place(let app, let presence, let focused): try await client.place(app: app, presence, focused: focused)
        case .microphone(let app, true):
            do throws(BrokerError) {
                try await client.takeMicrophone(app: app)
            } catch  where error.kind == .notTrusted {
                // Who is not root says first that it knows.
                try await client.watchMicrophones(true)
                try await client.takeMicrophone(app: app)
            }
        case .microphone(let app, false): try await client.releaseMicrophone(app: app)
        case .privacy(let on, let camera): try await client.setPrivacy(on, camera: camera)
        case .pressure(let level): try await client.setPressure(level)
        case .sensitive(let app): try await client.raiseSensitiveContent(app: app)
        case .sleep(let asleep): try await client.setSleep(asleep)
        case .loginSession(let name, let active, let locked):
            try await client.setLoginSession(name, active: active, locked: locked)
        case .override(let app): try await client.setOverride(app: app)
        case .attribute(let app, let name, let value):
            try await client.setAttribute(app: app, name, to: value)
        case .ownPrivacy(let on): try await client.setOwnPrivacy(on)
        case .stopApp(let app): try await client.stop(app: app)
        case .plug(let camera, let present): try await client.plug(camera: camera, present: present)
        case .wait(let duration): try? await Task.sleep(for: duration)
        }
    }
}
