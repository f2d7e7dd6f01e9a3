public import ArgumentParser
import Camarb
import Synchronization
import Workbench
import WorkbenchCommands

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
            "id", "The camera's id from `camclient devices`; without it the back camera, else the first by its id."),
        completion: CameraCompletion.kind) var camera = ""

    @Option(name: .long, help: .value("name", "The app's name, as a claim; a name that the broker knows goes first."))
    var app: String?

    @Option(name: .long, help: "The kind of client.") var kind = ClientKind.app

    @Flag(name: .long, help: "Declare that the app can share the screen and keep the camera.") var multitasking = false

    @Flag(name: .long, help: "Declare that the app requires the whole screen.") var requiresFullScreen = false

    @Option(
        name: [.customLong("set"), .customShort("s")], parsing: .singleValue,
        help: .value("key=value", "A setting, such as frameRate=15 or activeFormat=\"420v 1920x1080@30\". Repeatable."),
        completion: .settings) var settings: [String] = []

    func configuration() throws(Failure) -> Configuration { try readSettings(settings) }

    var lane: String { app ?? "camclient" }

    func run<Result>(
        _ connection: ConnectionOptions, reconnects: Bool = false, isolation: isolated (any Actor)? = #isolation,
        configured: @autoclosure () throws -> Configuration? = nil,
        _ body: (CameraClient, SessionHandle) async throws -> Result
    ) async throws -> Result {
        let client = try connection.connect(reconnects: reconnects)
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

struct CaptureOptions: ParsableArguments {
    @OptionGroup var session: SessionOptions
    @Option(help: .value("time", "How long to wait for the camera, and for each answer to it, such as 500ms or 1min."))
    var timeout = TimeArgument(duration: .seconds(10))
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions
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

/// The broker's notices, and nil when Ctrl-C comes or the time is over.
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

/// The completion of `--camera`: the ids of the broker's cameras, where a broker answers at once.
enum CameraCompletion {
    private static let names = Mutex<[String]>([])
    /// Somebody waits between two key presses.
    static let patience = Duration.milliseconds(500)

    /// The completion of bash expands each word, and would run a camera's name: only plain words are offered.
    static let kind = CompletionKind.custom { _, _, _ in names.withLock { $0 }.filter(PlainWord.isOne).map(shellWord) }

    /// For zsh a description follows a colon, and identities of cameras have colons of their own.
    private static func shellWord(_ name: String) -> String {
        CompletionShell.requesting == .zsh ? name.replacing(":", with: "\\:") : name
    }

    static func isRequested(_ arguments: [String]) -> Bool { arguments.first == "---completion" }

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
            try? await Task.sleep(for: patience)
            continuation.yield([])
        }
        for await answer in answers { return names.withLock { $0 = answer } }
    }
}
