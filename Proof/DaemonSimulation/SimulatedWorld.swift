import ArbiterProtocol
import Glibc
import PolicyFile
import System

/// What everybody in a simulation has: time, chance, the list of what happened, and the first thing that was wrong.
///
/// The same seed makes the same run: there are no threads (work beside the loop is done at once) and no processes, the
/// machine's pressure is a file of the run's, and Swift has to be told to order dictionaries alike in each process.
final class SimulatedWorld {
    let time: VirtualTime
    let loop: EventLoop
    var random: SeededRandom
    /// Of the whole run, as a number: two runs of a seed have the same.
    private(set) var digest: UInt64 = 0xcbf2_9ce4_8422_2325
    private(set) var lines: [String] = []
    private(set) var violation: String?

    /// Nanoseconds: of a machine that has been up for a while.
    private static let begun: Int64 = 1_000_000_000_000
    /// What led to a violation is among the last lines.
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

    /// The first one counts: what comes after it may be its consequence.
    func violated(_ sentence: String) {
        note("VIOLATION: \(sentence)")
        if violation == nil { violation = sentence }
    }

    /// Does it later, so many nanoseconds from now; of two with one moment the one that was asked for first comes first.
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

    /// Serves everything that is there, while time stands still.
    func settle() throws(SystemFault) {
        for _ in 0..<Self.turnsMax where try loop.turn(timeout: 0) == false { return }
        violated("The loop was never at rest: \(Self.turnsMax) turns at one moment.")
    }

    /// A step causes a few hundred turns at the most.
    private static let turnsMax = 100_000

    /// Lets time pass, and serves what it brings. `look` is called whenever everything rests.
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

    /// Within the longest wait of a simulation, a minute, some hundred fire.
    private static let timersMax = 100_000

    static let millisecond: Int64 = 1_000_000
    static let second: Int64 = 1_000_000_000
}

/// A folder of a run's own, which goes with it.
final class TemporaryFolder {
    let path: String
    /// Below it, in the order in which they were made.
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
        // What is inside was made after what it is in.
        for name in ["socket"] + names.reversed() where unlink(path + "/" + name) != 0 { rmdir(path + "/" + name) }
        rmdir(path)
    }

    func makeFolder(_ name: String) throws(SystemFault) {
        names.append(name)
        if mkdir(path + "/" + name, 0o700) != 0 { throw SystemFault("make \(path)/\(name)", -errno) }
    }

    /// Makes the name stand for another file; what stood there goes.
    func link(_ name: String, to target: String) throws(SystemFault) {
        makeRoom(name)
        guard let whole = realpath(target, nil) else { throw SystemFault("find \(target)", -errno) }
        defer { free(whole) }
        if symlink(whole, path + "/" + name) != 0 { throw SystemFault("link to \(target)", -errno) }
    }

    func write(_ text: String, to name: String) throws(SystemFault) {
        // Not through a link, into the file that it names.
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
