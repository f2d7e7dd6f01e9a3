import ArbiterProtocol
import Bus
import BusTesting
import CLinux
import Camarb
import Glibc
import System
import Testing

/// A camarbd of the test, with its clients, on one loop. All that it started ends with it.
final class BrokerProcess {
    let loop: EventLoop
    private let folder: Scratch
    var directory: String { folder.path }
    var socket: String { directory + "/socket" }
    private(set) var child: ChildProcess?
    private(set) var ending: ChildProcess.Ending?
    /// For every wait: no test comes near it.
    static let patience: Int64 = 60_000_000_000
    static let root: String = {
        let parts = #filePath.split(separator: "/").dropLast(3)
        return "/" + parts.joined(separator: "/")
    }()

    /// - Parameters:
    ///   - policy: its name under `policies/`, or a path.
    ///   - patience: a factor of the deadlines for recorder cores and keepers, on a busy machine.
    ///   - descriptorsMax: the system's limit of open descriptors.
    ///   - given: a loop with other parts of the test.
    init(
        policy: String? = "desktop", cameras: [String] = ["front=simulated"], recorder: String = "tinyrecorder",
        arguments: [String] = [], patience: Int = 20, descriptorsMax: Int? = nil, on given: EventLoop? = nil
    ) throws {
        loop = try given ?? EventLoop()
        folder = try Scratch()
        // No test depends on the machine's user, its answers, its heat or its load.
        let directory = folder.path
        var words = ["--socket", directory + "/socket", "--system-bus", "", "--patience", "\(patience)"]
        if !arguments.contains("--machine") { words += ["--machine", directory] }
        if let policy {
            words += ["--policy", policy.hasPrefix("/") ? policy : Self.root + "/policies/\(policy).toml"]
        }
        for camera in cameras { words += ["--camera", camera] }
        let isPath = recorder.hasPrefix("/") || recorder.hasPrefix("unix:")
        words += ["--recorder", isPath ? recorder : programsFolder + "/" + recorder] + arguments
        // Standard error goes to a file, for the tests that read it.
        let limit = descriptorsMax.map { "ulimit -n \($0); " } ?? ""
        let state = "unset STATE_DIRECTORY; export XDG_STATE_HOME=\(directory); "
        let (ours, theirs) = try UnixPair.make()
        defer { for end in [ours, theirs] { close(end) } }
        child = try ChildProcess(
            path: "/bin/sh",
            arguments: ["-c", "\(limit)\(state)exec 2>\(directory)/log \"$0\" \"$@\"", programsFolder + "/camarbd"]
                + words,
            passing: theirs, on: loop
        ) { [unowned self] in ending = $0 }
        try wait("camarbd to listen") { access(socket, F_OK) == 0 || ending != nil }
        try #require(ending == nil, "camarbd ended at once: \(said)")
    }

    deinit {
        if ending == nil { child?.signal(SIGKILL) }
    }

    var pid: Int32 { child?.pid ?? 0 }
    func signal(_ number: Int32) { child?.signal(number) }
    var said: String { Self.text(directory + "/log") }

    static func text(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    var descriptors: Int {
        guard let folder = opendir("/proc/\(pid)/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return count
    }

    func wait(
        _ what: Comment, at place: SourceLocation = #_sourceLocation, until condition: () throws -> Bool
    ) throws {
        let limit = EventLoop.now + Self.patience
        while try !condition() {
            try #require(EventLoop.now < limit, what, sourceLocation: place)
            // Files and processes have no event here, and are looked at a hundred times a second.
            _ = try loop.turn(timeout: 10_000_000)
        }
    }

    /// A client, which has declared its app where it has a name, and is attached where it has a role.
    func client(_ app: String? = nil, as role: String? = nil) throws -> TestClient {
        let client = try TestClient(self)
        if let app { try client.broker("DeclareClient", .dictionary(["app": .string(app)])) }
        if let role { try client.shell("Attach", .string(role)) }
        return client
    }

    func file(_ name: String, _ flags: Int32 = O_WRONLY) throws -> Int32 {
        let descriptor = open(directory + "/" + name, flags | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        return descriptor
    }
}

final class TestClient: BusConnectionDelegate {
    struct Signal {
        var path: String
        var member: String
        var arguments: [WireValue]
    }

    let process: BrokerProcess
    private(set) var connection: BusConnection?
    private(set) var signals: [Signal] = []
    private(set) var end: BusConnection.End?

    init(_ process: BrokerProcess) throws {
        self.process = process
        let descriptor = camarb_unix_connect(process.socket)
        try #require(descriptor >= 0)
        connection = try BusConnection(adopting: descriptor, as: .client, on: process.loop, delegate: self)
    }

    deinit { connection?.close() }

    func connectionReady(_ connection: BusConnection) {}
    func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) { self.end = end }
    func connection(_ connection: BusConnection, received message: BusMessage) {
        signals.append(
            Signal(path: message.path, member: message.member, arguments: (try? message.arguments()) ?? []))
    }

    func close() {
        connection?.close()
        connection = nil
    }

    func answer(
        _ path: String, _ interface: String, _ member: String, _ arguments: [WireValue],
        at place: SourceLocation = #_sourceLocation
    ) throws -> BusMessage {
        var result: Result<BusMessage, BrokerError>?
        let connection = try #require(connection)
        connection.call(path: path, interface: interface, member: member, arguments) { result = $0 }
        try process.wait("an answer to \(member)", at: place) { result != nil }
        return try #require(result).get()
    }

    @discardableResult
    func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [WireValue] = [],
        at place: SourceLocation = #_sourceLocation
    ) throws -> [WireValue] {
        try answer(path, interface, member, arguments, at: place).arguments()
    }

    @discardableResult
    func broker(_ member: String, _ arguments: WireValue...) throws -> [WireValue] {
        try call(ObjectPath.broker, InterfaceName.broker, member, arguments)
    }

    @discardableResult
    func shell(_ member: String, _ arguments: WireValue...) throws -> [WireValue] {
        try call(ObjectPath.shell, InterfaceName.shell, member, arguments)
    }

    func session(_ camera: String = "front", _ configuration: WireDictionary = [:]) throws -> TestSession {
        let path = try #require(
            try broker("CreateSession", .string(camera), .dictionary(configuration)).first?.string)
        return TestSession(client: self, path: path)
    }

    func property(_ path: String, _ interface: String, _ name: String) throws -> WireValue? {
        let all = try call(path, "org.freedesktop.DBus.Properties", "GetAll", [.string(interface)])
        return all.first?.dictionary?[name]
    }

    func get(_ path: String, _ interface: String, _ name: String) throws -> WireValue {
        try answer(path, "org.freedesktop.DBus.Properties", "Get", [.string(interface), .string(name)])
            .readWireVariant()
    }

    /// All `PropertiesChanged` of an object so far, with the names of those that came without a value.
    func changes(of path: String) -> [WireDictionary] {
        signals.filter { $0.path == path && $0.member == "PropertiesChanged" }.map { signal in
            var told = signal.arguments.dropFirst().first?.dictionary ?? [:]
            if case .array(_, let names)? = signal.arguments.last {
                for case .string(let name) in names { told[name] = .string("named") }
            }
            return told
        }
    }

    func setProperty(_ path: String, _ interface: String, _ name: String, _ value: String) throws {
        var result: Result<BusMessage, BrokerError>?
        try #require(connection).call(
            path: path, interface: "org.freedesktop.DBus.Properties", member: "Set", "ssv",
            { call in
                call.append(interface)
                call.append(name)
                call.append(variant: .string(value))
            }, { result = $0 })
        try process.wait("an answer to Set") { result != nil }
        _ = try #require(result).get()
    }

    func place(_ app: String, _ presence: String, _ focused: Bool) throws {
        try shell("PlaceApp", .string(app), .string(presence), .boolean(focused))
    }

    func status() throws -> BrokerStatus { try BrokerStatus(answer: try broker("GetStatus")) }
}

struct TestSession {
    let client: TestClient
    let path: String

    @discardableResult
    func call(_ member: String, _ arguments: WireValue...) throws -> [WireValue] {
        try client.call(path, InterfaceName.session, member, arguments)
    }

    var events: [SessionSignal] {
        client.signals.filter { $0.path == path }.compactMap { signal in
            try? SessionSignal(
                signal: WireSignal(
                    path: path, interface: InterfaceName.session, member: signal.member, arguments: signal.arguments))
        }
    }

    var names: [String] {
        client.signals.filter { $0.path == path && $0.member != "PropertiesChanged" }.map(\.member)
    }

    /// Waits until the session has had the event `count` times in all.
    func wait(_ member: String, count: Int = 1, at place: SourceLocation = #_sourceLocation) throws {
        try client.process.wait("\(member) (so far \(names))", at: place) {
            names.lazy.filter { $0 == member }.count >= count
        }
    }

    func run() throws {
        try call("StartRunning")
        try wait("DidStartRunning")
    }

    func record() throws {
        let file = try client.process.file("a")
        defer { close(file) }
        try call("StartRecording", .fileDescriptor(file), .dictionary([:]))
    }

    var finished: [RecordingFinished] {
        events.compactMap { signal -> RecordingFinished? in
            if case .recordingFinished(let finished) = signal.event { finished } else { nil }
        }
    }
}

/// The body fails with an error of the kind, whose sentence has the words.
func refused(
    _ kind: BrokerError.Kind, _ words: String..., at place: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
) {
    do {
        try body()
        Issue.record("There was no error, where \(kind) was due.", sourceLocation: place)
    } catch let error as BrokerError {
        #expect(error.kind == kind, "\(error)", sourceLocation: place)
        for word in words where !word.isEmpty {
            #expect(error.message.contains(word), "\(error.message)", sourceLocation: place)
        }
    } catch {
        Issue.record(error, sourceLocation: place)
    }
}
