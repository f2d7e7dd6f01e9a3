/// Metrics as OpenMetrics 1.0 (openmetrics.io), families in the order in which they are added.
public struct OpenMetrics: Sendable {
    private var lines: [String] = []

    public enum Kind: String, Sendable { case counter, gauge, histogram, info }

    public init() {}

    /// Begins a family: its samples follow.
    /// - Parameters:
    /// - name: without `_total`; with the unit at its end where it has one.
    /// - unit: a base unit such as `seconds` or `bytes`.
    public mutating func family(_ name: String, _ kind: Kind, unit: String? = nil, _ help: String) {
        lines.append("# TYPE \(name) \(kind.rawValue)")
        if let unit {
            precondition(name.hasSuffix("_\(unit)"), "OpenMetrics wants the unit at the end of \(name).")
            lines.append("# UNIT \(name) \(unit)")
        }
        lines.append("# HELP \(name) \(Self.escaped(help))")
    }

    public mutating func sample(_ name: String, _ value: UInt64, _ labels: [(String, String)] = []) {
        lines.append("\(name)\(Self.text(labels)) \(value)")
    }

    public mutating func sample(_ name: String, _ value: Double, _ labels: [(String, String)] = []) {
        lines.append("\(name)\(Self.text(labels)) \(value)")
    }

    /// A whole family of counts by one label. A family without a count has no samples, and is in the text all the same.
    /// - Parameter always: values of the label that have a sample before they have counted: an alert on each single one
    ///   sees
    /// the first only where a zero was there before it.
    public mutating func counter(
        _ name: String, by label: String, _ tally: Tally, always: [String] = [], _ help: String
    ) {
        family(name, .counter, help)
        var counts = Dictionary(always.map { ($0, UInt64(0)) }, uniquingKeysWith: { one, _ in one })
        for (value, count) in tally.sorted { counts[value] = count }
        for (value, count) in counts.sorted(by: { $0.key < $1.key }) {
            sample("\(name)_total", count, [(label, value)])
        }
    }

    public mutating func histogram(_ name: String, _ histogram: Histogram, _ help: String) {
        family(name, .histogram, unit: "seconds", help)
        for (bound, count) in histogram.cumulative { sample("\(name)_bucket", count, [("le", "\(bound)")]) }
        sample("\(name)_bucket", histogram.count, [("le", "+Inf")])
        sample("\(name)_sum", histogram.sum)
        sample("\(name)_count", histogram.count)
    }

    /// Ends with a line that tells a whole text from one that was cut off.
    public var text: String { (lines + ["# EOF", ""]).joined(separator: "\n") }

    /// The older Prometheus text format 0.0.4, for readers such as node_exporter's textfile collector: counters are
    /// named with `_total` in their types, an info is a gauge, and there are neither units nor a last line.
    public static func older(_ text: String) -> String {
        // The older format's names of families, where they differ.
        var renamed: [Substring: String] = [:]
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).compactMap { line -> String? in
            let words = line.split(separator: " ", maxSplits: 3)
            guard words.count > 1, words[0] == "#" else { return String(line) }
            switch words[1] {
            case "UNIT", "EOF": return nil
            case "TYPE" where words.count == 4 && words[3] == Kind.counter.rawValue:
                renamed[words[2]] = "\(words[2])_total"
                return "# TYPE \(words[2])_total counter"
            case "TYPE" where words.count == 4 && words[3] == Kind.info.rawValue:
                renamed[words[2]] = "\(words[2])_info"
                return "# TYPE \(words[2])_info gauge"
            case "HELP" where words.count == 4: return "# HELP \(renamed[words[2]] ?? String(words[2])) \(words[3])"
            default: return String(line)
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func text(_ labels: [(String, String)]) -> String {
        if labels.isEmpty { return "" }
        return "{" + labels.map { "\($0)=\"\(escaped($1))\"" }.joined(separator: ",") + "}"
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}

/// How often each of a bounded number of things happened, such as interruptions of each cause.
///
/// Policies and cameras name the things, and their names change with every reload: the first `namesMax` have a count of
/// their own, and all further ones share one.
public struct Tally: Hashable, Sendable {
    private var counts: [String: UInt64] = [:]

    /// A policy with a hundred rules is a large one; each name is a line of every answer.
    public static let namesMax = 128
    /// The name under which names beyond the bound count.
    public static let others = "others"

    public init() {}

    public mutating func note(_ name: String, _ times: UInt64 = 1) {
        if counts[name] == nil && counts.count >= Self.namesMax {
            counts[Self.others, default: 0] += times
        } else {
            counts[name, default: 0] += times
        }
    }

    /// By name, so that two texts of the same counts are the same.
    public var sorted: [(name: String, count: UInt64)] {
        counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    public subscript(_ name: String) -> UInt64 { counts[name] ?? 0 }
    public mutating func add(_ other: Tally) { for (name, count) in other.sorted { note(name, count) } }
}
