import Arbiter
import ArbiterProtocol
import EventTable
import JSONText
public import Trace

/// Reads traces line by line, believes no line that its checksum does not speak for, and gives what was decided as rows.
///
/// No core is stepped: what a broker decided is in its effects, and whether a core decides the same is what `Replay` asks.
/// So a scan takes a second where a replay takes minutes, and the memory of one line.
public struct TraceScan {
    /// A file, and whose it is.
    public struct Source: Hashable, Sendable {
        /// `-` is standard input.
        public var path: String
        public var machine: String?

        public init(path: String, machine: String? = nil) {
            self.path = path
            self.machine = machine
        }
    }

    /// What could not be read as it should, and what was done all the same.
    public struct Problem: Sendable {
        public var error: TraceError
        /// `the 812 steps before it count`
        public var done: String
        /// Nothing at all of the file was read.
        public var isWholeFile: Bool

        public var sentence: String { "\(error); \(done)" }
    }

    public private(set) var problems: [Problem] = []
    /// Files of which something was read.
    public private(set) var files = 0
    public private(set) var steps: UInt64 = 0
    public private(set) var decisions: UInt64 = 0
    /// From the first step to the last of each stretch, in nanoseconds.
    public private(set) var covered: Int64 = 0
    /// Steps that are missing where whoever recorded them was too slow.
    public private(set) var lost: UInt64 = 0

    private var ledger = SessionLedger()
    private var sum = Checksum()
    private var row = TraceRow()
    /// Of the stretch that is being read.
    private var stretch: Stretch?
    /// The last decision of the broker whose files are read.
    private var lastDecision: UInt64 = 0
    /// Of the file that is being read.
    private var stepsOfFile: UInt64 = 0

    private struct Stretch {
        var origin: Int64
        var lastStep: UInt64
        var begin: Int64?
        var last: Int64
    }

    public init() {}

    /// Reads a file. Where it goes on behind the one that was read last, so does what is known of its sessions.
    public mutating func read(_ source: Source, each: (TraceRow) -> Void) {
        row = TraceRow()
        (row.machine, row.file) = (source.machine, source.path)
        stepsOfFile = 0
        stretch = nil
        var hasHeader = false
        do throws(TraceError) {
            var lines = try LineStream(source.path)
            while let line = try lines.next() {
                row.line = lines.number
                try read(lines.bytes, line, source.path, hasHeader: &hasHeader, each)
            }
            if lines.isTorn {
                throw TraceError(
                    file: source.path, line: lines.number,
                    message: hasHeader
                        ? "the trace ends in the middle of this line" : "this is no trace: it has no whole line")
            }
            if lines.number == 0 {
                throw TraceError(file: source.path, line: nil, message: "the file is empty; a trace has a header")
            }
        } catch {
            note(error, isWholeFile: !hasHeader)
            // What follows such a place is unknown, and so is since when anybody runs.
            (ledger, sum) = (SessionLedger(), Checksum())
        }
        if hasHeader { files += 1 }
        endStretch()
    }

    private mutating func note(_ error: TraceError, isWholeFile: Bool) {
        let counted = stepsOfFile == 1 ? "the step before it counts" : "the \(stepsOfFile) steps before it count"
        problems.append(
            Problem(
                error: error, done: isWholeFile ? "the file is left out" : "\(counted), and nothing behind",
                isWholeFile: isWholeFile))
    }

    private mutating func endStretch() {
        if let stretch, let begin = stretch.begin { covered += stretch.last - begin }
        stretch = nil
    }

    // MARK: A line

    private mutating func read(
        _ bytes: [UInt8], _ line: Range<Int>, _ path: String, hasHeader: inout Bool, _ each: (TraceRow) -> Void
    ) throws(TraceError) {
        func fault(_ message: String) -> TraceError { TraceError(file: path, line: row.line, message: message) }
        let body = line.lowerBound..<max(line.lowerBound, line.upperBound - Checksum.tailBytes)
        guard let scanned = ScannedLine(bytes, body) else {
            throw fault(row.line == 1 ? "this is no trace: its first line is no header" : "this is no line of a trace")
        }
        if case .header = scanned {
            guard stretch == nil else { throw fault("a header stands in the middle of a trace") }
            try begin(bytes, line, path)
            hasHeader = true
            return
        }
        guard var now = stretch else {
            throw fault(hasHeader ? "a line stands behind the trace's end" : "a trace begins with a header")
        }
        sum.add(bytes, body)
        guard sum.ends(bytes, line) else {
            throw fault("this line is not as it was written, or one before it is missing")
        }
        switch scanned {
        case .header: break
        case .step(let step):
            guard step.number == now.lastStep &+ 1, step.moment >= now.last else {
                throw fault("step \(step.number) does not go on from step \(now.lastStep)")
            }
            if now.begin == nil { now.begin = step.moment }
            (now.lastStep, now.last) = (step.number, step.moment)
            stretch = now
            note(step, from: now.origin, each)
        case .end(let word, let steps, let lost):
            guard steps == now.lastStep else { throw fault("the end counts other steps than there are") }
            endStretch()
            guard word == "lost" else { return }
            self.lost += lost
            problems.append(
                Problem(
                    error: fault("\(lost) steps are missing here: whoever recorded them was too slow"),
                    done: "all others count", isWholeFile: false))
        }
    }

    private mutating func note(_ step: ScannedStep, from origin: Int64, _ each: (TraceRow) -> Void) {
        steps += 1
        stepsOfFile += 1
        if step.decision > lastDecision { decisions += 1 }
        lastDecision = max(lastDecision, step.decision)
        (row.step, row.decision, row.time, row.event) = (step.number, step.decision, step.moment - origin, step.event)
        ledger.note(step, row, each: each)
        if step.event == "policyLoaded", let text = step.policy {
            (row.policy, row.policyHash) = (Self.name(of: text) ?? row.policy, step.policyHash)
        }
    }

    // MARK: A header

    private mutating func begin(_ bytes: [UInt8], _ line: Range<Int>, _ path: String) throws(TraceError) {
        // A header is read as replays read it: with its version, its policy and its snapshot.
        let part: TracePart?
        do throws(TraceError) {
            part = try TraceReader.read(Array(bytes[line]) + [0x0a], file: path).first
        } catch {
            throw TraceError(file: path, line: row.line, message: error.message)
        }
        guard let part else { throw TraceError(file: path, line: row.line, message: "there is no header") }
        let header = part.header
        let goesOn = header.follows != nil && header.follows == sum.text
        if !goesOn {
            do throws(Arbiter.BrokenSnapshot) {
                ledger = try SessionLedger(header)
            } catch {
                throw TraceError(file: path, line: row.line, message: "the snapshot: \(error.message)")
            }
            lastDecision = 0
        }
        sum = part.sum
        row.policy = header.policy.name
        row.policyHash = Self.policyHash(bytes, line)
        let start = header.snapshot?.now.nanoseconds ?? 0
        stretch = Stretch(origin: header.origin.nanoseconds, lastStep: header.steps, begin: nil, last: start)
    }

    /// What the header says of its policy beside the text; older ones say nothing.
    private static func policyHash(_ bytes: [UInt8], _ line: Range<Int>) -> String? {
        var cursor = LineCursor(bytes, line)
        guard cursor.take(UInt8(ascii: "{")) else { return nil }
        repeat {
            guard let key = cursor.key() else { return nil }
            if cursor.isWord(key, "policyHash") { return cursor.string() }
            guard cursor.skip() else { return nil }
        } while cursor.take(UInt8(ascii: ","))
        return nil
    }

    /// Of a policy that came into force in the middle.
    private static func name(of text: String) -> String? {
        var fields = TraceFields("the policy", members: [JSON.Member(key: "policy", value: .string(text))])
        return try? fields.policy("policy").name
    }
}
