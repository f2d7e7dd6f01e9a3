import ArbiterProtocol
import Bus
import Glibc
package import System

/// The windows of a sway session, over its socket, followed by its events.
///
///     opening ──▶ asking ──tree──▶ known ──event──▶ asking again ──lost──▶ closed, opened again later
///
/// sway takes each window's process from the kernel. Of an X11 program's window it has only the window's own claim, so
/// the X server inside sway is asked for those, once there is one. Nothing here waits for sway: its last state stands
/// while it is stopped.
package final class SwaySource: DesktopSource {
    /// From one reading to the next at the earliest: a program that changes something all the time costs twenty trees a
    /// second. The first change after a pause is read at once.
    package static let pace = Duration.milliseconds(50)
    private static let readBytes = 64 * 1024
    /// The shown part of its version: `1.7`, or a branch's name.
    private static let versionBytesMax = 32
    /// Changes of a window that do not move it.
    private static let idleChanges: Set<String> = ["title", "mark", "urgent"]

    private let socket, folder: String?
    private let pace: Duration
    private var descriptor: Int32 = -1
    private var order = ReadingOrder()
    private var messages = SwayMessages()
    private var buffer = [UInt8](repeating: 0, count: SwaySource.readBytes)
    private var isReading = false
    private var readAt: Int64 = 0
    private var tree: Desktop?

    package init(
        on loop: EventLoop, socket: String?, folder: String?,
        pace: Duration = SwaySource.pace, backOff: BackOff = .desktop, onChange: @escaping () -> Void
    ) throws(SystemFault) {
        (self.socket, self.folder, self.pace) = (socket, folder, pace)
        try super.init("sway", on: loop, backOff: backOff, onChange: onChange)
    }

    deinit { close() }

    package override func open() {
        do throws(SystemFault) {
            descriptor = try SwaySocket.connect(socket, in: folder)
            source = try loop.addIO(descriptor, .readable) { [unowned self] _ in turn() }
        } catch { return lost("sway does not answer: \(error.reason)") }
        messages = SwayMessages()
        order = ReadingOrder()
        isReading = false
        guard ask(.version), ask(.subscribe) else { return lost("sway went away") }
        look()
    }

    override func close() {
        super.close()
        if descriptor >= 0 { _ = Glibc.close(descriptor) }
        descriptor = -1
        tree = nil
    }

    /// At most three short requests are under way, for which a socket has always room.
    private func ask(_ request: SwayMessages.Request) -> Bool {
        let bytes = request.bytes
        return send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    override func look() {
        guard descriptor >= 0 else { return }
        order.wasDue(begun: !isReading)
        guard !isReading else { return }
        isReading = true
        readAt = EventLoop.now
        if !ask(.tree) { lost("sway went away") }
    }

    private func turn() {
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return lost("sway went away") }
        messages.take(buffer.prefix(count))
        do throws(SwayMessages.Fault) {
            // A message may close the connection.
            while descriptor >= 0, let message = try messages.next() { hear(message) }
        } catch {
            switch error {
            case .notSway: lost("what listens at sway's socket does not speak as sway does")
            case .tooLong(let bytes):
                lost("sway's list of windows has \(bytes) bytes; \(SwayMessages.bytesMax) are read at most")
            }
        }
    }

    private func hear(_ message: SwayMessages.Message) {
        let json = try? JSONReader.read(message.bytes, depthMax: Desktop.swayDepthMax)
        if message.kind & SwayMessages.eventBit != 0 {
            let isIdle = json?["change"]?.string.map(Self.idleChanges.contains) ?? false
            return due(changed: !isIdle, complete: false)
        }
        switch SwayMessages.Request(rawValue: message.kind) {
        case .version: take(version: json)
        case .tree: take(tree: json)
        case .subscribe where json?["success"]?.bool != true: lost("sway does not tell when its windows change")
        case .subscribe, nil: break
        }
    }

    private func due(changed: Bool, complete: Bool) {
        guard order.isDue(changed: changed, complete: complete) else { return }
        lookSoon(at: max(EventLoop.now, readAt + pace.nanoseconds))
    }

    private func take(version json: JSON?) {
        let words = json?["human_readable"]?.string ?? ""
        let version = String(
            Journal.printable(words, keepLines: false).prefix { $0 != " " }.utf8.prefix(Self.versionBytesMax))
        name = version.map { $0.isEmpty ? "sway" : "sway \($0)" } ?? "sway"
        // i3 has sway's protocol, without windows' processes.
        if json?["variant"] == nil, json?["major"]?.integer ?? 0 >= 4 {
            lost("this is i3, which runs on X11 and names no processes: --windows x11 is for it")
        }
    }

    private func take(tree json: JSON?) {
        isReading = false
        defer { due(changed: false, complete: true) }
        guard let json, let read = Desktop(swayTree: json) else {
            tree = nil
            return know(nil, "sway's list of windows cannot be read")
        }
        backOff.reset()
        tree = read
        tell()
    }

    private func tell() { if let tree { know(own: tree) { [unowned self] in tell() } } }
}

private enum SwaySocket {
    private static let triedMax = 16

    /// The named socket, else one in the user's folder: a restarted sway has another name there.
    static func connect(_ named: String?, in folder: String?) throws(SystemFault) -> Int32 {
        var fault = SystemFault("find sway's socket", ENOENT)
        for path in [named].compactMap(\.self) + others(in: folder).prefix(triedMax) {
            do throws(SystemFault) { return try connectToOwn(path) } catch { fault = error }
        }
        throw fault
    }

    /// The socket of another user would let that user choose the focused app.
    private static func connectToOwn(_ path: String) throws(SystemFault) -> Int32 {
        let descriptor = try SocketAddress.connectNow(toPath: path)
        do throws(SystemFault) {
            guard try PeerCredentials(ofSocket: descriptor).uid == geteuid() else {
                throw SystemFault("connect to \(path), which is another user's", EPERM)
            }
        } catch {
            _ = Glibc.close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func others(in folder: String?) -> [String] {
        guard let folder else { return [] }
        let names = namesInFolder(folder).filter { $0.hasPrefix("sway-ipc.\(geteuid()).") && $0.hasSuffix(".sock") }
        return names.map { "\(folder)/\($0)" }.sorted()
    }
}
