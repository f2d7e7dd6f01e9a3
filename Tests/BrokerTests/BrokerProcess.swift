import ArbiterProtocol
import Bus
import CLinux
import Camarb
import Glibc
import Loop
import Testing

/// A camarbd of the test's own, with its clients, on one loop. Everything it started ends with it.
final class BrokerProcess {
    let loop: EventLoop
    let directory: String
    let socket: String
    private(set) var child: ChildProcess?
    private(set) var ending: ChildProcess.Ending?

    /// The longest wait for anything: no test comes near it.
    static let patience: Int64 = 60_000_000_000
    static let root: String = {
        let parts = #filePath.split(separator: "/").dropLast(3)
        return "/" + parts.joined(separator: "/")
    }()

    /// - Parameters:
    ///   - policy: its name under `policies/`, or a path; nil: none.
    ///   - patience: how many times as long as usual recorder cores and keepers are waited for: a busy machine's are none that
    ///     hang.
    ///   - descriptorsMax: a limit of the system's on open descriptors.
    ///   - given: where others of the test's are served, too.
    init(
        policy: String? = "desktop", cameras: [String] = ["front=simulated"], recorder: String = "tinyrecorder",
        arguments: [String] = [], patience: Int = 20, descriptorsMax: Int? = nil, on given: EventLoop? = nil
    ) throws {
        loop = try given ?? EventLoop()
        var template = Array("/tmp/camarb-test-XXXXXX".utf8CString)
        directory = try #require(
            template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!).map { String(cString: $0) } })
        socket = directory + "/socket"
        // Nobody's login session is asked for, so that no test depends on the machine's present user.
        // Nor on how hot or busy the machine is.
        var words = ["--socket", socket, "--system-bus", "", "--patience", "\(patience)"]
        if !arguments.contains("--machine") { words += ["--machine", directory] }
        if let policy {
            words += ["--policy", policy.hasPrefix("/") ? policy : Self.root + "/policies/\(policy).toml"]
        }
        for camera in cameras { words += ["--camera", camera] }
        let isPath = recorder.hasPrefix("/") || recorder.hasPrefix("unix:")
        words += ["--recorder", isPath ? recorder : Self.programs + "/" + recorder] + arguments
        // Standard error goes to a file, for the tests that read what it says.
        let limit = descriptorsMax.map { "ulimit -n \($0); " } ?? ""
        let (ours, theirs) = try UnixPair.make()
        defer {
            close(ours)
            close(theirs)
        }
        child = try ChildProcess(
            path: "/bin/sh",
            arguments: ["-c", "\(limit)exec 2>\(directory)/log \"$0\" \"$@\"", Self.programs + "/camarbd"]
                + words,
            passing: theirs, on: loop
        ) { [unowned self] in ending = $0 }
        try wait("camarbd to listen") { access(socket, F_OK) == 0 || ending != nil }
        try #require(ending == nil, "camarbd ended at once: \(said)")
    }

    deinit {
        if ending == nil { child?.signal(SIGKILL) }
        for name in ["socket", "log", "p.toml", "a", "b"] { unlink(directory + "/" + name) }
        rmdir(directory)
    }

    static var programs: String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &path, path.count)
        let whole = String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(whole[..<(whole.lastIndex(of: "/") ?? whole.startIndex)])
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

    func write(_ text: String, to name: String) throws -> String {
        let path = directory + "/" + name
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        var text = text
        let count = text.withUTF8 { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        #expect(count == text.utf8.count)
        close(descriptor)
        return path
    }

    /// How many descriptors camarbd has open.
    var descriptors: Int {
        guard let folder = opendir("/proc/\(pid)/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return count
    }

    /// The processes that camarbd has started and that have not been reaped.
    var recorders: [Int32] {
        Self.text("/proc/\(pid)/task/\(pid)/children").split(separator: " ").compactMap { Int32($0) }
    }

    func wait(
        _ what: Comment, at place: SourceLocation = #_sourceLocation, until condition: () throws -> Bool
    ) throws {
        let limit = EventLoop.now + Self.patience
        while try !condition() {
            try #require(EventLoop.now < limit, what, sourceLocation: place)
            // Files and processes have no event to wait for here: looked at a hundred times a second.
            _ = try loop.turn(timeout: 10_000_000)
        }
    }

    /// A client, which has said what it is when it has a name.
    func client(_ app: String? = nil, _ attributes: WireDictionary = [:]) throws -> TestClient {
        let client = try TestClient(self)
        if let app {
            var said = attributes
            said["app"] = .string(app)
            try client.broker("DeclareClient", .dictionary(said))
        }
        return client
    }

    /// A descriptor of a new file, which the caller closes.
    func file(_ name: String, _ flags: Int32 = O_WRONLY) throws -> Int32 {
        let descriptor = open(directory + "/" + name, flags | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        return descriptor
    }
}

/// A file with a text, gone with the test.
final class TextFile {
    let path: String

    init(_ text: String) throws {
        var template = Array("/tmp/camarb-text-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var text = text
        let count = text.withUTF8 { write(descriptor, $0.baseAddress, $0.count) }
        try #require(count == text.utf8.count)
    }

    deinit { unlink(path) }
}

/// One connection to a `BrokerProcess`.
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

    @discardableResult
    func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [WireValue] = [],
        at place: SourceLocation = #_sourceLocation
    ) throws -> [WireValue] {
        var result: Result<[WireValue], BrokerError>?
        let connection = try #require(connection)
        connection.call(path: path, interface: interface, member: member, arguments) { answer in
            result = answer.flatMap { message in Result { () throws(BrokerError) in try message.arguments() } }
        }
        try process.wait("an answer to \(member)", at: place) { result != nil }
        return try #require(result).get()
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

    /// The answer of `Properties.Get`, a variant.
    func get(_ path: String, _ interface: String, _ name: String) throws -> BusMessage {
        var result: Result<BusMessage, BrokerError>?
        try #require(connection).call(
            path: path, interface: "org.freedesktop.DBus.Properties", member: "Get",
            [.string(interface), .string(name)]
        ) { result = $0 }
        try process.wait("the answer") { result != nil }
        return try #require(result).get()
    }

    /// What `PropertiesChanged` told of an object so far, the names of what it told without a value among it.
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
        let connection = try #require(connection)
        connection.call(
            path: path, interface: "org.freedesktop.DBus.Properties", member: "Set",
            filling: { call in
                call.append(interface)
                call.append(name)
                call.container("v", "s") { call.append(value) }
            }, { result = $0 })
        try process.wait("an answer to Set") { result != nil }
        _ = try #require(result).get()
    }

    func status() throws -> BrokerStatus { try BrokerStatus(wireArguments: try broker("GetStatus")) }
}

struct TestSession {
    let client: TestClient
    let path: String

    @discardableResult
    func call(_ member: String, _ arguments: WireValue...) throws -> [WireValue] {
        try client.call(path, InterfaceName.session, member, arguments)
    }

    /// The session's events so far, as typed events.
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

    /// Waits until the session has had this event `count` times in all.
    func wait(_ member: String, count: Int = 1, at place: SourceLocation = #_sourceLocation) throws {
        try client.process.wait("\(member) (so far \(names))", at: place) {
            names.lazy.filter { $0 == member }.count >= count
        }
    }

    func run() throws {
        try call("StartRunning")
        try wait("DidStartRunning")
    }
}

/// The body fails with an error of this kind, whose sentence has these words.
func refused(
    _ kind: BrokerError.Kind, _ words: String..., at place: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
) {
    do {
        try body()
        Issue.record("There was no error, where \(kind) was due.", sourceLocation: place)
    } catch let error as BrokerError {
        #expect(error.kind == kind, "\(error)", sourceLocation: place)
        for word in words {
            #expect(error.message.contains(word), "\(error.message)", sourceLocation: place)
        }
    } catch {
        Issue.record(error, sourceLocation: place)
    }
}
