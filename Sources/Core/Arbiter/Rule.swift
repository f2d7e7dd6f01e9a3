package import Vocabulary

/// The rule of an outcome, as small as three words: a rule of a policy file, by its place among the compiled policy's
/// texts, or a law of the contract.
package struct Rule: Hashable, Sendable, Codable, BitwiseCopyable {
    package enum Kind: UInt8, Hashable, Sendable, Codable, BitwiseCopyable {
        /// A `[[cause]]` or `[[rank]]` of the policy.
        case policy
        /// A key of the policy's order list.
        case order
        case law
    }

    package var kind: Kind
    /// Of a policy's rule: its place among the texts in force. Of a law: its raw value.
    package var index: UInt16
    /// The bid has won, and waits only for the holder's time.
    package var isAfterItsTime = false

    init(_ kind: Kind, _ index: Int) {
        self.kind = kind
        self.index = UInt16(truncatingIfNeeded: index)
    }

    init(_ law: Law) { self.init(.law, Int(law.rawValue)) }
    package var law: Law? { kind == .law ? Law(rawValue: UInt8(truncatingIfNeeded: index)) : nil }

    var afterItsTime: Rule {
        var rule = self
        rule.isAfterItsTime = true
        return rule
    }

    static func law(_ law: Law) -> Rule { Rule(law) }
}
