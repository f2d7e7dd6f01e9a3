import Exploration
import Glibc
import Synchronization

/// `explore sizes`: random policies with random statements, walked with three clients and two cameras and then with one
/// more, to see whether anything is broken in the larger worlds only.
struct SizesCommand {
    private let seed: UInt64
    private let first: Int
    /// Nil: until the time is over.
    private let policies: Int?
    private let time: Duration?
    private let threads: Int
    private let trial: SizeTrial
    private let begun = ContinuousClock.now

    static let usage = """
               explore sizes [--seed N] [--policies N | --minutes M]    random policies with 3 clients × 2 cameras, and with more:
                            [--first N] [--threads N] [--max-states N]  what is broken in the larger worlds only
        """

    /// Nil: the command line is wrong.
    init?(_ line: inout Arguments) {
        let minutes = line.option("--minutes")
        let count = line.option("--policies")
        seed = line.option("--seed").flatMap { UInt64($0) } ?? 1
        first = line.option("--first").flatMap { Int($0) } ?? 0
        policies = count.flatMap { Int($0) } ?? (minutes == nil ? 100 : nil)
        time = minutes.flatMap { Double($0) }.map { .seconds($0 * 60) }
        threads = line.option("--threads").flatMap { Int($0) } ?? 2
        // A walk of some seconds; a larger bound is met by fewer policies and takes the time of many.
        let statesMax = line.option("--max-states").flatMap { Int($0) } ?? 150_000
        trial = SizeTrial(seed: seed, statesMax: statesMax)
        guard line.arguments.isEmpty, threads > 0, statesMax > 0, count == nil || policies != nil,
            minutes == nil || time != nil
        else { return nil }
    }

    private struct State {
        var next: Int
        var tally = SizeTrial.Tally()
    }

    /// - Returns: the exit status.
    func run() async -> Int32 {
        let state = Mutex(State(next: first))
        let progress = FuzzProgress()
        await side {
            while let number = state.withLock({ take(&$0) }) {
                let one = trial.run(number)
                state.withLock { $0.tally.add(one) }
                progress.show(ContinuousClock.now - begun) {
                    let tally = state.withLock { $0.tally }
                    return "\(tally.policies) policies, \(tally.findings.count) broken in larger worlds only"
                }
            }
        }
        progress.clear()
        var tally = state.withLock { $0.tally }
        tally.sort()
        return report(tally)
    }

    /// The same on each thread, until all are through.
    private func side(_ body: @escaping @Sendable () -> Void) async {
        await withTaskGroup { group in
            for _ in 0..<threads { group.addTask { body() } }
        }
    }

    private func take(_ state: inout State) -> Int? {
        if let policies, state.next >= first + policies { return nil }
        if let time, ContinuousClock.now - begun >= time { return nil }
        defer { state.next += 1 }
        return state.next
    }

    private func report(_ tally: SizeTrial.Tally) -> Int32 {
        let unexpected = tally.findings.filter { $0.gaps.isEmpty }
        for finding in unexpected {
            print(
                "── policy \(finding.number) of seed \(seed), at \(finding.size): \(finding.message)\n"
                    + "again: explore sizes --seed \(seed) --first \(finding.number) --policies 1\n\n\(finding.scenario)"
            )
        }
        for finding in tally.findings where !finding.gaps.isEmpty {
            let gaps = finding.gaps.map(\.rawValue).joined(separator: ", ")
            print("policy \(finding.number), at \(finding.size), as expected (\(gaps)): \(finding.message)")
        }
        let size = SizeTrial.smaller
        let larger = tally.findings.filter { $0.size != size }
        print(
            """
            \(tally.policies) random policies, seed \(seed), \(tally.states) states: \(tally.tooLarge) were too large to be walked whole
            at \(size): \(tally.broken) statements were broken, \(tally.held) held
            at \(SizeTrial.larger.map(\.description).joined(separator: " and ")): \(larger.count) of those that held were broken, \(larger.filter { !$0.gaps.isEmpty }.count) of them by policies that need more
            \(tally.withGaps) of the policies say something that needs more
            """)
        return unexpected.isEmpty ? 0 : 1
    }
}
