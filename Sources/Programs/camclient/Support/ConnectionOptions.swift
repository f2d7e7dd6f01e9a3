import ArbiterProtocol
public import ArgumentParser
import CLinux
import Camarb
import Glibc
import Synchronization
import Workbench

struct ConnectionOptions: ParsableArguments {
    @Option(
        name: [.long, .customLong("socket")],
        help: ArgumentHelp(
            "The broker's socket: a path, or a D-Bus address such as unix:path=/run/camarb/socket.", valueName: "socket"
        )) var address: String?

    /// - Parameter reconnects: whether the command outlives a restart of the broker, as an app does.
    func connect(reconnects: Bool = false) throws(Failure) -> CameraClient {
        do throws(BrokerError) {
            return try CameraClient.connect(address: address, reconnects: reconnects)
        } catch { throw error.kind == .invalidValue ? Failure(.usage, error.message) : Failure(error) }
    }
}

extension ConnectionOptions {
    /// Asks the broker one thing, and says so when the answer takes long.
    func ask<Answer>(
        isolation: isolated (any Actor)? = #isolation, _ question: (CameraClient) async throws -> Answer
    ) async throws -> Answer {
        let client = try connect()
        return try await sayingWhat("waiting for the broker") { try await question(client) }
    }
}

struct SessionOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The camera's id, as `camclient devices` shows it; default: the back one, else the first by its id.",
            valueName: "id"), completion: CameraCompletion.kind) var camera = ""

    @Option(
        name: .long,
        help: ArgumentHelp("The app's name, as a claim; the broker's own knowledge comes first.", valueName: "name"))
    var app: String?

    @Option(name: .long, help: "What the app is.") var kind = ClientKind.app

    @Flag(name: .long, help: "The app says that it can share the screen and keep the camera.") var multitasking = false

    @Flag(name: .long, help: "The app says that it wants the whole screen.") var requiresFullScreen = false

    @Option(
        name: [.customLong("set"), .customShort("s")], parsing: .singleValue,
        help: ArgumentHelp(
            "A setting, such as frameRate=15 or activeFormat=\"420v 1920x1080@30\". Repeatable.", valueName: "key=value"
        ), completion: .settings) var settings: [String] = []

    func configuration() throws(Failure) -> Configuration { try readSettings(settings) }

    /// Says what the client is, where the command line says anything.
    func declare(_ client: CameraClient) async throws(BrokerError) {
        guard app != nil || kind != .app || multitasking || requiresFullScreen else { return }
        try await client.declare(
            ClientDeclaration(
                app: app, kind: kind, multitasking: multitasking ? true : nil,
                requiresFullScreen: requiresFullScreen ? true : nil))
    }

    /// What lines call this client.
    var lane: String { app ?? "camclient" }
}

extension ClientKind: ExpressibleByArgument {}

extension CompletionKind {
    /// The keys that can be set, for a value to be typed behind each.
    static var settings: CompletionKind {
        .list(ConfigurationKey.allCases.filter { !$0.isReadOnly }.map { "\($0.rawValue)=" })
    }
}

/// Reads `key=value` settings as one batch.
func readSettings(_ settings: [String]) throws(Failure) -> Configuration {
    var configuration = Configuration()
    for setting in settings {
        do throws(BrokerError) { try configuration.set(setting) } catch { throw Failure(.usage, error.message) }
    }
    return configuration
}

extension Failure {
    /// What is wrong with one of several commands, for a user that may have left out the quotation marks.
    func ofScript(_ commands: [String]) -> Failure {
        guard commands.count > 1, message.contains("missing") else { return self }
        return Failure(status, message + " Each argument is a whole command, in quotation marks if it has spaces.")
    }
}

/// A time on the command line: `250ms`, `2s`, `1.5s`, `3min`, `1h`; at most a year.
struct TimeArgument: ExpressibleByArgument {
    /// More is a slip of the finger.
    private static let most = Duration.seconds(366 * 86_400)

    var duration: Duration

    init?(argument: String) {
        guard let duration = TimeText.parse(argument), duration <= Self.most else { return nil }
        self.duration = duration
    }
}

extension Moment {
    /// The broker's clock, as this process sees it.
    static var now: Moment { Moment(nanoseconds: camarb_monotonic_ns()) }
}

extension TimeArgument {
    static let tenSeconds = TimeArgument(duration: .seconds(10))

    init(duration: Duration) { self.duration = duration }

    var defaultValueDescription: String { duration.shortText }
}

/// Runs `body`, and says on standard error what is waited for when that takes more than two seconds.
func sayingWhat<Result>(
    _ what: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
) async rethrows -> Result {
    let begin = Moment.now
    let speaker = Task.detached {
        try await Task.sleep(for: .seconds(2))
        if !Output.isErrorTerminal { Output.notice("\(what) …") }
        while Output.isErrorTerminal {
            Output.progress("\(what) … \((Moment.now - begin).shortText)")
            try await Task.sleep(for: .seconds(1))
        }
    }
    defer {
        speaker.cancel()
        if Output.isErrorTerminal, Moment.now - begin > .seconds(2) { Output.progress("") }
    }
    return try await body()
}

/// What a shell offers behind `--camera`: the ids of the broker's cameras, where there is a broker that says them at once.
enum CameraCompletion {
    /// Somebody waits for it between two key presses.
    private static let timeMax = Duration.milliseconds(500)
    private static let names = Mutex<[String]>([])

    static let kind = CompletionKind.saidByOthers { names.withLock { $0 } }

    /// A shell asks by this word, and has no ear for what goes wrong.
    static func isAsked(_ arguments: [String]) -> Bool { arguments.first == "---completion" }

    /// Asks the broker that the command line names; nothing where none answers in time.
    static func prepare(_ arguments: [String]) async {
        var address: String?
        for (index, word) in arguments.enumerated() {
            for flag in ["--socket", "--address"] {
                if word == flag, index + 1 < arguments.count { address = arguments[index + 1] }
                if word.hasPrefix("\(flag)=") { address = String(word.dropFirst(flag.count + 1)) }
            }
        }
        let (answers, continuation) = AsyncStream.makeStream(of: [String].self)
        Task.detached { [address] in
            let status = try? await CameraClient.connect(address: address, reconnects: false).status()
            continuation.yield(status?.cameras.map(\.camera.name) ?? [])
        }
        Task.detached {
            try? await Task.sleep(for: timeMax)
            continuation.yield([])
        }
        for await answer in answers {
            names.withLock { $0 = answer }
            return
        }
    }
}

extension CompletionKind {
    /// The one way in which words come to a shell that somebody else says: the completion of bash expands each of them, and
    /// would run what a broker calls a camera. Whoever may be called otherwise is not offered.
    static func saidByOthers(_ words: @escaping @Sendable () -> [String]) -> CompletionKind {
        .custom { _, _, _ in words().filter(PlainWord.isOne).map(\.described) }
    }
}

extension String {
    /// For zsh, to which words come with a description behind a colon: identities of cameras have colons of their own.
    fileprivate var described: String {
        guard CompletionShell.requesting == .zsh else { return self }
        return split(separator: ":", omittingEmptySubsequences: false).joined(separator: "\\:")
    }
}
