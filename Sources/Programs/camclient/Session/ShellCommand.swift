import ArbiterProtocol
import Camarb
import Workbench

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
    case mode(String?)
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
          override APP|none            the operator's choice; status shows it
          attribute APP NAME [VALUE]   the app's value of an attribute that the policy
                                       declares; without a value it is forgotten
          mode NAME|none               the machine's mode, one that the policy
                                       declares; none takes it back
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
        case "attribute": self = .attribute(try words.next("an app"), try words.next("an attribute"), words.next())
        case "mode":
            let mode = try words.next("a mode, or none")
            self = .mode(mode == "none" ? nil : mode)
        case "own-privacy": self = .ownPrivacy(try words.next("a state", ["on", "off"]) { Self.flag($0, "on", "off") })
        case "stop-app": self = .stopApp(try words.next("an app"))
        case "plug": self = .plug(try words.next("a camera"), true)
        case "unplug": self = .plug(try words.next("a camera"), false)
        case "wait":
            let text = try words.next("a time")
            guard let time = TimeArgument(argument: text) else {
                throw Failure(.usage, "“\(line)”: “\(text)” is not a time such as 2s or 500ms.")
            }
            self = .wait(time.duration)
        default: throw CommandList.unknown(command, in: Self.help, "shell")
        }
        try words.end()
    }

    private static func flag(_ word: String, _ yes: String, _ no: String) -> Bool? {
        word == yes ? true : word == no ? false : nil
    }

    var placement: AppPlacement? {
        guard case .place(let app, let presence, let focused) = self else { return nil }
        return AppPlacement(app: app, presence: presence, isFocused: focused)
    }
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
                // Any user but root says first that it knows.
                try await client.reportMicrophones(true)
                try await client.takeMicrophone(app: app)
            }
        case .microphone(let app, false): try await client.releaseMicrophone(app: app)
        case .privacy(let on, let camera): try await client.setPrivacy(on, camera: camera)
        case .pressure(let level): try await client.setPressure(level)
        case .sensitive(let app): try await client.raiseSensitiveContent(app: app)
        case .sleep(let asleep): try await client.setSleep(asleep)
        case .loginSession(let name, let active, let locked):
            try await client.setLoginSession(name, active: active, locked: locked)
        case .override(let app):
            try await client.setOverride(app: app)
            // Kept all the same: the app may come later.
            let trouble = app == nil ? "" : try await client.status().overrideTrouble
            if !trouble.isEmpty { Output.notice("camclient: the override is kept, but \(trouble)") }
        case .attribute(let app, let name, let value): try await client.setAttribute(app: app, name, to: value)
        case .mode(let mode): try await client.setMode(mode)
        case .ownPrivacy(let on): try await client.setOwnPrivacy(on)
        case .stopApp(let app): try await client.stop(app: app)
        case .plug(let camera, let present): try await client.plug(camera: camera, present: present)
        case .wait(let duration): try? await Task.sleep(for: duration)
        }
    }
}

/// The commands of a command line, in order: each for itself, except apps that are placed as the shell comes.
struct ShellLines {
    private var rest: ArraySlice<String>

    init(_ commands: [String]) { rest = commands[...] }

    /// The next command, or, of a shell that is not there yet, all the placements that follow each other, each of another
    /// app: the broker takes them as one. Empty: there are no more.
    mutating func next(isAttached: Bool) -> [String] {
        var batch: [String] = []
        var apps: Set<String> = []
        while let line = rest.first {
            // Lines were read before; one that cannot be meant says so where it is carried out.
            let placement = isAttached ? nil : (try? ShellCommand(line))?.placement
            if let placement {
                guard apps.insert(placement.app).inserted else { break }
            } else if !batch.isEmpty {
                break
            }
            batch.append(line)
            rest.removeFirst()
            if placement == nil { break }
        }
        return batch
    }
}
