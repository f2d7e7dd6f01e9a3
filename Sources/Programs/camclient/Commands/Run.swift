import ArgumentParser
import Camarb
import Synchronization
import Workbench
import WorkbenchCommands

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Act as an app: carry out a script on a session, and print its events.",
        usage: "camclient run [options] [<command> ...]",
        discussion: """
            \(AppCommand.help)

            With --json every line is an object: events as `{"moment":…,"app":…,"event":…}` with the arguments that \
            org.camarb.Session1 gives them, outcomes as `{"moment":…,"app":…,"command":…,"ok":…}`. \
            `camclient timeline --from FILE` draws such a log.

            Examples:
              camclient run --app photos start "wait DidStartRunning" \\
                "record visit.mkv" "wait 5s" stop-record "wait RecordingFinished"
              camclient run --app photos     and then type the commands
            """)

    @OptionGroup var session: SessionOptions
    @Flag(help: "Continue after a command that failed; commands typed on a terminal always do.")
    var keepGoing = false
    @Flag(help: "Replace existing files.") var overwrite = false
    @Argument(
        help: .value("command", "Commands; without any, those of standard input."),
        completion: .list(AppCommand.table.names)) var commands: [String] = []
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try ScriptLines.check(commands) { line throws(Failure) in _ = try AppCommand(line) }
        let printer = EventPrinter(app: session.lane, isJSON: output.json)
        let failure = try await session.run(connection, reconnects: true) { client, handle in
            printer.fact(.appeared(lane: session.lane))
            let script = AppScript(client, handle.notices, printer, overwriting: overwrite)
            return await perform(script, on: handle)
        }
        printer.fact(.left(lane: session.lane))
        if let failure { throw failure }
    }

    private func perform(_ script: AppScript, on session: SessionHandle) async -> Failure? {
        var lines = ScriptLines(commands, AppCommand.table, of: "run")
        var first: Failure?
        while let line = await lines.next() {
            do {
                if let command = try AppCommand(line) {
                    script.printer.done(line, try await command.perform(script, session))
                }
            } catch {
                let failure = Failure(error) ?? Failure(.answerIsNo, "\(error)")
                script.printer.failed(line, failure)
                first = first ?? failure
                if failure.status == .unreachable || !(keepGoing || lines.isTyped) { break }
            }
        }
        return lines.isTyped ? nil : first
    }
}

final class AppScript {
    let client: CameraClient
    let inbox: Inbox
    let printer: EventPrinter
    let overwriting: Bool
    var microphone: RecordingMicrophone? { didSet { oldValue?.end() } }

    init(_ client: CameraClient, _ notices: Notices<SessionNotice>, _ printer: EventPrinter, overwriting: Bool) {
        (self.client, self.printer, self.overwriting) = (client, printer, overwriting)
        inbox = Inbox(notices, onNotice: printer.print)
    }

    deinit { microphone?.end() }
}

final class EventPrinter: Sendable {
    private let app: String
    private let isJSON: Bool
    private let begin = Moment.now
    private let warning = Atomic<InterruptionID>(0)

    init(app: String, isJSON: Bool) { (self.app, self.isJSON) = (app, isJSON) }

    /// 0 before the first warning: interruptions of a session count from 1.
    var latestWarning: InterruptionID { warning.load(ordering: .relaxed) }

    func print(_ notice: SessionNotice) {
        switch notice {
        case .event(let signal):
            if case .willBeInterrupted(let told) = signal.event { warning.store(told.id, ordering: .relaxed) }
            let now = Moment.now
            if isJSON { Output.json(LogEntry.event(now, app: app, signal).json) } else { line(now, signal.event.line) }
        case .ended(let error):
            show(["ended": error.kind.rawValue, "message": error.message], "ended: \(error.message)")
        }
    }

    func fact(_ fact: TimelineFact) { if isJSON { Output.json(LogEntry.fact(.now, fact).json) } }

    func done(_ command: String, _ result: (json: JSONObject, words: String)) {
        show((["command": command, "ok": true] as JSONObject).adding(result.json), "\(command): \(result.words)")
    }

    func failed(_ command: String, _ failure: Failure) {
        show(
            ["command": command, "ok": false, "error": failure.name, "message": failure.message],
            "\(command): \(failure.message)")
    }

    private func show(_ members: JSONObject, _ words: String) {
        let now = Moment.now
        guard isJSON else { return line(now, words) }
        Output.json((["moment": now.nanoseconds, "app": app] as JSONObject).adding(members))
    }

    private func line(_ now: Moment, _ text: String) {
        Output.line("\((now - begin).shortText.leftPadded(8))  \(app.printable)  \(text)")
    }
}

struct AppCommand {
    typealias Action = (_ script: AppScript, _ session: SessionHandle) async throws -> (json: JSONObject, words: String)

    let perform: Action

    static let help = """
        Commands, one an argument or one a line of standard input:
          start, stop               start the session, stop it
          record FILE [KEY=VALUE …] record; an interruption ends the recording
          microphone SOURCE         the sound of recordings until the camera changes
                                    hands, where usesAudio is true: tone, pipewire,
                                    or a WAV file
          stop-record               finish the file
          pause, resume             the recording, in one file
          append KIND [ITEM …]      metadata of a kind, valid from now on
          photo FILE                take a JPEG
          configure KEY=VALUE …     one batch, as a whole or not at all
          begin, commit             a batch of several configure commands
          presence LAYOUT [focused] background, fullscreen, split, slide-over,
                                    picture-in-picture
          lower RANK                take a weaker rank of the policy
          lower ATTRIBUTE VALUE     take a weaker value of an attribute, for the
                                    whole app
          ready [#N]                answer WillBeInterrupted: the latest, or N
          continue                  clear sensitive-content-mitigation-activated
          wait EVENT [TIME]         until the next such event after those already
                                    waited for; at most TIME, or 60s
          wait TIME                 let 2s, 500ms or 1min pass
          status                    print the session's properties

        Keys of record: \(RecordingOptions.keys.map { $0 == "metadata" ? "\($0).KIND" : $0 }.joined(separator: ", ")).
        """

    static let table = CommandTable(help)

    init?(_ line: String) throws(Failure) {
        guard case (let command, var words)? = try CommandWords.command(of: line) else { return nil }
        let ofRecording = try Self.ofRecording(command, &words)
        perform = if let ofRecording { ofRecording } else { try Self.ofSession(command, &words) }
        try words.end()
    }

    private static func doing(
        _ action: @escaping (AppScript, SessionHandle) async throws -> Void
    ) -> Action {
        {
            try await action($0, $1)
            return ([:], "done")
        }
    }

    private static func ofSession(_ command: String, _ words: inout CommandWords) throws(Failure) -> Action {
        switch command {
        case "start": return doing { try await $1.startRunning() }
        case "stop": return doing { try await $1.stopRunning() }
        case "begin": return doing { try await $1.beginConfiguration() }
        case "commit": return doing { try await $1.commitConfiguration() }
        case "continue": return doing { try await $1.continue() }
        case "status":
            return {
                let now = try await $1.properties()
                return (JSONObject((now.json.members ?? []).map { ($0.key, $0.value) }), now.words)
            }
        case "configure":
            let batch = try readSettings(words.takeRest())
            return doing { try await $1.configure(batch) }
        case "presence":
            let presence = try words.next("a layout", Presence.wireNames) { Presence(wireName: $0) }
            let isFocused = words.take("focused")
            return doing { script, _ in try await script.client.declarePresence(presence, focused: isFocused) }
        case "lower":
            let name = try words.next("a rank, or an attribute and its value")
            guard let value = words.next() else {
                return doing { script, _ in try await script.client.lowerPriority(to: name) }
            }
            return doing { script, _ in try await script.client.lower(name, to: value) }
        case "ready":
            let id = words.next()
            let number = id.flatMap { InterruptionID($0.hasPrefix("#") ? String($0.dropFirst()) : $0) }
            if let id, number == nil {
                throw Failure(.usage, "“\(words.line)”: “\(id)” is not an interruption, such as #1.")
            }
            return doing { try await $1.ready(for: number ?? $0.printer.latestWarning) }
        case "wait": return try wait(&words)
        default: throw table.unknown(command, "run")
        }
    }

    private static func ofRecording(_ command: String, _ words: inout CommandWords) throws(Failure) -> Action? {
        switch command {
        case "stop-record": return doing { try await $1.stopRecording() }
        case "pause": return doing { try await $1.pauseRecording() }
        case "resume": return doing { try await $1.resumeRecording() }
        case "microphone":
            let source = try words.next("a source: tone, pipewire, or a WAV file", ["tone", "pipewire"]) {
                MicrophoneArgument(argument: $0)
            }
            return doing { script, session in
                let opened = try source.open()
                try await opened.attach(to: session)
                script.microphone = opened
            }
        case "append":
            let (kind, items) = (try words.next("a kind of metadata"), words.takeRest())
            return doing { try await $1.appendMetadata(kind: kind, time: Moment.now.nanoseconds, items: items) }
        case "record":
            let path = try file(&words)
            var options = try RecordingOptions(settings: words.takeRest())
            options.fileType = options.fileType ?? NewFile.fileType(of: path)
            return writing("recording", to: path, .of(options.fileType ?? .matroska)) { [options] in
                try await $0.startRecording(to: $1, options: options)
            }
        case "photo":
            return writing("photo", to: try file(&words), .jpeg) { try await $0.capturePhoto(to: $1) }
        default: return nil
        }
    }

    private static func writing(
        _ what: String, to path: String, _ format: NewFile.Format,
        _ begin: @escaping (SessionHandle, Int32) async throws -> UInt64
    ) -> Action {
        { script, session in
            NewFile.warn(of: path, format)
            let file = try NewFile(path, overwriting: script.overwriting)
            do {
                let number = try await begin(session, file.descriptor)
                return ([what: number], "\(what) \(number)")
            } catch {
                file.removeIfEmpty()
                throw error
            }
        }
    }

    private static func wait(_ words: inout CommandWords) throws(Failure) -> Action {
        let word = try words.next("an event or a time")
        if let time = TimeArgument(argument: word) {
            return doing { script, _ in try await script.inbox.pause(for: time.duration) }
        }
        let names = Interface.session.signals.map(\.name)
        guard let name = names.first(where: { $0.lowercased() == word.lowercased() }) else {
            throw Failure(
                .usage,
                "“\(words.line)”: “\(word)” is not a time such as 2s, and none of \(names.joined(separator: ", ")).")
        }
        let limit = try words.isEmpty ? .seconds(60) : words.time("a time")
        return doing { script, _ in
            try await script.inbox.wait(for: name, within: limit) { $0.wireName == name ? () : nil }
        }
    }

    private static func file(_ words: inout CommandWords) throws(Failure) -> String {
        let path = try words.next("a file")
        guard path != NewFile.standardOutput else {
            throw Failure(
                .usage, "“\(words.line)”: standard output has the events; name a file, or use camclient photo -.")
        }
        return path
    }
}

extension SessionProperties {
    fileprivate var words: String {
        [
            "\(isRunning ? "running" : isInterrupted ? "interrupted" : "stopped") on \(camera.name)",
            causes.ordered.shortNames, "may \(access.isEmpty ? "do nothing" : access.names.joined(separator: ", "))",
            configuration.words,
        ].filter { !$0.isEmpty }.joined(separator: "; ")
    }
}
