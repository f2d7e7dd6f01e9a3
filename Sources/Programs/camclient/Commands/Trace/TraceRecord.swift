import ArbiterProtocol
import ArgumentParser
import Camarb
import Glibc
import Scenario
import Workbench

struct TraceRecord: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Write down every step of a running broker, beginning with a snapshot of its state.",
        usage: "camclient trace record [options] <file>",
        discussion: """
            For root, and the user of a broker that is not a service: a trace shows all users' apps. Ends with Ctrl-C, after --duration, or \
            with the broker. What could not be written as fast as the broker went on is missing, and the file says so; \
            the exit status is then 1, and 3 when the connection was lost.
            Examples:
              camclient trace record visit.trace
              camclient trace record visit.trace --duration 1min --overwrite
            """)

    @Argument(help: .value("file", "The file to write.")) var file: String
    @Option(name: .shortAndLong, help: .value("time", "How long, such as 10s or 2min; until Ctrl-C if left out."))
    var duration: TimeArgument?
    @Flag(help: "Replace a file that is there.") var overwrite = false
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
            case .decided?, .holderChanged?, .camerasChanged?, .prioritiesChanged?, .question?, .questionEnded?,
                .useChanged?, .recordingCut?, .answerChanged?, .clientsChanged?, .displaced?:
                continue
            }
        }
        // A client that was disconnected does not know what it missed: a trace without an end says just that.
        if failure == nil { try sink.end() }
        Output.notice("\(sink.steps) steps in \(file)" + (lost > 0 ? ", and \(lost) missing in between" : ""))
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

/// The file of a recording: whole lines, and an end that says whether all is there.
private struct TraceSink: ~Copyable {
    private let file: NewFile
    private var writer = TraceWriter()
    private(set) var steps = 0

    init(_ path: String, overwriting: Bool) throws(Failure) {
        file = try NewFile(path, overwriting: overwriting, for: .owner, isRecorders: false)
    }

    mutating func begin(_ header: [UInt8]) throws(Failure) {
        writer = try Self.writer(behind: header)
        // What was there goes only now; a pipe has nothing to lose.
        guard ftruncate(file.descriptor, 0) == 0 || errno == EINVAL else {
            throw Failure.file(file.path, "cannot be written", errno)
        }
        try put(header)
    }

    mutating func write(_ step: String) throws(Failure) {
        steps += 1
        try put(writer.write(step: TraceWriter.Body(text: step)))
    }

    /// After a loss: the file says how much is missing, and goes on with another snapshot.
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
