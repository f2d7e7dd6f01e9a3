import ArbiterProtocol
public import ArgumentParser
import CLinux
import Camarb
import Glibc
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
