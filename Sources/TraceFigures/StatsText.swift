package import JSONText

/// Figures as text for people, and for programs as JSON and CSV.
public struct StatsText {
    private let stats: TraceStats
    /// A policy has some dozens of rules; what is rarer than all these is in the other forms.
    private static let rowsMax = 20
    private static let percents = [50, 90, 95, 99]

    /// - Parameter stats: sorted.
    public init(_ stats: TraceStats) { self.stats = stats }

    private var groups: [(key: String, figures: TraceStats.Figures)] {
        stats.groups.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    // MARK: Text

    public var lines: [String] {
        var lines = [heading]
        lines += Self.durations(stats.total)
        lines += Self.ranking("interruptions", stats.total.interruptions)
        lines += Self.ranking("refusals", stats.total.refusals)
        for (key, figures) in groups {
            lines += ["", "\(stats.grouping?.rawValue ?? "") \(key)"]
            lines += Self.durations(figures)
            lines += Self.ranking("interruptions", figures.interruptions)
            lines += Self.ranking("refusals", figures.refusals)
        }
        return lines
    }

    private var heading: String {
        let traces = Self.counted(stats.files, "trace", "traces")
        let machines = stats.machines.isEmpty ? "" : " of " + Self.counted(stats.machines.count, "machine", "machines")
        return "\(traces)\(machines): \(stats.steps) steps, \(stats.decisions) decisions, \(Self.time(stats.covered))"
    }

    private static func counted(_ count: Int, _ one: String, _ several: String) -> String {
        "\(count) \(count == 1 ? one : several)"
    }

    private static func durations(_ figures: TraceStats.Figures) -> [String] {
        var rows = [["", "count", "p50", "p90", "p95", "p99", "longest"]]
        for (name, all) in figures.durations where all.count > 0 {
            rows.append(
                [name, "\(all.count)"] + percents.map { time(all.percentile($0) ?? 0) } + [time(all.longest ?? 0)])
        }
        guard rows.count > 1 else { return [] }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            var line = "  " + padded(row[0], widths[0])
            for column in 1..<row.count {
                line += "  " + String(repeating: " ", count: widths[column] - row[column].count) + row[column]
            }
            return line
        }
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func ranking(_ name: String, _ counts: [TraceStats.Pair: UInt64]) -> [String] {
        guard !counts.isEmpty else { return [] }
        let ranked = counts.ranked
        var lines = ["  \(name): \(ranked.reduce(0) { $0 + $1.count })"]
        let width = ranked.first.map { "\($0.count)".count } ?? 0
        let kindWidth = ranked.prefix(rowsMax).map(\.pair.kind.count).max() ?? 0
        for (pair, count) in ranked.prefix(rowsMax) {
            let number = String(repeating: " ", count: width - "\(count)".count) + "\(count)"
            let rule = pair.rule.isEmpty ? "" : "  “\(pair.rule)”"
            lines.append("    \(number)  \(rule.isEmpty ? pair.kind : padded(pair.kind, kindWidth))\(rule)")
        }
        if ranked.count > rowsMax { lines.append("    … and \(ranked.count - rowsMax) more, with --json and --csv") }
        return lines
    }

    /// Three digits or so: `12.3 ms`, `4.21 s`, `35 min`, `7.5 h`.
    static func time(_ nanoseconds: Int64) -> String {
        let units: [(name: String, size: Int64, below: Int64)] = [
            ("ms", 1_000_000, 1_000_000_000), ("s", 1_000_000_000, 120_000_000_000),
            ("min", 60_000_000_000, 7_200_000_000_000),
        ]
        let unit = units.first { nanoseconds < $0.below } ?? ("h", 3_600_000_000_000, .max)
        let hundredths = nanoseconds / (unit.size / 100)
        switch hundredths {
        case ..<1000: return "\(hundredths / 100).\(hundredths % 100 / 10)\(hundredths % 10) \(unit.name)"
        case ..<10_000: return "\(hundredths / 100).\(hundredths % 100 / 10) \(unit.name)"
        default: return "\(hundredths / 100) \(unit.name)"
        }
    }

    // MARK: JSON

    package var json: JSON {
        var json = JSON.object([
            "files": .integer(Int64(stats.files)), "machines": .integer(Int64(stats.machines.count)),
            "steps": .count(stats.steps), "decisions": .count(stats.decisions), "covered_ms": Self.json(stats.covered),
            "lost": .count(stats.lost),
        ]).adding(Self.json(stats.total))
        if let grouping = stats.grouping {
            json = json.adding([
                "by": .string(grouping.rawValue),
                "groups": .array(groups.map { JSON.object(["key": .string($0.key)]).adding(Self.json($0.figures)) }),
            ])
        }
        return json.adding(["problems": .strings(stats.problems.map(\.sentence))])
    }

    private static func json(_ figures: TraceStats.Figures) -> JSON {
        func counts(_ counts: [TraceStats.Pair: UInt64], _ kind: String) -> JSON {
            .array(
                counts.ranked.map { pair, count in
                    .object([
                        JSON.Member(key: kind, value: .string(pair.kind)),
                        JSON.Member(key: "rule", value: .string(pair.rule)),
                        JSON.Member(key: "count", value: .count(count)),
                    ])
                })
        }
        var json = JSON.object(["starts": .count(figures.starts)])
        for (name, all) in figures.durations {
            var members = [JSON.Member(key: "count", value: .integer(Int64(all.count)))]
            members += columns(of: all).map {
                JSON.Member(key: $0.name, value: $0.value.map { Self.json($0) } ?? .null)
            }
            json = json.adding(.object([JSON.Member(key: name, value: .object(members))]))
        }
        return json.adding([
            "interruptions": counts(figures.interruptions, "cause"), "refusals": counts(figures.refusals, "error"),
        ])
    }

    private static func json(_ nanoseconds: Int64) -> JSON { .number(Double(nanoseconds / 1000) / 1000) }

    private static func columns(of all: Durations) -> [(name: String, value: Int64?)] {
        [("sum_ms", all.sum)] + percents.map { ("p\($0)_ms", all.percentile($0)) } + [("max_ms", all.longest)]
    }

    // MARK: CSV

    public static let columns = [
        "group", "figure", "kind", "rule", "count", "sum_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms", "max_ms",
    ]

    /// A line for each duration, cause with its rule, and refusal with its rule; `group` is empty in those of all.
    public var csv: [UInt8] {
        var bytes = Array(Self.columns.joined(separator: ",").utf8) + TraceTable.lineEnd
        for (key, figures) in [("", stats.total)] + groups {
            for (name, all) in figures.durations {
                let values = Self.columns(of: all).map { $0.value.map(TraceTable.milliseconds) ?? "" }
                Self.add([key, name, "", "", "\(all.count)"] + values, to: &bytes)
            }
            for (figure, counts) in [("interruptions", figures.interruptions), ("refusals", figures.refusals)] {
                for (pair, count) in counts.ranked {
                    let none = [String](repeating: "", count: Self.columns.count - 5)
                    Self.add([key, figure, pair.kind, pair.rule, "\(count)"] + none, to: &bytes)
                }
            }
        }
        return bytes
    }

    private static func add(_ cells: [String], to bytes: inout [UInt8]) {
        for (index, cell) in cells.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            if !cell.isEmpty { TraceTable.quote(cell, to: &bytes) }
        }
        bytes += TraceTable.lineEnd
    }
}
