import ArbiterProtocol
import Bus
import CLinux
import FrameStream
import Glibc
import System
import Testing

/// A recorder process, and the broker's end of its connection, on a loop of the test's own.
final class RecorderProcess: BusConnectionDelegate {
    let loop: EventLoop
    private(set) var child: ChildProcess?
    private(set) var ending: ChildProcess.Ending?
    private(set) var signals: [(member: String, arguments: [WireValue])] = []
    private(set) var hasEnded = false
    private var connection: BusConnection?

    /// The longest wait for anything: no test comes near it.
    static let patience: Int64 = 60_000_000_000

    /// camrecorder from where this test was built, so patient with brokers, work and files that a busy machine is none that hangs.
    /// - Parameter fileBlocksMax: a limit of the system's on the size of files, in blocks of 512 bytes.
    init(camera: String = "simulated:iphone5-back", fileBlocksMax: Int? = nil) throws {
        loop = try EventLoop()
        var ends: [Int32] = [-1, -1]
        try #require(camarb_unix_pair(&ends) == 0)
        var path = Self.directory + "/camrecorder"
        var words = ["--camera", camera, "--patience", "60"]
        if let fileBlocksMax {
            words = ["-c", "ulimit -f \(fileBlocksMax); exec \"$0\" \"$@\"", path] + words
            path = "/bin/sh"
        }
        child = try ChildProcess(path: path, arguments: words, passing: ends[1], on: loop) { [unowned self] in
            self.ending = $0
        }
        close(ends[1])
        connection = try BusConnection(adopting: ends[0], as: .client, on: loop, delegate: self)
    }

    deinit {
        connection?.close()
        if ending == nil { _ = child?.signal(SIGKILL) }
    }

    private static var directory: String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &path, path.count)
        let whole = String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(whole[..<(whole.lastIndex(of: "/") ?? whole.startIndex)])
    }

    func connectionReady(_ connection: BusConnection) {}
    func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) { hasEnded = true }
    func connection(_ connection: BusConnection, received message: BusMessage) {
        signals.append((message.member, (try? message.arguments()) ?? []))
    }

    func wait(_ what: Comment, until condition: () -> Bool) throws {
        let limit = EventLoop.now + Self.patience
        while !condition() {
            try #require(EventLoop.now < limit, what)
            _ = try loop.turn(timeout: 100_000_000)
        }
    }

    /// Files go in envelopes, as the broker passes them.
    @discardableResult
    func call(_ member: String, _ values: [WireValue] = []) throws -> [WireValue] {
        let arguments = try values.map { value in
            guard case .fileDescriptor(let file) = value else { return value }
            let envelope = camarb_new_envelope(file)
            try #require(envelope >= 0)
            return .fileDescriptor(envelope)
        }
        defer { for case .fileDescriptor(let envelope) in arguments { close(envelope) } }
        return try callWithDescriptors(member, arguments)
    }

    /// The same, with descriptors as they are.
    @discardableResult
    func callWithDescriptors(_ member: String, _ arguments: [WireValue]) throws -> [WireValue] {
        var result: Result<[WireValue], BrokerError>?
        connection?.call(
            path: ObjectPath.recorder, interface: InterfaceName.recorder, member: member, arguments
        ) { answer in
            result = answer.flatMap { message in
                Result { () throws(BrokerError) in try message.arguments() }
            }
        }
        try wait("an answer to \(member)") { result != nil }
        return try #require(result).get()
    }

    /// Waits for a signal, and takes it.
    func signal(_ member: String) throws -> [WireValue] {
        try wait("the signal \(member)") { signals.contains { $0.member == member } }
        let index = try #require(signals.firstIndex { $0.member == member })
        return signals.remove(at: index).arguments
    }

    func stream(_ grant: UInt64, session: UInt64 = 1) throws -> FrameReceiver {
        let values = try call("OpenStream", [.uint64(grant), .uint64(session)])
        return FrameReceiver(adopting: try #require(values.first?.fileDescriptor))
    }

    static let small: WireValue = .dictionary(["activeFormat": .string("420v 640x480")])

    @discardableResult
    func open(_ grant: UInt64, _ configuration: WireValue = small) throws -> WireDictionary? {
        try call("Open", [.uint64(grant), configuration]).first?.dictionary
    }

    func record(
        _ recording: UInt64, into file: TemporaryFile, on grant: UInt64 = 1, _ options: WireDictionary = [:]
    ) throws {
        let descriptor = try file.open()
        defer { close(descriptor) }
        try call(
            "StartRecording", [.uint64(grant), .uint64(recording), .fileDescriptor(descriptor), .dictionary(options)])
    }

    /// - Returns: when the grant's last frame was captured.
    @discardableResult
    func cut(_ grant: UInt64, _ order: String = "Cut") throws -> Int64 {
        let values = try call(order, [.uint64(grant), .string("interrupted"), .dictionary([:])])
        return try #require(values.first?.int64)
    }

    func disconnect() {
        connection?.close()
        connection = nil
    }

    /// Another broker connects, to a socket that the one before left.
    func connect(to path: String) throws {
        connection = try BusConnection(
            adopting: try SocketAddress.connect(toPath: path), as: .client, on: loop, delegate: self)
    }

    func ended() throws -> ChildProcess.Ending {
        try wait("the end of the process") { ending != nil }
        return try #require(ending)
    }
}
