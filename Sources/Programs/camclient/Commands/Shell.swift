import ArgumentParser
import Camarb
import System
import Workbench
import WorkbenchCommands

struct Shell: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Act as the shell: place apps, take the microphone, set the privacy switch.",
        usage: "camclient shell [options] [<command> ...]",
        discussion: """
            \(ShellCommand.help)

            Placements and microphones last as long as this command. It ends after its arguments, unless --stay; \
            without arguments it reads commands from standard input until that ends.
            On a terminal Tab completes commands, apps, cameras and modes, the arrows go through the lines of this and \
            earlier times ($XDG_STATE_HOME/camarb/shell-history, else in ~/.local/state), `help` lists the commands, \
            `help COMMAND` explains one, Ctrl-C gives a line up, and `exit` or Ctrl-D ends it.

            Examples:
              camclient shell override photos
              camclient shell --stay "place photos fullscreen focused"
              camclient shell                           and then type the commands
            """)

    @Option(help: "The source to act as.") var source = Source.shell
    @Flag(help: "Stay until standard input ends, or Ctrl-C, so that placements last.") var stay = false
    @Argument(
        help: .value("command", "Commands; without any, those of standard input."),
        completion: .list(ShellCommand.table.names)) var commands: [String] = []
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    enum Source: String, ExpressibleByArgument, CaseIterable { case shell, agent }

    func run() async throws {
        try ScriptLines.check(commands) { line throws(Failure) in _ = try ShellCommand(line) }
        let client = try connection.connect()
        var lines = ScriptLines(commands, ShellCommand.table, of: "shell", staysOpen: stay) { Self.editor(client) }
        if lines.isTyped { Output.notice("camclient: a command a line; help lists them, and Ctrl-D ends it.") }
        var (isAttached, leavesPlacements, first) = (false, false, nil as Failure?)
        while let line = await lines.next(prompt: Self.prompt) {
            var batch = [line]
            do {
                guard let command = try ShellCommand(line) else { continue }
                var performed = [command]
                if let placement = command.placement, !isAttached {
                    performed += Self.placements(after: placement, in: &lines, &batch)
                    // A shell places its first apps as it attaches: else each would be in the background for a moment, and
                    // its recording would be cut.
                    try await client.attach(
                        as: source == .shell ? .shell : .agent, placing: performed.compactMap(\.placement))
                    isAttached = true
                } else {
                    try await command.perform(client)
                }
                leavesPlacements = leavesPlacements || performed.contains(where: \.lastsWithConnection)
                report(batch, performed, lines.isTyped)
            } catch {
                let failure = Failure(error) ?? Failure(.answerIsNo, "\(error)")
                report(failure, of: batch)
                first = first ?? failure
                if failure.status == .unreachable { break }
            }
        }
        if leavesPlacements, !stay, !commands.isEmpty { Output.notice(Self.leavingNotice) }
        if let first, !lines.isTyped { throw Failure(first.status) }
    }

    private static let prompt = "> "

    private static func editor(_ client: CameraClient) -> LineEditor? {
        let (facts, table) = (ShellFacts(client), ShellCommand.table)
        return LineEditor(prompt: prompt, history: StateFolder.ofUser.map { "\($0)/shell-history" }) { before in
            table.completion(of: before, facts.values)
        }
    }

    private static let leavingNotice =
        "camclient: what was placed holds 5 s longer, then its apps are in the background again unless somebody else "
        + "places them; a microphone is free at once. --stay keeps both."

    /// The arguments that follow a placement and place another app each: the broker takes them as one.
    private static func placements(
        after first: AppPlacement, in lines: inout ScriptLines, _ batch: inout [String]
    ) -> [ShellCommand] {
        var (commands, apps) = ([ShellCommand](), Set([first.app]))
        func isOther(_ command: ShellCommand) -> Bool {
            command.placement.map { apps.insert($0.app).inserted } ?? false
        }
        while let next = lines.nextArgument(as: { (try? ShellCommand($0)).flatMap { isOther($0) ? $0 : nil } }) {
            batch.append(next.line)
            commands.append(next.command)
        }
        return commands
    }

    private func report(_ lines: [String], _ commands: [ShellCommand], _ isTyped: Bool) {
        guard output.json else {
            if isTyped { Output.line("done") }
            return
        }
        for (line, command) in zip(lines, commands) where command.isFact {
            Output.json(LogEntry.fact(.now, .note(line)).json)
        }
    }

    private func report(_ error: Failure, of lines: [String]) {
        guard output.json else { return Output.notice("camclient: \(error.text)") }
        for line in lines {
            Output.json(
                [
                    "moment": Moment.now.nanoseconds, "command": line, "ok": false, "error": error.name,
                    "message": error.message,
                ] as JSONObject)
        }
    }
}

struct ShellCommand {
    let perform: (CameraClient) async throws -> Void
    let placement: AppPlacement?
    let lastsWithConnection: Bool
    let isFact: Bool

    static let help = """
        Commands, one an argument or one a line of standard input:
          place APP LAYOUT [focused]   background, fullscreen, split, slide-over,
                                       picture-in-picture
          microphone take|release APP  the app takes or releases the microphone
          privacy on|off [CAMERA]      the privacy switch of a camera, or of the
                                       machine; a camera is free when both are off
          own-privacy on|off           the privacy switch of your own sessions, on
                                       every camera
          stop-app APP                 stop the app's sessions
          pressure LEVEL               nominal, fair, serious, critical
          sensitive APP                interrupt the app until it continues
          sleep, wake                  the machine is about to sleep, or is awake
          login-session NAME STATE     active, inactive, locked
          override APP|none            the operator's choice, which status shows
          attribute APP NAME [VALUE]   the app's value of an attribute of the policy;
                                       without VALUE it is removed
          mode NAME|none               the machine's mode, one of the policy's; none:
                                       the calendar's mode again
          plug CAMERA, unplug CAMERA   plug a simulated or file camera in or out
          wait TIME                    let 2s, 500ms or 1min pass
        """

    static let table = CommandTable(help)
    static let loginStates = ["active", "inactive", "locked"]

    init?(_ line: String) throws(Failure) {
        guard case (let command, var words)? = try CommandWords.command(of: line) else { return nil }
        let ofApp = try Self.ofApp(command, &words)
        self = if let ofApp { ofApp } else { try Self.ofMachine(command, &words) }
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
            let state = try words.next("a state", loginStates) { loginStates.contains($0) ? $0 : nil }
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
        default: throw table.unknown(command, "shell")
        }
    }

    private static func take(_ client: CameraClient, _ app: String) async throws {
        do throws(BrokerError) {
            try await client.takeMicrophone(app: app)
        } catch  where error.kind == .notTrusted {
            // Any user but root has to report first that it sees microphones.
            try await client.reportMicrophones(true)
            try await client.takeMicrophone(app: app)
        }
    }

    private static func override(_ client: CameraClient, _ app: String?) async throws {
        try await client.setOverride(app: app)
        let trouble = app == nil ? "" : try await client.status().overrideTrouble
        if !trouble.isEmpty { Output.notice("camclient: the override is kept, but \(trouble)") }
    }
}
