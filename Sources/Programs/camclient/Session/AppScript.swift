import ArbiterProtocol
import Camarb
import Synchronization
import Workbench

/// A line of `camclient run`.
enum AppCommand {
    case start, stop, begin, commit, stopRecord, pause, resume, `continue`, status
    case microphone(MicrophoneArgument)
    case record(String, RecordingOptions)
    case append(kind: String, items: [String])
    case photo(String)
    case configure(Configuration)
    case presence(Presence, focused: Bool)
    case lower(String)
    case lowerAttribute(String, to: String)
    case ready(InterruptionID?)
    case waitEvent(String, within: Duration)
    case waitTime(Duration)

    /// Nothing a script waits for takes longer, unless it says so.
    static let waitUsual = Duration.seconds(60)

    private static let recordingKeys = RecordingOptions.keys
        .map { $0 == "metadata" ? "or \($0).KIND" : "\($0)," }.joined(separator: " ")
        .wrapped(to: 52).joined(separator: "\n" + String(repeating: " ", count: 28))

    static let help = """
        Commands, one an argument or one a line of standard input:
          start, stop               ask to run, take the request back
          record FILE [KEY=VALUE …] an interruption ends it, for good; KEY is
                                    \(recordingKeys)
          microphone SOURCE         what recordings hear until the camera goes, where
                                    usesAudio is true: tone, pipewire, or a WAV file
          stop-record               finish the file
          pause, resume             the recording, in one file
          append KIND [ITEM …]      what is true of a kind of metadata from now on
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

    /// Nil for an empty line or a comment.
    init?(_ line: String) throws(Failure) {
        guard var words = CommandWords(line) else { throw Failure(.usage, "“\(line)”: a quotation does not end.") }
        guard let command = words.next(), !command.hasPrefix("#") else { return nil }
        switch command {
        case "start": self = .start
        case "stop": self = .stop
        case "begin": self = .begin
        case "commit": self = .commit
        case "stop-record": self = .stopRecord
        case "continue": self = .continue
        case "status": self = .status
        case "pause": self = .pause
        case "resume": self = .resume
        case "record":
            let file = try Self.file(&words)
            self = .record(file, try RecordingOptions(settings: words.rest))
            return
        case "microphone":
            self = .microphone(
                try words.next("a source: tone, pipewire, or a WAV file", ["tone", "pipewire"]) {
                    MicrophoneArgument(argument: $0)
                })
        case "append":
            self = .append(kind: try words.next("a kind of metadata"), items: words.rest)
            return
        case "photo": self = .photo(try Self.file(&words))
        case "configure":
            self = .configure(try readSettings(words.rest))
            return
        case "presence":
            let presence = try words.next("a layout", Presence.wireNames) { Presence(wireName: $0) }
            self = .presence(presence, focused: words.take("focused"))
        case "lower":
            let first = try words.next("a rank, or an attribute and its value")
            self = words.next().map { .lowerAttribute(first, to: $0) } ?? .lower(first)
        case "ready":
            let id = words.next()
            let number = id.flatMap { InterruptionID($0.hasPrefix("#") ? String($0.dropFirst()) : $0) }
            if let id, number == nil { throw Failure(.usage, "“\(line)”: “\(id)” is not an interruption, such as #1.") }
            self = .ready(number)
        case "wait": self = try Self.wait(&words)
        default: throw CommandList.unknown(command, in: Self.help, "run")
        }
        try words.end()
    }

    private static func wait(_ words: inout CommandWords) throws(Failure) -> AppCommand {
        let word = try words.next("an event or a time")
        if let time = TimeArgument(argument: word) { return .waitTime(time.duration) }
        let names = Interface.session.signals.map(\.name)
        guard let name = names.first(where: { $0.lowercased() == word.lowercased() }) else {
            throw Failure(
                .usage,
                "“\(words.line)”: “\(word)” is not a time such as 2s, and none of \(names.joined(separator: ", ")).")
        }
        guard let text = words.next() else { return .waitEvent(name, within: waitUsual) }
        guard let time = TimeArgument(argument: text) else {
            throw Failure(.usage, "“\(words.line)”: “\(text)” is not a time such as 2s or 500ms.")
        }
        return .waitEvent(name, within: time.duration)
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

/// The interruption that was announced last, for `ready` without a number.
final class LatestWarning: Sendable {
    private let id = Atomic<InterruptionID>(0)

    func see(_ notice: SessionNotice) {
        guard case .event(let signal) = notice, case .willBeInterrupted(let told) = signal.event else { return }
        id.store(told.id, ordering: .relaxed)
    }

    /// 0 when there was none.
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

/// Carries an app's commands out on its session.
struct AppScript {
    private let microphone = ScriptMicrophone()
    let client: CameraClient
    let inbox: Inbox
    let printer: EventPrinter
    let warnings: LatestWarning
    let overwriting: Bool

    func perform(_ line: String, on session: borrowing SessionHandle) async throws {
        guard let command = try AppCommand(line) else { return }
        switch command {
        case .start: try await session.startRunning()
        case .stop: try await session.stopRunning()
        case .begin: try await session.beginConfiguration()
        case .commit: try await session.commitConfiguration()
        case .stopRecord: try await session.stopRecording()
        case .pause: try await session.pauseRecording()
        case .resume: try await session.resumeRecording()
        case .append(let kind, let items):
            try await session.appendMetadata(kind: kind, time: Moment.now.nanoseconds, items: items)
        case .continue: try await session.continue()
        case .configure(let batch): try await session.configure(batch)
        case .presence(let presence, let focused): try await client.declarePresence(presence, focused: focused)
        case .lower(let rank): try await client.lowerPriority(to: rank)
        case .lowerAttribute(let name, let value): try await client.lower(name, to: value)
        case .microphone(let source):
            let opened = try source.open()
            try await opened.attach(to: session)
            microphone.replace(by: opened)
        case .record(let path, var options):
            options.fileType = options.fileType ?? NewFile.fileType(of: path)
            NewFile.warn(of: path, NewFile.Format(options.fileType ?? .matroska))
            let file = try NewFile(path, overwriting: overwriting)
            do {
                let recording = try await session.startRecording(to: file.descriptor, options: options)
                return printer.done(line, .object(["recording": .count(recording)]), words: "recording \(recording)")
            } catch {
                file.removeIfEmpty()
                throw error
            }
        case .photo(let path):
            NewFile.warn(of: path, .jpeg)
            let file = try NewFile(path, overwriting: overwriting)
            do {
                let photo = try await session.capturePhoto(to: file.descriptor)
                return printer.done(line, .object(["photo": .count(photo)]), words: "photo \(photo)")
            } catch {
                file.removeIfEmpty()
                throw error
            }
        case .ready(let number):
            // Interruptions of a session count from 1; with no warning seen, 0 lets the broker say what is wrong.
            try await session.ready(for: number ?? warnings.latest)
        case .status:
            let now = try await session.properties()
            return printer.done(line, now.json, words: now.words)
        case .waitTime(let duration):
            let alarm = inbox.alarm(in: duration)
            // Events stay for the next `wait EVENT`, so that a pause loses none.
            try await inbox.pause(until: alarm)
        case .waitEvent(let name, let limit):
            try await inbox.wait(for: name, within: limit) { $0.wireName == name ? () : nil }
        }
        printer.done(line)
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
