import ArbiterProtocol
import Glibc
import PolicyFile
import System

/// The time, random numbers, log and first violation of a simulation.
///
/// The same seed makes the same run: there are no threads (side work is done at once) and no processes, the machine's pressure is a
/// file of the run, and `SWIFT_DETERMINISTIC_HASHING` orders dictionaries.
final class SimulatedWorld {
    let time: VirtualTime
    let loop: EventLoop
    var random: SeededRandom
    /// Of the whole run.
    private(set) var digest: UInt64 = 0xcbf2_9ce4_8422_2325
    private(set) var lines: [String] = []
    private(set) var violation: String?

    /// Nanoseconds.
    private static let begun: Int64 = 1_000_000_000_000
    static let linesMax = 400

    private struct Work {
        var due: Int64
        var order: UInt64
        var run: () -> Void
    }
    private var works: [Work] = []
    private var worksAdded: UInt64 = 0
    private var timer: Timer?

    init(seed: UInt64) throws(SystemFault) {
        time = VirtualTime(beginningAt: Self.begun)
        loop = try EventLoop(in: time)
        random = SeededRandom(seed: seed)
        timer = try loop.addTimer { [unowned self] in work() }
    }

    /// Nanoseconds since the beginning.
    var elapsed: Int64 { EventLoop.now - Self.begun }

    func note(_ line: String) {
        let whole = "\(elapsed / 1000) µs  \(line)"
        for byte in whole.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
        lines.append(whole)
        if lines.count > Self.linesMax { lines.removeFirst(Self.linesMax / 4) }
    }

    /// The first counts: later ones may be its consequences.
    func violated(_ sentence: String) {
        note("VIOLATION: \(sentence)")
        if violation == nil { violation = sentence }
    }

    /// - Parameter delay: in nanoseconds. Of one moment, the first added runs first.
    func after(_ delay: Int64, _ run: @escaping () -> Void) {
        worksAdded += 1
        works.append(Work(due: EventLoop.now + max(0, delay), order: worksAdded, run: run))
        arm()
    }

    private func arm() { timer?.arm(at: works.map(\.due).min()) }

    private func work() {
        let due = works.filter { $0.due <= EventLoop.now }.sorted { ($0.due, $0.order) < ($1.due, $1.order) }
        works.removeAll { $0.due <= EventLoop.now }
        for item in due { item.run() }
        arm()
    }

    /// Serves everything that is ready, while time stands still.
    func settle() throws(SystemFault) {
        for _ in 0..<Self.turnsMax where try loop.turn(timeout: 0) == false { return }
        violated("The loop was never at rest: \(Self.turnsMax) turns at one moment.")
    }

    /// A step causes a few hundred turns.
    private static let turnsMax = 100_000

    /// - Parameter look: called whenever everything is at rest.
    func pass(_ nanoseconds: Int64, _ look: () -> Void) throws(SystemFault) {
        let end = EventLoop.now + nanoseconds
        for _ in 0..<Self.timersMax {
            let fired = time.pass(atMostTo: end)
            try settle()
            look()
            if !fired { return }
        }
        violated("Time does not pass: \(Self.timersMax) timers fired within \(nanoseconds / 1_000_000) ms.")
    }

    /// Some hundred fire within a minute.
    private static let timersMax = 100_000

    static let millisecond: Int64 = 1_000_000
    static let second: Int64 = 1_000_000_000
}

/// Removed with the run.
final class TemporaryFolder {
    let path: String
    /// In the order of their creation.
    private var names: [String] = []

    init() throws(SystemFault) {
        var template = Array("/tmp/camarb-simulation-XXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
        }
        guard let made else { throw SystemFault("make a folder in /tmp", -errno) }
        path = made
    }

    deinit {
        // Contents were made after their folders.
        for name in ["socket"] + names.reversed() where unlink(path + "/" + name) != 0 { rmdir(path + "/" + name) }
        rmdir(path)
    }

    func makeFolder(_ name: String) throws(SystemFault) {
        names.append(name)
        if mkdir(path + "/" + name, 0o700) != 0 { throw SystemFault("make \(path)/\(name)", -errno) }
    }

    /// Makes the name a link to another file, in place of what was there.
    func link(_ name: String, to target: String) throws(SystemFault) {
        makeRoom(name)
        guard let whole = realpath(target, nil) else { throw SystemFault("find \(target)", -errno) }
        defer { free(whole) }
        if symlink(whole, path + "/" + name) != 0 { throw SystemFault("link to \(target)", -errno) }
    }

    func write(_ text: String, to name: String) throws(SystemFault) {
        // A link would be followed.
        makeRoom(name)
        let descriptor = open(path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemFault("write \(path)/\(name)", -errno) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw SystemFault("write \(path)/\(name)", -errno)
        }
    }

    private func makeRoom(_ name: String) {
        if !names.contains(name) { names.append(name) }
        unlink(path + "/" + name)
    }
}
