import ArbiterProtocol
import Camarb
import Workbench

/// A line of `camclient shell`: a command with its words, and what it does.
struct ShellCommand {
    let perform: (CameraClient) async throws -> Void
    let placement: AppPlacement?
    let lastsWithConnection: Bool
    let isFact: Bool

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

    init?(_ line: String) throws(Failure) {
        guard var words = CommandWords(line) else { throw Failure(.usage, "“\(line)”: a quotation does not end.") }
        guard let command = words.next(), !command.hasPrefix("#") else { return nil }
        if let ofApp = try Self.ofApp(command, &words) {
            self = ofApp
        } else {
            self = try Self.ofMachine(command, &words)
        }
        try words.end()
    }

    private init(
        placing placement: AppPlacement? = nil, lasts: Bool = false, isFact: Bool = true,
        _ perform: @escaping (CameraClient) async throws -> Void
    ) {
        (self.placement, lastsWithConnection, self.isFact, self.perform) = (placement, lasts, isFact, perform)
    }

    private static func ofApp(_ command: String, _ words: inout CommandWords) throws(Failure) -> ShellCommand? {
        switch command {
        case "place":
            let app = try words.next("an app")
            let presence = try words.next("a layout", Presence.wireNames) { Presence(wireName: $0) }
            let placed = AppPlacement(app: app, presence: presence, isFocused: words.take("focused"))
            return ShellCommand(placing: placed, lasts: true) {
                try await $0.place(app: app, presence, focused: placed.isFocused)
            }
        case "microphone":
            let takes = try words.either("what happens to it", "take", or: "release")
            let app = try words.next("an app")
            return ShellCommand(lasts: takes) { client in
                if takes { try await take(client, app) } else { try await client.releaseMicrophone(app: app) }
            }
        case "override":
            let app = try words.nextOrNone("an app")
            return ShellCommand { try await override($0, app) }
        case "attribute":
            let (app, name, value) = (try words.next("an app"), try words.next("an attribute"), words.next())
            return ShellCommand { try await $0.setAttribute(app: app, name, to: value) }
        case "sensitive":
            let app = try words.next("an app")
            return ShellCommand { try await $0.raiseSensitiveContent(app: app) }
        case "stop-app":
            let app = try words.next("an app")
            return ShellCommand { try await $0.stop(app: app) }
        default: return nil
        }
    }

    private static func ofMachine(_ command: String, _ words: inout CommandWords) throws(Failure) -> ShellCommand {
        switch command {
        case "privacy":
            let isOn = try words.either("a state", "on", or: "off")
            let camera = words.next() ?? ""
            return ShellCommand { try await $0.setPrivacy(isOn, camera: camera) }
        case "own-privacy":
            let isOn = try words.either("a state", "on", or: "off")
            return ShellCommand { try await $0.setOwnPrivacy(isOn) }
        case "pressure":
            let levels = SystemPressure.allCases.map(\.wireName)
            let level = try words.next("a level", levels) { SystemPressure(wireName: $0) }
            return ShellCommand { try await $0.setPressure(level) }
        case "sleep", "wake": return ShellCommand { try await $0.setSleep(command == "sleep") }
        case "login-session":
            let name = try words.next("a login session")
            let states = ["active", "inactive", "locked"]
            let state = try words.next("a state", states) { states.contains($0) ? $0 : nil }
            return ShellCommand {
                try await $0.setLoginSession(name, active: state != "inactive", locked: state == "locked")
            }
        case "mode":
            let mode = try words.nextOrNone("a mode")
            return ShellCommand { try await $0.setMode(mode) }
        case "plug", "unplug":
            let camera = try words.next("a camera")
            return ShellCommand { try await $0.plug(camera: camera, present: command == "plug") }
        case "wait":
            let time = try words.time("a time")
            return ShellCommand(isFact: false) { _ in try? await Task.sleep(for: time) }
        default: throw CommandList.unknown(command, in: help, "shell")
        }
    }

    private static func take(_ client: CameraClient, _ app: String) async throws {
        do throws(BrokerError) {
            try await client.takeMicrophone(app: app)
        } catch  where error.kind == .notTrusted {
            // Any user but root says first that it knows.
            try await client.reportMicrophones(true)
            try await client.takeMicrophone(app: app)
        }
    }

    private static func override(_ client: CameraClient, _ app: String?) async throws {
        try await client.setOverride(app: app)
        // Kept all the same: the app may come later.
        let trouble = app == nil ? "" : try await client.status().overrideTrouble
        if !trouble.isEmpty { Output.notice("camclient: the override is kept, but \(trouble)") }
    }
}

/// The commands of a command line, in order: each for itself, except apps that are placed as the shell comes.
struct ShellLines {
    private var rest: ArraySlice<String>

    init(_ commands: [String]) { rest = commands[...] }

    /// The next command, or all placements that follow each other, each of another app: the broker takes them as one.
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
