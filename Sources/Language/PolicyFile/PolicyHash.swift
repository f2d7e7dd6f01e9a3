import Arbiter
public import ArbiterProtocol

/// The policy in 32 digits, so that a fleet's machines, a trace and a file can be compared without their texts.
/// `hashedText` has everything that can decide, in one order where order means nothing, with users and groups by their
/// numbers. No signature: FNV-1a has no key and keeps nobody from making two policies of one hash.
extension Policy {
    /// 32 hexadecimal digits: FNV-1a, 128 bits, of `hashedText`. The same in every run, on every machine with these
    /// numbers of users, and in every version that reads the text as this one does.
    public var hash: String { PolicyHash.digits(of: hashedText.utf8) }

    /// The policy as `PolicyWriter` writes it, without parts that can decide nothing.
    public var hashedText: String { hashedSections.map { PolicyWriter.text(of: $0) }.joined() }

    /// Without the defaults of the top and of tables that are there once: a later version's new key then changes no
    /// hash of a policy without it.
    var hashedSections: [PolicySection] {
        PolicySection.all(of: plain).map(\.said).filter { $0.name != nil || !$0.pairs.isEmpty }
    }

    /// Without names that only people read, and ordered where order means nothing.
    private var plain: Policy {
        var plain = withNumbersOnly
        (plain.name, plain.summary, plain.statements) = ("", "", [])
        func order<Owner>(_ keys: [Key<Owner>], _ owner: inout Owner) {
            for key in keys { key.makePlain(&owner) }
        }
        order(PolicyKeys.access, &plain.rights)
        plain.attributes.sort { $0.name < $1.name }
        // Each cause has a list of its own, within which order counts.
        plain.causeRules = CauseRule.causes.flatMap { cause in plain.causeRules.filter { $0.cause == cause } }
        for index in plain.causeRules.indices {
            plain.causeRules[index].name = ""
            order(PolicyKeys.cause, &plain.causeRules[index])
        }
        for index in plain.rankRules.indices {
            plain.rankRules[index].name = ""
            plain.rankRules[index].when.sort { $0.written < $1.written }
        }
        plain.cameras.removeAll { $0.conflicts.isEmpty && $0.cost == 0 }
        plain.cameras.sort { $0.camera.name < $1.camera.name }
        for index in plain.cameras.indices { order(PolicyKeys.camera, &plain.cameras[index]) }
        return plain
    }
}

/// FNV-1a with 128 bits, as its authors publish it (`draft-eastlake-fnv`).
package enum PolicyHash {
    private static let beginning: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
    private static let factor: UInt128 = 0x0000_0000_0100_0000_0000_0000_0000_013b

    package static func digits(of bytes: some Sequence<UInt8>) -> String {
        var sum = beginning
        for byte in bytes { sum = (sum ^ UInt128(byte)) &* factor }
        let digits = String(sum, radix: 16)
        return String(repeating: "0", count: 32 - digits.utf8.count) + digits
    }

    static func key(_ account: Rights.Account) -> String {
        // Numbers first, each as wide as the widest.
        account.number.map { number in
            let digits = String(number)
            return String(repeating: "0", count: 10 - digits.utf8.count) + digits
        } ?? "n" + (account.name ?? "")
    }
}
