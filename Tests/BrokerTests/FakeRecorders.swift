import ArbiterProtocol
import Bus
import BusTesting
import CLinux
import Glibc
import System
import Testing

/// Recorder cores behind a socket that a test scripts. Each names a process as its own that does nothing.
final class FakeRecorders {
    private let folder: Scratch
    private var listener: UnixListener?
    private(set) var all: [FakeRecorder] = []
    /// Called with each call to the next ones; true where it is answered, or never will be.
    var whenCalled: (FakeRecorder, BusMessage) -> Bool = { _, _ in false }

    init() throws { folder = try Scratch() }

    func broker(
        policy: String? = "desktop", cameras: [String] = ["front=simulated"], arguments: [String] = [],
        patience: Int = 20, on given: EventLoop? = nil
    ) throws -> BrokerProcess {
        let path = folder.path + "/socket"
        let process = try BrokerProcess(
            policy: policy, cameras: cameras, recorder: "unix:" + path, arguments: arguments, patience: patience,
            on: given)
        let loop = process.loop
        // Before, the broker finds no listener, and tries again.
        listener = try UnixListener(
            path: path, on: loop, onRefused: { Issue.record("a connection was refused: \($0)") },
            onConnection: { [unowned self] descriptor in
                do { all.append(try FakeRecorder(descriptor, self, on: loop)) } catch { Issue.record(error) }
            })
        return process
    }

    func session(_ process: BrokerProcess, _ app: String = "photos") throws -> TestSession {
        try process.wait("the camera to be described") { all.contains { $0.calls.contains("Describe") } }
        let client = try process.client(app)
        try client.broker("DeclarePresence", .string("fullscreen"), .boolean(true))
        return try client.session()
    }

    /// In place of the usual answer to a method.
    func when(_ member: String, _ act: @escaping (FakeRecorder, BusMessage) -> Void) {
        whenCalled = { recorder, message in
            guard message.member == member else { return false }
            act(recorder, message)
            return true
        }
    }
}

final class FakeRecorder: BusConnectionDelegate {
    private unowned let others: FakeRecorders
    private var child: ChildProcess?
    private(set) var ending: ChildProcess.Ending?
    private(set) var connection: BusConnection?
    private(set) var calls: [String] = []

    init(_ descriptor: Int32, _ others: FakeRecorders, on loop: EventLoop) throws {
        self.others = others
        child = try ChildProcess.idle(on: loop) { [unowned self] in
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

    var isAlive: Bool { child?.handle.isAlive ?? false }

    func hangUp() { connection?.close() }

    func crash() {
        child?.signal(SIGKILL)
        connection?.close()
    }

    func count(_ member: String) -> Int { calls.count { $0 == member } }

    func say(_ member: String) {
        guard let connection else { return }
        connection.signal(path: ObjectPath.recorder, interface: InterfaceName.recorder, member: member)
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
