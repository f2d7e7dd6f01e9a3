import Trace

/// How long things took, all of them: quantiles are exact. Eight bytes each, so that a hundred million take less than a
/// gigabyte.
public struct Durations: Sendable {
    /// Nanoseconds.
    private var values: [Int64] = []

    mutating func note(_ value: Int64) { values.append(value) }
    mutating func add(_ other: Durations) { values += other.values }
    mutating func sort() { values.sort() }

    public var count: Int { values.count }
    public var sum: Int64 { values.reduce(0) { $0.addingReportingOverflow($1).partialValue } }
    public var longest: Int64? { values.last }

    /// The least value that at least so many of a hundred do not exceed (the nearest rank); nil where there is none.
    public func percentile(_ percent: Int) -> Int64? {
        guard !values.isEmpty else { return nil }
        return values[max(0, (values.count * percent + 99) / 100 - 1)]
    }
}

/// What many decisions come to.
public struct TraceStats: Sendable {
    /// What is counted by two words, such as interruptions by cause and rule.
    public struct Pair: Hashable, Sendable {
        public var kind: String
        public var rule: String
    }

    /// Of all rows, or of those that have something in common.
    public struct Figures: Sendable {
        public fileprivate(set) var starts: UInt64 = 0
        public fileprivate(set) var waits = Durations()
        public fileprivate(set) var handovers = Durations()
        public fileprivate(set) var held = Durations()
        public fileprivate(set) var interrupted = Durations()
        public fileprivate(set) var interruptions: [Pair: UInt64] = [:]
        public fileprivate(set) var refusals: [Pair: UInt64] = [:]

        fileprivate mutating func note(_ row: TraceRow) {
            if let waited = row.waited { waits.note(waited) }
            if let handover = row.handover { handovers.note(handover) }
            if let time = row.held { held.note(time) }
            if let time = row.interrupted { interrupted.note(time) }
            switch row.outcome {
            case "didStartRunning": starts += 1
            case "wasInterrupted":
                interruptions[Pair(kind: row.cause ?? "", rule: row.rule ?? ""), default: 0] += 1
            case "refused": refusals[Pair(kind: row.error ?? "", rule: row.rule ?? ""), default: 0] += 1
            default: break
            }
        }

        fileprivate mutating func add(_ other: Figures) {
            starts += other.starts
            waits.add(other.waits)
            handovers.add(other.handovers)
            held.add(other.held)
            interrupted.add(other.interrupted)
            interruptions.merge(other.interruptions) { $0 + $1 }
            refusals.merge(other.refusals) { $0 + $1 }
        }

        fileprivate mutating func sort() {
            waits.sort()
            handovers.sort()
            held.sort()
            interrupted.sort()
        }

        /// With the words that documents use.
        public var durations: [(name: String, all: Durations)] {
            [("waited", waits), ("held", held), ("interrupted", interrupted), ("handover", handovers)]
        }
    }

    /// What rows have in common that are counted together.
    public enum Grouping: String, Sendable, CaseIterable {
        case app, camera, machine, policy, rule

        func key(of row: TraceRow) -> String? {
            switch self {
            case .app: row.app
            case .camera: row.camera
            case .machine: row.machine
            case .policy: row.policyHash.map { "\(row.policy) \($0)" } ?? row.policy
            case .rule: row.rule
            }
        }
    }

    public let grouping: Grouping?
    public private(set) var total = Figures()
    public private(set) var groups: [String: Figures] = [:]
    public private(set) var machines: Set<String> = []
    public private(set) var files = 0
    public private(set) var steps: UInt64 = 0
    public private(set) var decisions: UInt64 = 0
    /// Nanoseconds.
    public private(set) var covered: Int64 = 0
    public private(set) var lost: UInt64 = 0
    public private(set) var problems: [TraceScan.Problem] = []

    public init(by grouping: Grouping? = nil) { self.grouping = grouping }

    /// Reads files of one broker.
    public mutating func read(_ chain: TraceFiles.Chain) {
        var scan = TraceScan()
        for source in chain {
            scan.read(source) { note($0) }
            if let machine = source.machine { machines.insert(machine) }
        }
        files += scan.files
        steps += scan.steps
        decisions += scan.decisions
        covered += scan.covered
        lost += scan.lost
        problems += scan.problems
    }

    private mutating func note(_ row: TraceRow) {
        // Where nobody was told anything, nothing is counted.
        guard row.outcome != nil else { return }
        total.note(row)
        if let grouping, let key = grouping.key(of: row) { groups[key, default: Figures()].note(row) }
    }

    public mutating func add(_ other: TraceStats) {
        total.add(other.total)
        groups.merge(other.groups) { mine, others in
            var both = mine
            both.add(others)
            return both
        }
        machines.formUnion(other.machines)
        files += other.files
        steps += other.steps
        decisions += other.decisions
        covered += other.covered
        lost += other.lost
        problems += other.problems
    }

    /// To be called once, when all is read.
    public mutating func sort() {
        total.sort()
        for key in groups.keys { groups[key]?.sort() }
        // Whoever was read first comes first in no form of the figures.
        problems.sort { ($0.error.file, $0.error.line ?? 0) < ($1.error.file, $1.error.line ?? 0) }
    }
}

extension [TraceStats.Pair: UInt64] {
    /// The most frequent first; of equals by name, so that a text of the same counts is the same.
    public var ranked: [(pair: TraceStats.Pair, count: UInt64)] {
        map { ($0.key, $0.value) }.sorted {
            ($1.count, $0.pair.kind, $0.pair.rule) < ($0.count, $1.pair.kind, $1.pair.rule)
        }
    }
}
