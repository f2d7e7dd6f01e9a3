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
        help: .value("socket", "The broker's socket: a path, or a D-Bus address such as unix:path=/run/camarb/socket."))
    var address: String?

    /// - Parameter reconnects: whether the command outlives a restart of the broker, as an app does.
    func connect(reconnects: Bool = false) throws(Failure) -> CameraClient {
        do throws(BrokerError) {
            return try CameraClient.connect(address: address, reconnects: reconnects)
        } catch { throw error.kind == .invalidValue ? Failure(.usage, error.message) : Failure(error) }
    }

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
        help: .value(
            "id", "The camera's id, as `camclient devices` shows it; default: the back one, else the first by its id."),
        completion: CameraCompletion.kind) var camera = ""

    @Option(name: .long, help: .value("name", "The app's name, as a claim; the broker's own knowledge comes first."))
    var app: String?

    @Option(name: .long, help: "What the app is.") var kind = ClientKind.app

    @Flag(name: .long, help: "The app says that it can share the screen and keep the camera.") var multitasking = false

    @Flag(name: .long, help: "The app says that it wants the whole screen.") var requiresFullScreen = false

    @Option(
        name: [.customLong("set"), .customShort("s")], parsing: .singleValue,
        help: .value("key=value", "A setting, such as frameRate=15 or activeFormat=\"420v 1920x1080@30\". Repeatable."),
        completion: .settings) var settings: [String] = []

    func configuration() throws(Failure) -> Configuration { try readSettings(settings) }

    /// What lines call this client.
    var lane: String { app ?? "camclient" }

    func run<Result>(
        _ connection: ConnectionOptions, reconnects: Bool = false, isolation: isolated (any Actor)? = #isolation,
        configured: @autoclosure () throws -> Configuration? = nil,
        _ body: (CameraClient, SessionHandle) async throws -> Result
    ) async throws -> Result {
        let client = try connection.connect(reconnects: reconnects)
        // What the client is, where the command line says anything.
        if app != nil || kind != .app || multitasking || requiresFullScreen {
            try await client.declare(
                ClientDeclaration(
                    app: app, kind: kind, multitasking: multitasking ? true : nil,
                    requiresFullScreen: requiresFullScreen ? true : nil))
        }
        let wanted = try configured() ?? configuration()
        return try await client.withSession(camera: camera, configuration: wanted) { try await body(client, $0) }
    }
}

extension ClientKind: ExpressibleByArgument {}

extension CompletionKind {
    static var settings: CompletionKind {
        .list(ConfigurationKey.allCases.filter { !$0.isReadOnly }.map { "\($0.rawValue)=" })
    }
}

func readSettings(_ settings: [String]) throws(Failure) -> Configuration {
    var configuration = Configuration()
    for setting in settings {
        do throws(BrokerError) { try configuration.set(setting) } catch { throw Failure(.usage, error.message) }
    }
    return configuration
}

/// A time on the command line: `250ms`, `2s`, `1.5s`, `3min`, `1h`; at most a year.
struct TimeArgument: ExpressibleByArgument {
    /// More is a slip of the finger.
    private static let most = Duration.seconds(366 * 86_400)
    static let tenSeconds = TimeArgument(duration: .seconds(10))

    var duration: Duration
    var defaultValueDescription: String { duration.shortText }

    init(duration: Duration) { self.duration = duration }

    init?(argument: String) {
        guard let duration = TimeText.parse(argument), duration <= Self.most else { return nil }
        self.duration = duration
    }
}

extension Moment {
    static var now: Moment { Moment(nanoseconds: camarb_monotonic_ns()) }
}

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
        Output.endProgress()
    }
    return try await body()
}

/// What the broker says until the user ends the command, or its time is over: then nil.
func arrivals(
    _ notices: Notices<BrokerNotice>, until interrupts: AsyncStream<Void>, for time: TimeArgument? = nil
) -> AsyncStream<BrokerNotice?> {
    AsyncStream { continuation in
        Task.detached { for await notice in notices { continuation.yield(notice) } }
        Task.detached { for await _ in interrupts { continuation.yield(nil) } }
        guard let time else { return }
        Task.detached {
            try await Task.sleep(for: time.duration)
            continuation.yield(nil)
        }
    }
}

/// What a shell offers behind `--camera`: the ids of the broker's cameras, where there is a broker that says them at once.
enum CameraCompletion {
    /// Somebody waits for it between two key presses.
    private static let timeMax = Duration.milliseconds(500)
    private static let names = Mutex<[String]>([])

    /// The completion of bash expands each word, and would run what a broker calls a camera: a camera that may be called
    /// otherwise than in plain words is not offered.
    static let kind = CompletionKind.custom { _, _, _ in names.withLock { $0 }.filter(PlainWord.isOne).map(shellWord) }

    /// To zsh a description comes behind a colon, and identities of cameras have colons of their own.
    private static func shellWord(_ name: String) -> String {
        CompletionShell.requesting == .zsh ? name.replacing(":", with: "\\:") : name
    }

    /// A shell asks by this word, and has no ear for what goes wrong.
    static func isAsked(_ arguments: [String]) -> Bool { arguments.first == "---completion" }

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
