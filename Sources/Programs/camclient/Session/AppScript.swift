import ArbiterProtocol
import Camarb
import Synchronization
import Workbench

/// A line of `camclient run`: a command with its words, and what it does on the app's session.
struct AppCommand {
    typealias Action = (_ script: AppScript, _ session: SessionHandle) async throws -> ScriptResult

    let perform: Action

    static let waitUsual = Duration.seconds(60)

    private static let recordingKeys = RecordingOptions.keys
        .map { $0 == "metadata" ? "or \($0).KIND" : "\($0)," }.joined(separator: " ")
        .wrapped(to: 52).joined(separator: "\n" + String(repeating: " ", count: 28))

    static let help = """
        Commands, one an argument or one a line of standard input:
          start, stop               ask to run, take the request back
          record FILE [KEY=VALUE …] an interruption ends it, for good; KEY is
                                    \(recordingKeys)
          microphone SOURCE         the sound of recordings until the camera goes, where
                                    usesAudio is true: tone, pipewire, or a WAV file
          stop-record               finish the file
          pause, resume             the recording, in one file
          append KIND [ITEM …]      the items of a kind of metadata from now on
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
          wait EVENT [TIME]         until the next such event after those waited
                                    for; at most TIME, or 60s
          wait TIME                 let 2s, 500ms or 1min pass
          status                    what is true of the session now
        """

    init?(_ line: String) throws(Failure) {
        guard var words = CommandWords(line) else { throw Failure(.usage, "“\(line)”: a quotation does not end.") }
        guard let command = words.next(), !command.hasPrefix("#") else { return nil }
        if let ofRecording = try Self.ofRecording(command, &words) {
            perform = ofRecording
        } else {
            perform = try Self.ofSession(command, &words)
        }
        try words.end()
    }

    private static func doing(
        _ action: @escaping (AppScript, SessionHandle) async throws -> Void
    ) -> Action {
        {
            try await action($0, $1)
            return ScriptResult()
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
                return ScriptResult(
                    json: JSONObject((now.json.members ?? []).map { ($0.key, $0.value) }), words: now.words)
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
            // Interruptions of a session count from 1; with no warning seen, 0 lets the broker say what is wrong.
            return doing { try await $1.ready(for: number ?? $0.warnings.latest) }
        case "wait": return try wait(&words)
        default: throw CommandList.unknown(command, in: Self.help, "run")
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
                script.microphone.replace(by: opened)
            }
        case "append":
            let (kind, items) = (try words.next("a kind of metadata"), words.takeRest())
            return doing { try await $1.appendMetadata(kind: kind, time: Moment.now.nanoseconds, items: items) }
        case "record":
            let path = try file(&words)
            var options = try RecordingOptions(settings: words.takeRest())
            options.fileType = options.fileType ?? NewFile.fileType(of: path)
            return writing("recording", to: path, NewFile.Format(options.fileType ?? .matroska)) { [options] in
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
                return ScriptResult(json: [what: number], words: "\(what) \(number)")
            } catch {
                file.removeIfEmpty()
                throw error
            }
        }
    }

    private static func wait(_ words: inout CommandWords) throws(Failure) -> Action {
        let word = try words.next("an event or a time")
        if let time = TimeArgument(argument: word) {
            return doing { script, _ in
                // Events stay for the next `wait EVENT`, so that a pause loses none.
                try await script.inbox.pause(until: script.inbox.alarm(in: time.duration))
            }
        }
        let names = Interface.session.signals.map(\.name)
        guard let name = names.first(where: { $0.lowercased() == word.lowercased() }) else {
            throw Failure(
                .usage,
                "“\(words.line)”: “\(word)” is not a time such as 2s, and none of \(names.joined(separator: ", ")).")
        }
        let limit = try words.isEmpty ? waitUsual : words.time("a time")
        return doing { script, _ in
            try await script.inbox.wait(for: name, within: limit) { $0.wireName == name ? () : nil }
        }
    }

    /// Standard output has this command's own lines.
    private static func file(_ words: inout CommandWords) throws(Failure) -> String {
        let path = try words.next("a file")
        guard path != NewFile.standardOutput else {
            throw Failure(
                .usage, "“\(words.line)”: standard output has the events; name a file, or use camclient photo -.")
        }
        return path
    }
}

final class LatestWarning: Sendable {
    private let id = Atomic<InterruptionID>(0)

    func see(_ notice: SessionNotice) {
        guard case .event(let signal) = notice, case .willBeInterrupted(let told) = signal.event else { return }
        id.store(told.id, ordering: .relaxed)
    }

    var latest: InterruptionID { id.load(ordering: .relaxed) }
}

final class ScriptMicrophone: Sendable {
    private let present = Mutex<RecordingMicrophone?>(nil)

    func replace(by microphone: RecordingMicrophone) {
        let before = present.withLock { present in
            defer { present = microphone }
            return present
        }
        before?.end()
    }

    deinit { present.withLock { $0 }?.end() }
}

struct AppScript {
    fileprivate let microphone = ScriptMicrophone()
    let client: CameraClient
    let inbox: Inbox
    let printer: EventPrinter
    let warnings: LatestWarning
    let overwriting: Bool

    func perform(_ line: String, on session: SessionHandle) async throws {
        if let command = try AppCommand(line) { printer.done(line, try await command.perform(self, session)) }
    }
}

extension SessionProperties {
    var words: String {
        let state = isRunning ? "running" : isInterrupted ? "interrupted" : "stopped"
        let causes = causes.ordered.map(\.shortName).joined(separator: ", ")
        return [
            "\(state) on \(camera.name)", causes,
            "may \(access.isEmpty ? "do nothing" : access.names.joined(separator: ", "))", configuration.words,
        ].filter { !$0.isEmpty }.joined(separator: "; ")
    }
}

struct EventPrinter: Sendable {
    let app: String
    let isJSON: Bool
    let begin = Moment.now

    func print(_ notice: SessionNotice) {
        let now = Moment.now
        switch notice {
        case .event(let signal) where isJSON: Output.json(LogEntry.event(now, app: app, signal).json)
        case .event(let signal): line(now, signal.event.line)
        case .ended(let error):
            say(now, ["ended": error.kind.rawValue, "message": error.message], "ended: \(error.message)")
        }
    }

    func fact(_ fact: TimelineFact) {
        let now = Moment.now
        if isJSON { Output.json(LogEntry.fact(now, fact).json) }
    }

    func done(_ command: String, _ result: ScriptResult) {
        say(.now, (["command": command, "ok": true] as JSONObject).adding(result.json), "\(command): \(result.words)")
    }

    func failed(_ command: String, _ failure: Failure) {
        say(
            .now, ["command": command, "ok": false, "error": failure.name, "message": failure.message],
            "\(command): \(failure.message)")
    }

    private func say(_ now: Moment, _ members: JSONObject, _ words: String) {
        guard isJSON else { return line(now, words) }
        Output.json((["moment": now.nanoseconds, "app": app] as JSONObject).adding(members))
    }

    private func line(_ now: Moment, _ text: String) {
        Output.line("\((now - begin).shortText.leftPadded(8))  \(app.printable)  \(text)")
    }
}

struct ScriptResult {
    var json: JSONObject = [:]
    var words = "done"
}
