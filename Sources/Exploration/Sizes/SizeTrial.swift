public import Arbiter
import ArbiterProtocol

/// Whether what holds in worlds of three clients and two cameras holds in larger ones, tried on random policies.
///
/// Policy `number` of a seed is always the same. All of its statements that are broken at the smaller size are taken
/// away; then the larger sizes are walked, and whatever is broken there is a finding.
public struct SizeTrial: Sendable {
    /// Clients and cameras.
    public struct Size: Hashable, Sendable, CustomStringConvertible {
        public let clients: Int
        public let cameras: Int

        public init(_ clients: Int, _ cameras: Int) {
            self.clients = clients
            self.cameras = cameras
        }

        public var description: String { "\(clients) × \(cameras)" }
    }

    /// Broken at a larger size, and not at the smaller one.
    public struct Finding: Sendable {
        public var number: Int
        public var size: Size
        public var message: String
        /// What the policy says that needs more than the smaller size has; none: the argument is wrong.
        public var gaps: [SizeArgument.Gap]
        public var scenario: String
    }

    /// What became of policies.
    public struct Tally: Sendable {
        public var policies = 0
        /// Those of which not every size could be walked within the bound.
        public var tooLarge = 0
        /// Statements broken at the smaller size.
        public var broken = 0
        /// Those that held there, and applied.
        public var held = 0
        /// Policies walked whole at every size, by how many of their statements were told to need more.
        public var withGaps = 0
        public var states = 0
        public var findings: [Finding] = []

        public init() {}

        public mutating func add(_ other: Tally) {
            policies += other.policies
            tooLarge += other.tooLarge
            broken += other.broken
            held += other.held
            withGaps += other.withGaps
            states += other.states
            findings += other.findings
        }

        /// In the order of their policies.
        public mutating func sort() { findings.sort { $0.number < $1.number } }
    }

    public static let smaller = Size(3, 2)
    /// One client more, and one camera more.
    public static let larger = [Size(4, 2), Size(3, 3)]

    private let seed: UInt64
    private let statesMax: Int

    /// - Parameter statesMax: of each walk; a policy that has more at some size is left out.
    public init(seed: UInt64, statesMax: Int) {
        self.seed = seed
        self.statesMax = statesMax
    }

    public static func policy(_ number: Int, seed: UInt64) -> Policy {
        // Far apart for neighbours, as the fuzzer's stories are.
        var mixed = SeededRandom(seed: seed ^ (UInt64(truncatingIfNeeded: number) &* 0xD605_1FD1_9F4B_7A2D))
        var generator = SmallPolicyGenerator(SeededRandom(seed: mixed.next()))
        return generator.policy()
    }

    public func run(_ number: Int) -> Tally { run(Self.policy(number, seed: seed), number) }

    /// The same with a policy of one's own.
    public func run(_ policy: Policy, _ number: Int) -> Tally {
        var policy = policy
        var tally = Tally()
        tally.policies = 1
        // Each walk ends at one that is broken, and takes it away; the last breaks none.
        for _ in 0...policy.statements.count {
            guard let report = walk(policy, Self.smaller, &tally) else { return tally }
            if let finding = report.finding {
                guard let name = finding.statement else {
                    tally.findings.append(
                        Finding(
                            number: number, size: Self.smaller, message: finding.message, gaps: [],
                            scenario: finding.scenario))
                    return tally
                }
                tally.broken += 1
                policy.statements.removeAll { $0.name == name }
                continue
            }
            // A statement that applied nowhere says nothing at this size, and applies to others at another.
            let applied = zip(policy.statements, report.applied).filter { $0.1 > 0 }.map(\.0)
            policy.statements = applied
            tally.held = applied.count
            break
        }
        compare(policy, number, &tally)
        return tally
    }

    private func compare(_ policy: Policy, _ number: Int, _ tally: inout Tally) {
        let gaps = SizeArgument(policy, clients: Self.smaller.clients, cameras: Self.smaller.cameras).gaps
        if !gaps.isEmpty { tally.withGaps += 1 }
        // Cameras that do not touch each other are walked one by one, however many there are.
        for size in Self.larger where policy.linksCameras || size.cameras == Self.smaller.cameras {
            guard let report = walk(policy, size, &tally) else { return }
            guard let finding = report.finding else { continue }
            // Of what this one statement and the rules say: another statement's gap is no excuse.
            var own = policy
            own.statements = policy.statements.filter { $0.name == finding.statement }
            let needed = SizeArgument(own, clients: Self.smaller.clients, cameras: Self.smaller.cameras).gaps
            tally.findings.append(
                Finding(
                    number: number, size: size, message: finding.message, gaps: needed, scenario: finding.scenario))
        }
    }

    /// Nil, and counted: it is too large.
    private func walk(_ policy: Policy, _ size: Size, _ tally: inout Tally) -> PolicyWalk.Report? {
        guard
            let walk = try? PolicyWalk(policy, clients: size.clients, cameras: size.cameras, scope: .policy)
        else { return nil }
        // Whoever asks has threads of its own, one for each policy.
        let text = ShortPolicyText.lines(policy).joined(separator: "\n")
        let report = walk.run(
            SearchBounds(statesMax: statesMax), policyLine: "\"\"\"\n\(text)\n\"\"\"", threads: 1)
        tally.states += report.states
        guard report.cutOffBy == nil || report.finding != nil else {
            tally.tooLarge = 1
            return nil
        }
        return report
    }
}
