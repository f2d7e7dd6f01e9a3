import ArgumentParser
import Camarb
import Glibc
import Scenario
import WorkbenchCommands

struct TraceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace", abstract: "Record a broker's decisions, replay them, and make scenarios of them.",
        discussion: """
            A trace has every event that reached the broker's core and its effects, a JSON object a line; its format is \
            in docs/trace.md. camarbd --trace FILE writes one, too. For figures of many machines see docs/fleet.md.
            Examples:
              camclient trace record visit.trace -d 1min
              camclient trace replay visit.trace
              camclient trace replay visit.trace --policy policies/kiosk.toml
              camclient trace convert visit.trace -o visit.scenario
            """, subcommands: [TraceRecord.self, WorkbenchCommand.traceReplay, WorkbenchCommand.traceConvert])
}

struct TraceRecord: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Write every step of a running broker into a file, after a snapshot of its state.",
        usage: "camclient trace record [options] <file>",
        discussion: """
            For root, and the user of a broker that is not a service: a trace shows all users' apps. Ends with Ctrl-C, \
            after --duration, or with the broker. Steps that come faster than they can be written are missing, and the \
            file has their number; the exit status is then 1, and 3 when the connection was lost.
            Examples:
              camclient trace record visit.trace
              camclient trace record visit.trace --duration 1min --overwrite
            """)

    @Argument(help: .value("file", "The file to write.")) var file: String
    @Option(name: .shortAndLong, help: .value("time", "How long, such as 10s or 2min; without it until Ctrl-C."))
    var duration: TimeArgument?
    @Flag(help: "Replace an existing file.") var overwrite = false
    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let interrupts = Interrupts.stream()
        let client = try connection.connect()
        let notices = client.brokerNotices
        let first = try await client.trace()
        var sink = try TraceSink(file, overwriting: overwrite)
        var lost: UInt64 = 0
        try sink.begin(readWhole(first))
        var failure: Failure?
        recording: for await notice in arrivals(notices, until: interrupts, for: duration) {
            switch notice {
            case nil: break recording
            case .traced(let step)?: try sink.write(step)
            case .traceLost?: lost += try sink.resume(behind: readWhole(try await client.trace()))
            case .ended(let error)?:
                failure = Failure(error)
                break recording
            default: continue
            }
        }
        // After a lost connection the trace has no end: its last steps may be missing.
        if failure == nil { try sink.end() }
        Output.notice("\(sink.steps.counted("step")) in \(file)" + (lost > 0 ? ", and \(lost) missing in between" : ""))
        if let failure { throw failure }
        if lost > 0 { throw Failure(.answerIsNo) }
    }

    private func readWhole(_ descriptor: Int32) throws(Failure) -> [UInt8] {
        defer { close(descriptor) }
        lseek(descriptor, 0, SEEK_SET)
        let bytesMax = TraceReader.lineBytesMax
        return try readAll(descriptor, of: "the broker's snapshot", upTo: bytesMax) {
            Failure(.refused, "The broker's snapshot is larger than \(bytesMax) bytes.")
        }
    }
}

private struct TraceSink: ~Copyable {
    private let file: NewFile
    private var writer = TraceWriter()
    private(set) var steps = 0

    init(_ path: String, overwriting: Bool) throws(Failure) {
        file = try NewFile(path, overwriting: overwriting, for: .owner, isRecorders: false)
    }

    mutating func begin(_ header: [UInt8]) throws(Failure) {
        writer = try Self.writer(behind: header)
        // The old content goes only now; a pipe has none.
        guard ftruncate(file.descriptor, 0) == 0 || errno == EINVAL else {
            throw Failure.file(file.path, "cannot be written", errno)
        }
        try put(header)
    }

    mutating func write(_ step: String) throws(Failure) {
        steps += 1
        try put(writer.write(step: TraceWriter.Body(text: step)))
    }

    mutating func resume(behind header: [UInt8]) throws(Failure) -> UInt64 {
        let next = try Self.writer(behind: header)
        let lost = next.steps - min(next.steps, writer.steps)
        try put(writer.end(.lost(lost)))
        writer = next
        try put(header)
        return lost
    }

    mutating func end() throws(Failure) { try put(writer.end(.stopped)) }

    private static func writer(behind header: [UInt8]) throws(Failure) -> TraceWriter {
        do throws(TraceError) {
            return try TraceWriter(goingOnBehind: header, file: "the broker's snapshot")
        } catch { throw Failure(.refused, "\(error)") }
    }

    private func put(_ line: [UInt8]) throws(Failure) {
        if !writeAll(line[...], to: file.descriptor) { throw Failure.file(file.path, "cannot be written", errno) }
    }
}
