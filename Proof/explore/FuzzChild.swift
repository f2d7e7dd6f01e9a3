import Campaigns
import Glibc
import Workbench

/// Runs cases in a child process, since a mistake of the core may end it. A request is one line, and so is its verdict; the end of the
/// process is a verdict, too, and the next request starts another one.
final class FuzzChild {
    private var process: pid_t?
    private var socket: Int32 = -1
    private var unread: [UInt8] = []
    private let judging: FuzzCommand.Judging

    /// Of the processor: hundreds of times what the longest case takes.
    private static let secondsMax = 2

    static let endless = "the run does not come to an end in \(secondsMax) s of the processor"

    static let command = "fuzz-child"

    init(_ judging: FuzzCommand.Judging) { self.judging = judging }

    deinit { end() }

    func run(_ number: Int, seed: UInt64, shares: Bool) -> FuzzVerdict { ask("run \(seed) \(number) \(shares)") }
    func run(_ text: String) -> FuzzVerdict { ask("text " + FuzzVerdict.escape(text)) }

    private func ask(_ request: String) -> FuzzVerdict {
        if process == nil { start() }
        // The end of the process shows when its answer is read.
        _ = send(request + "\n")
        var said: [String] = []
        while let line = readLine() {
            if let verdict = FuzzVerdict(line: line) { return verdict }
            said.append(line)
        }
        return FuzzVerdict(.broken(.init(reap(said))))
    }

    private func send(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(socket, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private func readLine() -> String? {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread.removeSubrange(...end) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            var chunk = [UInt8](repeating: 0, count: 65536)
            let count = read(socket, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            unread += chunk[..<count]
        }
    }

    private func start() {
        var ends = [Int32](repeating: -1, count: 2)
        var actions = posix_spawn_file_actions_t()
        var child = pid_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { Self.fail("no socket") }
        // Its last words name the class of the mistake.
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_adddup2(&actions, ends[1], descriptor)
        }
        // A case that depends on the order of hashes does so in every run.
        let environment = ["SWIFT_DETERMINISTIC_HASHING=1", "SWIFT_BACKTRACE=\(Self.backtrace)"] + Self.inherited
        let arguments = ["explore", Self.command, judging.rawValue]
        let status = Self.withPointers(arguments) { arguments in
            Self.withPointers(environment) { posix_spawn(&child, "/proc/self/exe", &actions, nil, arguments, $0) }
        }
        close(ends[1])
        guard status == 0 else { Self.fail("no process: \(String(cString: strerror(status)))") }
        (process, socket, unread) = (child, ends[0], [])
    }

    /// Enough to name the function that stopped; shrinking stops many processes.
    private static let backtrace = "enable=yes,color=no,threads=crashed,registers=none,images=none,symbolicate=fast"

    /// For a program that is linked dynamically.
    private static var inherited: [String] {
        ["PATH", "LD_LIBRARY_PATH"].compactMap { (name: String) -> String? in
            getenv(name).map { "\(name)=\(String(cString: $0))" }
        }
    }

    private static func withPointers(_ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Int32)
        -> Int32
    {
        let pointers = texts.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return body(pointers + [nil])
    }

    private static func fail(_ what: String) -> Never {
        print("a run needs a process of its own, and there is \(what)")
        exit(2)
    }

    private func reap(_ said: [String]) -> String {
        let status = end()
        let signal = status & 0x7f
        if signal == SIGPROF { return Self.endless }
        let words = Self.place(said).map { " in \($0)" } ?? ""
        let why =
            said.lazy.compactMap { line in line.firstRange(of: "Fatal error").map { ": " + line[$0.lowerBound...] } }
            .first ?? ""
        if signal == 0 { return "the process ended with status \(status >> 8)" + why }
        return "the process was ended by \(Self.names[signal] ?? "signal \(signal)")" + words + why
    }

    /// The function that stopped, of lines such as `1 [ra] 0x0000563c Arbiter.settle(_:) + 12 in explore at …`.
    private static func place(_ said: [String]) -> String? {
        for line in said where line.contains(" in explore at ") {
            guard let end = line.firstRange(of: " + "), let address = line.firstRange(of: " 0x") else { continue }
            let name = line[address.upperBound..<end.lowerBound].drop { $0 != " " }.dropFirst()
            if !name.isEmpty { return String(name) }
        }
        return nil
    }

    private static let names: [Int32: String] = [
        SIGILL: "SIGILL", SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL",
        SIGBUS: "SIGBUS", SIGSEGV: "SIGSEGV",
    ]

    /// The child ends once its socket is closed.
    @discardableResult private func end() -> Int32 {
        guard let child = process else { return 0 }
        close(socket)
        process = nil
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return status
    }

    static func answer(_ judging: FuzzCommand.Judging) {
        while let request = Swift.readLine() {
            // A busy machine makes no case endless.
            var timer = itimerval()
            timer.it_value.tv_sec = secondsMax
            setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
            let line = verdict(request, judging.judge).line + "\n"
            guard Array(line.utf8).withUnsafeBytes({ write(STDOUT_FILENO, $0.baseAddress, $0.count) }) > 0 else {
                return
            }
        }
    }

    private static func verdict(_ request: String, _ judge: any FuzzJudge) -> FuzzVerdict {
        let words = request.split(separator: " ", maxSplits: 1)
        if words.first == "text", words.count == 2 { return FuzzRun.run(FuzzVerdict.unescape(words[1]), judge: judge) }
        let fields = request.split(separator: " ")
        guard fields.count == 4, let seed = UInt64(fields[1]), let number = Int(fields[2]) else {
            return FuzzVerdict(.unreadable("“\(request)” is no request"))
        }
        return FuzzCampaign.run(number, seed: seed, shares: fields[3] == "true", judge: judge)
    }
}
