package import Vocabulary

extension Look {
    /// The access that a policy's rules leave, for each of the causes that a policy may raise.
    package struct Limits: BitwiseCopyable {
        /// By the causes' places: the place of the limiting rule in the policy's file plus one; 0: no rule limits.
        private var rules: SIMD4<UInt16> = .zero
        package private(set) var causes = CauseSet()
        private(set) var access = Access.all

        /// Each cause's first matching rule decides. A rule that leaves everything is an exemption: the cause is not
        /// live.
        init(_ facts: FactBits, _ policy: CompiledPolicy) {
            var answered = 0
            for rule in policy.causes where answered >> rule.place & 1 == 0 && rule.when.holds(for: facts) {
                answered |= 1 << rule.place
                guard rule.access != .all else { continue }
                access.formIntersection(rule.access)
                causes.insert(rule.cause)
                rules[rule.place] = rule.rule.index + 1
            }
        }

        package func rule(of cause: Cause) -> Rule? {
            guard let place = CauseRule.causes.firstIndex(of: cause), rules[place] > 0 else { return nil }
            return Rule(.policy, Int(rules[place]) - 1)
        }

        func all(_ policy: CompiledPolicy) -> [CompiledCause] {
            (0..<4).compactMap { rules[$0] > 0 ? Int(rules[$0]) - 1 : nil }.sorted().map { policy.causes[$0] }
        }

        var first: Rule? {
            let places = rules.replacing(with: .max, where: rules .== 0)
            return places.min() == .max ? nil : Rule(.policy, Int(places.min()) - 1)
        }
    }
}
