import JSONText
import Timeline

/// What one step of a broker decided about one session; or about none, where it told nobody anything.
public struct TraceRow: Sendable {
    /// Whose trace it is; nil where nobody said.
    public var machine: String?
    public var file = ""
    public var line = 0
    public var policy = ""
    /// What tells policies of one name apart; nil where the trace does not have it.
    public var policyHash: String?
    public var step: UInt64 = 0
    public var decision: UInt64 = 0
    /// Nanoseconds from the trace's origin.
    public var time: Int64 = 0
    public var event = ""
    public var session: String?
    public var app: String?
    public var user: UInt64?
    public var camera: String?
    /// As scenarios call it: `wasInterrupted`; `refused`; `closed`; nil where nobody was told anything.
    public var outcome: String?
    /// Of several the one that was told as the reason.
    public var cause: String?
    public var causes: [String] = []
    public var rule: String?
    public var interrupter: String?
    /// The kind of a refusal.
    public var error: String?
    /// Nanoseconds each. From the request to start to the first frame.
    public var waited: Int64?
    /// From the first frame until it stopped running.
    public var held: Int64?
    /// Of an interruption, from its beginning to its end.
    public var interrupted: Int64?
    /// From the order to cut the camera's last holder to this first frame.
    public var handover: Int64?
}

/// Rows as text: CSV as RFC 4180 has it, and JSON. Names are those that apps gave themselves: in either form a terminal has
/// nothing to obey in them (`printable`).
public enum TraceTable {
    /// In the order of a row's fields. What `docs/trace.md` lists; a test holds both together.
    public static let columns = [
        "machine", "file", "line", "policy", "policy_hash", "step", "decision", "time", "event", "session", "app",
        "user",
        "camera", "outcome", "cause", "causes", "rule", "interrupter", "error", "waited_ms", "held_ms",
        "interrupted_ms",
        "handover_ms",
    ]

    public static var csvHeader: [UInt8] { Array(columns.joined(separator: ",").utf8) + lineEnd }

    /// As the RFC has it.
    static let lineEnd: [UInt8] = [0x0d, 0x0a]

    /// A row behind what is there already.
    public static func csv(_ row: TraceRow, to bytes: inout [UInt8]) {
        var isFirst = true
        row.forEachValue { _, value in
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            switch value {
            case .none: break
            case .text(let text): quote(text.printable, to: &bytes)
            case .number(let number): bytes += number.utf8
            }
        }
        bytes += lineEnd
    }

    /// An object on a line; what has no value is `null`.
    public static func json(_ row: TraceRow, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "{"))
        var isFirst = true
        row.forEachValue { name, value in
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            JSON.string(name).write(to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            switch value {
            case .none: bytes += "null".utf8
            case .text(let text): JSON.string(text.printable).write(to: &bytes)
            case .number(let number): bytes += number.utf8
            }
        }
        bytes += "}\n".utf8
    }

    /// Quotation marks only where a reader would misread the text without them; an empty text has them, so that it is told
    /// from no value.
    static func quote(_ text: String, to bytes: inout [UInt8]) {
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { $0 != 0x22 && $0 != 0x2c && $0 != 0x0a && $0 != 0x0d }
        if isPlain {
            bytes += text.utf8
            return
        }
        bytes.append(0x22)
        for byte in text.utf8 {
            if byte == 0x22 { bytes.append(0x22) }
            bytes.append(byte)
        }
        bytes.append(0x22)
    }

    /// Milliseconds with three digits behind the point: a microsecond is finer than any clock of a camera.
    public static func milliseconds(_ nanoseconds: Int64) -> String { thousandths(nanoseconds / 1000) }

    /// A number of thousandths as a decimal.
    fileprivate static func thousandths(_ number: Int64) -> String {
        let rest = String(number.magnitude % 1000)
        return (number < 0 ? "-" : "") + "\(number.magnitude / 1000)."
            + String(repeating: "0", count: 3 - rest.utf8.count) + rest
    }

    /// Seconds with six digits behind the point.
    fileprivate static func seconds(_ nanoseconds: Int64) -> String {
        let microseconds = nanoseconds / 1000
        let rest = String(microseconds.magnitude % 1_000_000)
        return (microseconds < 0 ? "-" : "") + "\(microseconds.magnitude / 1_000_000)."
            + String(repeating: "0", count: 6 - rest.utf8.count) + rest
    }
}

/// What stands in a cell.
private enum Cell {
    case none
    case text(String)
    case number(String)

    init(_ text: String?) { self = text.map { .text($0) } ?? .none }
    init(milliseconds nanoseconds: Int64?) {
        self = nanoseconds.map { .number(TraceTable.milliseconds($0)) } ?? .none
    }
}

extension TraceRow {
    /// In the order of the columns.
    fileprivate func forEachValue(_ say: (String, Cell) -> Void) {
        say("machine", Cell(machine))
        say("file", .text(file))
        say("line", .number(String(line)))
        say("policy", .text(policy))
        say("policy_hash", Cell(policyHash))
        say("step", .number(String(step)))
        say("decision", .number(String(decision)))
        say("time", .number(TraceTable.seconds(time)))
        say("event", .text(event))
        say("session", Cell(session))
        say("app", Cell(app))
        say("user", user.map { .number(String($0)) } ?? .none)
        say("camera", Cell(camera))
        say("outcome", Cell(outcome))
        say("cause", Cell(cause))
        say("causes", causes.isEmpty ? .none : .text(causes.joined(separator: "+")))
        say("rule", Cell(rule))
        say("interrupter", Cell(interrupter))
        say("error", Cell(error))
        say("waited_ms", Cell(milliseconds: waited))
        say("held_ms", Cell(milliseconds: held))
        say("interrupted_ms", Cell(milliseconds: interrupted))
        say("handover_ms", Cell(milliseconds: handover))
    }
}
