import Arbiter
package import ArbiterProtocol
package import PolicyFile
import Synchronization
import Workbench

/// The cases of a campaign and its findings: threads take numbers and return verdicts. Case `number` of a seed is always the same.
package final class FuzzCampaign: Sendable {
    package struct Options: Sendable {
        package var seed: UInt64 = 1
        package var first = 0
        /// `nil`: until `stop`.
        package var runs: Int?
        package var shares = true
        /// Goes on after a broken promise.
        package var keepsGoing = false

        package init() {}
    }

    /// The first case that broke a promise in some way, and their number.
    package struct Finding: Sendable {
        package var promise: PromiseClass
        package var number: Int
        package var broken: FuzzVerdict.Broken
        package var count = 1

        /// Among equally short cases the lower number counts, which does not depend on threads.
        fileprivate func isShorter(than other: Finding) -> Bool {
            (broken.lines ?? .max, number) < (other.broken.lines ?? .max, other.number)
        }
    }

    package struct Tally: Sendable {
        package var runs = 0
        package var steps = 0
        package var policies = 0
        /// A judge's comparisons.
        package var compared = 0
        package var broken = 0
        package var features: [FuzzFeature: Int] = [:]
        package var kinds = Set<EventKind>()
        package var said: [PolicyKey: Int] = [:]
    }

    private struct State {
        var next: Int
        var isStopped = false
        var tally = Tally()
        var findings: [PromiseClass: Finding] = [:]
    }

    package let options: Options
    private let state: Mutex<State>

    package init(_ options: Options) {
        self.options = options
        state = Mutex(State(next: options.first))
    }

    /// In every second case recorders behave, so that it can be compared with the reference.
    /// - Throws: where its policy does not read back as it was written.
    package static func fuzzCase(
        _ number: Int, seed: UInt64, shares: Bool = true
    ) throws(PolicyGenerator.Altered) -> FuzzCase {
        // The generators of neighbours must not overlap.
        var mixed = SeededRandom(seed: seed ^ (UInt64(truncatingIfNeeded: number) &* 0xD605_1FD1_9F4B_7A2D))
        var generator = CaseGenerator(
            SeededRandom(seed: mixed.next()), shares: shares, behaves: !number.isMultiple(of: 2))
        return try generator.fuzzCase()
    }

    package static func run(
        _ number: Int, seed: UInt64, shares: Bool = true, judge: (any FuzzJudge)? = nil
    ) -> FuzzVerdict {
        do throws(PolicyGenerator.Altered) {
            let fuzzCase = try fuzzCase(number, seed: seed, shares: shares)
            return FuzzRun.run(fuzzCase.text("Run \(seed)/\(number)."), judge: judge)
        } catch { return FuzzVerdict(.broken(.init("a policy reads back as another one than was written"))) }
    }

    package func next() -> Int? {
        state.withLock { state in
            if state.isStopped { return nil }
            if let runs = options.runs, state.next >= options.first + runs { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    package func stop() { state.withLock { $0.isStopped = true } }

    package func note(_ number: Int, _ verdict: FuzzVerdict) {
        state.withLock { state in
            state.tally.runs += 1
            state.tally.steps += verdict.steps
            state.tally.policies += verdict.policies
            state.tally.compared += verdict.compared
            state.tally.kinds.formUnion(verdict.kinds)
            state.tally.said.merge(verdict.said, uniquingKeysWith: +)
            for feature in verdict.features { state.tally.features[feature, default: 0] += 1 }
            let broken: FuzzVerdict.Broken
            switch verdict.outcome {
            case .kept: return
            case .broken(let found): broken = found
            // The language and the generator disagree.
            case .unreadable(let message): broken = .init("the run is no scenario: \(message)")
            }
            state.tally.broken += 1
            let finding = Finding(promise: broken.promise, number: number, broken: broken)
            if let known = state.findings[finding.promise] {
                var kept = finding.isShorter(than: known) ? finding : known
                kept.count = known.count + 1
                state.findings[finding.promise] = kept
            } else {
                state.findings[finding.promise] = finding
            }
            if !options.keepsGoing { state.isStopped = true }
        }
    }

    package var tally: Tally { state.withLock { $0.tally } }

    /// The most frequent first. Without `keepsGoing`, only the first case that broke something.
    package var findings: [Finding] {
        let all = state.withLock { Array($0.findings.values) }
        guard options.keepsGoing else {
            // All cases before it were begun before it, so that it is the same with any number of threads.
            return all.min { $0.number < $1.number }.map { [$0] } ?? []
        }
        return all.sorted { ($1.count, $0.promise) < ($0.count, $1.promise) }
    }
}
