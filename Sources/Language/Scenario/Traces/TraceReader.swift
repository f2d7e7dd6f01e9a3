import Arbiter
import ArbiterProtocol
import Explain
import Glibc
import TomlFile

/// Reads traces whole: every line's checksum, number and moment must go on from the one before.
public struct TraceReader {
    /// A day of a busy broker, and a fair part of a tool's memory.
    public static let fileBytesMax = 256 << 20
    /// A snapshot with every session that a broker's clients may have.
    public static let lineBytesMax = 8 << 20

    private let file: String
    private let bytes: [UInt8]
    private var line = 0
    private var parts: [TracePart] = []
    /// `nil` before a header and behind an end.
    private var part: TracePart?

    /// - Parameter mayBeCut: a last line that is cut short is left out, as a broker that was killed leaves it.
    /// - Throws: the problem, with its line; nothing is returned then.
    public static func read(path: String, mayBeCut: Bool = false) throws(TraceError) -> [TracePart] {
        try read(try load(path), file: path, mayBeCut: mayBeCut)
    }

    public static func read(_ bytes: [UInt8], file: String, mayBeCut: Bool = false) throws(TraceError) -> [TracePart] {
        var reader = TraceReader(file: file, bytes: bytes)
        return try reader.parts(mayBeCut)
    }

    private init(file: String, bytes: [UInt8]) { (self.file, self.bytes) = (file, bytes) }

    package static let tooLong = "this line is longer than \(lineBytesMax) bytes, and no trace has such a line"

    private func error(_ message: String) -> TraceError { TraceError(file: file, line: line, message: message) }

    private mutating func parts(_ mayBeCut: Bool) throws(TraceError) -> [TracePart] {
        var start = 0
        while start < bytes.count {
            line += 1
            let limit = min(bytes.count, start + Self.lineBytesMax + 1)
            guard let end = bytes[start..<limit].firstIndex(of: UInt8(ascii: "\n")) else {
                guard limit == bytes.count else { throw error(Self.tooLong) }
                if mayBeCut, !parts.isEmpty || part != nil { break }
                throw error(
                    line == 1
                        ? "this is not a trace: it has no whole line"
                        : "the trace ends in the middle of this line; --cut leaves it out")
            }
            try read(bytes[start..<end])
            start = end + 1
        }
        if line == 0 { throw TraceError(file: file, line: nil, message: "the file is empty; a trace has a header") }
        if let part { parts.append(part) }
        return parts
    }

    // MARK: A line

    private mutating func read(_ text: ArraySlice<UInt8>) throws(TraceError) {
        guard let string = String(validating: text, as: UTF8.self), string.hasPrefix("{") else {
            throw error(
                line == 1 ? "this is not a trace: its first line is not a header" : "this is not a line of a trace")
        }
        let json: JSON
        do throws(JSONReader.Problem) {
            json = try JSONReader.read(string)
        } catch { throw self.error("column \(error.column): \(error.message)") }
        let body = text.dropLast(Checksum.tailBytes)
        guard var members = json.members, let last = members.popLast(), last.key == "sum", let said = last.value.string,
            text.dropFirst(body.count).elementsEqual(Checksum.key + said.utf8 + Checksum.close.dropLast())
        else { throw error("this line has no checksum at its end") }
        do throws(LineFault) {
            switch members.first?.key {
            case "trace": try readHeader(members, body, said)
            case "step": try readStep(members, body, said)
            case "end": try readEnd(members, body, said)
            default: throw LineFault("this line is neither a header nor a step nor an end")
            }
        } catch { throw self.error(error.message) }
    }

    private func checked(_ body: ArraySlice<UInt8>, _ said: String, after sum: Checksum) throws(LineFault) -> Checksum {
        var sum = sum
        sum.add(body)
        guard sum.text == said else {
            throw LineFault(
                "this line is not as it was written, or one before it is missing: its checksum is \(said), and "
                    + "should be \(sum.text)")
        }
        return sum
    }

    private mutating func readHeader(
        _ members: [JSON.Member], _ body: ArraySlice<UInt8>, _ said: String
    ) throws(LineFault) {
        guard part == nil else { throw LineFault("a header stands in the middle of a trace") }
        var fields = TraceFields("the header", members: members)
        let version: Int64 = try fields.read("trace")
        guard version == TraceWriter.version else { throw Self.fault(ofVersion: version, &fields) }
        let sum = try checked(body, said, after: Checksum())
        var header = TraceHeader(
            line: line, program: try fields.read("program"),
            origin: try fields.read("origin"), steps: try fields.read("steps"),
            policy: .firstCome)
        header.follows = try fields.optionalText("follows")
        header.policy = try fields.policy("policy")
        header.policyHash = try fields.read("policyHash")
        for (id, name) in try fields.named("clients") { header.clients[ClientID(id)] = name }
        for (id, name) in try fields.named("sessions") { header.sessions[SessionID(id)] = name }
        if let json = fields.optional("snapshot") {
            do throws(JSONDecoding.Problem) {
                header.snapshot = try JSONDecoding.value(
                    Arbiter.Snapshot.self, from: json, userInfo: [.policy: header.policy])
            } catch { throw LineFault("the snapshot: \(error.message)") }
            do throws(Arbiter.BrokenSnapshot) {
                _ = try header.arbiter()
            } catch { throw LineFault("the snapshot: \(error.message)") }
        } else if header.steps > 0 {
            throw LineFault("the header has no snapshot, and \(header.steps) steps before it")
        }
        try fields.end()
        if let before = parts.last {
            // Only behind lost lines may there be another header in one file.
            guard case .lost(let count) = before.end, header.steps == (before.lastNumber &+ count) else {
                throw LineFault("a second header stands where no lines were lost, or another number of them")
            }
        }
        part = TracePart(file: file, header: header, steps: [], end: nil, sum: sum, lastLine: line)
    }

    private static func fault(ofVersion version: Int64, _ fields: inout TraceFields) -> LineFault {
        guard version < TraceWriter.version else {
            return LineFault("the trace has format version \(version), and this program reads \(TraceWriter.version)")
        }
        // Anybody may have written the file.
        let program =
            (try? fields.read("program", as: String.self))?.prefix(64).filter { $0.isASCII && !$0.isNewline } ?? ""
        return LineFault(
            "the trace has format version \(version), written by \(program.isEmpty ? "an older program" : program), "
                + "and this program reads \(TraceWriter.version): the core decides otherwise since then, so that it "
                + "would not replay; the program that wrote it can")
    }

    private mutating func readStep(
        _ members: [JSON.Member], _ body: ArraySlice<UInt8>, _ said: String
    ) throws(LineFault) {
        // Only these of the part: a held copy of it would have its steps copied for the next one.
        guard
            let before = part.map({
                (sum: $0.sum, number: $0.lastNumber, moment: $0.steps.last?.moment ?? $0.header.snapshot?.now ?? .zero)
            })
        else {
            throw LineFault(parts.isEmpty ? "a trace begins with a header" : "a step stands behind the trace's end")
        }
        let sum = try checked(body, said, after: before.sum)
        var fields = TraceFields("the step", members: members)
        let number: UInt64 = try fields.read("step")
        guard number == before.number &+ 1 else { throw LineFault("step \(number) follows step \(before.number)") }
        let moment: Moment = try fields.read("at")
        guard moment >= before.moment else {
            throw LineFault("the clock goes back, from \(before.moment.nanoseconds) to \(moment.nanoseconds) ns")
        }
        let event = try Event(&fields)
        let step = TraceStep(
            line: line, number: number, moment: moment, event: event, name: try fields.optionalText("name"),
            decision: try fields.read("decision"), body: body)
        _ = try fields.json("effects")
        try fields.end()
        part?.steps.append(step)
        part?.sum = sum
        part?.lastLine = line
    }

    private mutating func readEnd(
        _ members: [JSON.Member], _ body: ArraySlice<UInt8>, _ said: String
    ) throws(LineFault) {
        guard var ended = part else { throw LineFault("an end stands where no trace is") }
        ended.sum = try checked(body, said, after: ended.sum)
        var fields = TraceFields("the end", members: members)
        let word: String = try fields.read("end")
        guard try fields.read("steps") == ended.lastNumber else {
            throw LineFault("the end counts other steps than there are")
        }
        switch word {
        case "stopped": ended.end = .stopped
        case "rotated": ended.end = .rotated
        case "lost": ended.end = .lost(try fields.read("lost"))
        default: throw LineFault("a trace ends as stopped, rotated or lost, not as “\(word)”")
        }
        try fields.end()
        ended.lastLine = line
        parts.append(ended)
        part = nil
    }
}

extension TracePart {
    /// The number of its last step, or of the one before its first.
    public var lastNumber: UInt64 { steps.last?.number ?? header.steps }

    /// `nil` where this part goes on exactly where another ended; else the gap between them.
    public func gap(after before: TracePart) -> String? {
        if header.follows == before.sum.text, header.steps == before.lastNumber { return nil }
        if header.steps == before.lastNumber { return "it does not follow \(before.file), and is of another broker" }
        return "it begins behind step \(header.steps), and \(before.file) ends with step \(before.lastNumber)"
    }
}

extension TraceFields {
    /// `[[3,"photos"],[4,"notes"]]`
    fileprivate mutating func named(_ key: String) throws(LineFault) -> [(UInt64, String)] {
        var named: [(UInt64, String)] = []
        for pair in optional(key)?.array ?? [] {
            guard let pair = pair.array, pair.count == 2, let id = pair[0].count, let name = pair[1].string else {
                throw LineFault("“\(key)” is not a list of ids and names")
            }
            named.append((id, name))
        }
        return named
    }
}

public struct TraceError: Error, Hashable, Sendable, CustomStringConvertible {
    public var file: String
    /// From 1; `nil` for the file as a whole.
    public var line: Int?
    public var message: String
    /// The file could not be read at all.
    public var isFault = false

    public var description: String { line.map { "\(file):\($0): \(message)" } ?? "\(file): \(message)" }
}

extension TraceReader {
    /// Whether a file begins like a trace: a scenario never begins with a brace. False for a file that cannot be read.
    public static func isTrace(path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var first: UInt8 = 0
        // From a pipe nothing is taken: it has no byte at a place.
        return pread(descriptor, &first, 1, 0) == 1 && first == UInt8(ascii: "{")
    }

    static func load(_ path: String) throws(TraceError) -> [UInt8] {
        var bytes: [UInt8] = []
        var line = (number: 1, begin: 0)
        // A file that is no trace is not read to its end.
        let isRead = RegularFile.readEach(path, chunkBytes: 1 << 20) { chunk in
            for (place, byte) in chunk.enumerated() where byte == UInt8(ascii: "\n") {
                line = (line.number + 1, bytes.count + place + 1)
            }
            bytes += chunk
            return bytes.count - line.begin <= lineBytesMax && bytes.count <= fileBytesMax
        }
        guard isRead else {
            let reason = String(cString: strerror(errno))
            throw TraceError(file: path, line: nil, message: "the file cannot be read: \(reason)", isFault: true)
        }
        guard bytes.count - line.begin <= lineBytesMax else {
            throw TraceError(file: path, line: line.number, message: tooLong)
        }
        guard bytes.count <= fileBytesMax else {
            let message = "the file is larger than \(fileBytesMax) bytes; camarbd makes several files instead"
            throw TraceError(file: path, line: nil, message: message)
        }
        return bytes
    }
}
