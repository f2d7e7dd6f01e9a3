import ArbiterProtocol
import Bus
import CLinux
import Glibc
import Loop
import Testing

/// Recorder cores behind a socket that do what a test tells them. Each has a process that it names as its own, and that
/// does nothing.
final class FakeRecorders {
    private let directory: String
    let path: String
    private var listener: UnixListener?
    private(set) var all: [FakeRecorder] = []
    /// What the next ones do when they are called; true: it was answered, or never will be.
    var whenCalled: (FakeRecorder, BusMessage) -> Bool = { _, _ in false }

    init() throws {
        var template = Array("/tmp/camarb-recorders-XXXXXX".utf8CString)
        directory = try #require(
            template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!).map { String(cString: $0) } })
        path = directory + "/socket"
    }

    /// Begins to listen: before, the broker finds nobody, and tries again.
    func listen(on loop: EventLoop) throws {
        listener = try UnixListener(
            path: path, on: loop, onRefused: { Issue.record("a connection was refused: \($0)") },
            onConnection: { [unowned self] descriptor in
                do { all.append(try FakeRecorder(descriptor, self, on: loop)) } catch { Issue.record(error) }
            })
    }

    deinit {
        unlink(path)
        rmdir(directory)
    }
}

/// One of them.
final class FakeRecorder: BusConnectionDelegate {
    private unowned let others: FakeRecorders
    private var child: ChildProcess?
    private(set) var ending: ChildProcess.Ending?
    private(set) var connection: BusConnection?
    private(set) var calls: [String] = []

    init(_ descriptor: Int32, _ others: FakeRecorders, on loop: EventLoop) throws {
        self.others = others
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nothing) }
        child = try ChildProcess(path: "/bin/sleep", arguments: ["600"], passing: nothing, on: loop) {
            [unowned self] in
            ending = $0
            // As a process that ends.
            connection?.close()
        }
        connection = try BusConnection(adopting: descriptor, as: .server, on: loop, delegate: self, anonymous: true)
    }

    deinit {
        connection?.close()
        if ending == nil { child?.signal(SIGKILL) }
    }

    /// Its process runs.
    var isAlive: Bool { child?.handle.isAlive ?? false }

    /// Closes its socket, and lingers.
    func hangUp() { connection?.close() }

    /// As a process that crashes.
    func crash() {
        child?.signal(SIGKILL)
        connection?.close()
    }

    func say(_ member: String, _ words: String...) { say(member, words.map { .string($0) }) }

    func say(_ member: String, _ arguments: [WireValue]) {
        guard let connection else { return }
        let signal = BusMessage.signal(
            on: connection, path: ObjectPath.recorder, interface: InterfaceName.recorder, member: member)
        for argument in arguments { signal?.append(argument) }
        _ = signal?.send()
    }

    static let camera = CameraCapabilities(
        name: "fake", position: .external, sensorWidth: 640, sensorHeight: 480,
        formats: [
            CameraFormat(
                pixelFormat: "420v", width: 640, height: 480, minFrameRate: 1, maxFrameRate: 30,
                videoMaxZoomFactor: 1, videoZoomFactorUpscaleThreshold: 1)
        ])

    func connectionReady(_ connection: BusConnection) {}
    func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) { child?.signal(SIGKILL) }

    func connection(_ connection: BusConnection, received message: BusMessage) {
        guard message.kind == .call else { return }
        calls.append(message.member)
        if others.whenCalled(self, message) { return }
        switch message.member {
        case "Serve":
            guard let process = ProcessHandle(opening: child?.pid ?? 0) else { return }
            message.answer([.fileDescriptor(process.descriptor)])
        case "Describe": message.answer([.dictionary(Self.camera.wire)])
        case "Open": message.answer([.dictionary([:])])
        case "Cut", "PassOn": message.answer([.int64(0)])
        default: message.answer([])
        }
    }
}
