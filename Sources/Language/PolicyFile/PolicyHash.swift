import Arbiter
public import ArbiterProtocol

/// Which policy is in force, in 32 digits: so that a fleet's machines, a trace and a file can be compared without their texts.
///
/// The hash is taken over `hashedText`: all that can decide, in one order where order is nothing. What decides nothing is
/// not in it: names of policies, rules and files, summaries, comments, statements, and values that are written and would hold
/// anyway. Users and groups count by their numbers, as they do when a camera is asked for.
///
/// It tells policies apart that differ by accident or on purpose; it is no signature. FNV-1a has no key and keeps nobody
/// from making two policies of one hash.
extension Policy {
    /// 32 hexadecimal digits: FNV-1a, 128 bits, of `hashedText`. The same in every run, on every machine with these numbers
    /// of users, and in every version that reads the text as this one does.
    public var hash: String { PolicyHash.digits(of: hashedText.utf8) }

    /// The policy as `PolicyWriter` writes it, without what can decide nothing.
    public var hashedText: String {
        let usual = PolicyHash.sections(of: PolicyWriter.text(Policy(name: "").plain))
        // Of the top and of tables that are there once, what holds anyway is left out: a later version's new key is then
        // no new hash for a policy that does not speak of it.
        return PolicyHash.sections(of: PolicyWriter.text(plain)).map { section in
            let known = section.isListed ? [] : usual.first { $0.header == section.header }?.lines ?? []
            let lines = section.lines.filter { !known.contains($0) }
            if lines.isEmpty, !section.isListed { return "" }
            return ([section.header] + lines).filter { !$0.isEmpty }.map { $0 + "\n" }.joined()
        }.joined()
    }

    /// The same policy without names that only people read, and ordered where order is nothing.
    private var plain: Policy {
        var plain = withNumbersOnly
        (plain.name, plain.summary, plain.statements) = ("", "", [])
        plain.rights.users.sort { PolicyHash.key($0) < PolicyHash.key($1) }
        plain.rights.groups.sort { PolicyHash.key($0) < PolicyHash.key($1) }
        plain.rights.services.sort()
        plain.attributes.sort { $0.name < $1.name }
        // Each cause has a list of its own, within which order counts.
        plain.causeRules = CauseRule.causes.flatMap { cause in plain.causeRules.filter { $0.cause == cause } }
        for index in plain.causeRules.indices {
            plain.causeRules[index].name = ""
            plain.causeRules[index].when.sort { $0.written < $1.written }
        }
        for index in plain.rankRules.indices {
            plain.rankRules[index].name = ""
            plain.rankRules[index].when.sort { $0.written < $1.written }
        }
        plain.cameras.removeAll { $0.conflicts.isEmpty && $0.cost == 0 }
        plain.cameras.sort { $0.camera.name < $1.camera.name }
        for index in plain.cameras.indices { plain.cameras[index].conflicts.sort { $0.name < $1.name } }
        return plain
    }
}

/// FNV-1a with 128 bits, as its authors publish it (`draft-eastlake-fnv`).
package enum PolicyHash {
    private static let beginning: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
    private static let factor: UInt128 = 0x0000_0000_0100_0000_0000_0000_0000_013b

    /// 32 hexadecimal digits.
    package static func digits(of bytes: some Sequence<UInt8>) -> String {
        var sum = beginning
        for byte in bytes { sum = (sum ^ UInt128(byte)) &* factor }
        let digits = String(sum, radix: 16)
        return String(repeating: "0", count: 32 - digits.utf8.count) + digits
    }

    /// A table of a policy's text, or its top.
    struct Section {
        var header: String
        var lines: [String] = []
        /// One of several, as `[[rank]]` is, or a part of one.
        var isListed: Bool
    }

    static func sections(of text: String) -> [Section] {
        var sections = [Section(header: "", isListed: false)]
        for line in text.split(separator: "\n") {
            if line.hasPrefix("[") {
                // Such as `[cause.when]`, which belongs to the table above it.
                let isListed = line.hasPrefix("[[") || line.utf8.contains(UInt8(ascii: "."))
                sections.append(Section(header: String(line), isListed: isListed))
            } else {
                sections[sections.count - 1].lines.append(String(line))
            }
        }
        return sections
    }

    static func key(_ account: Rights.Account) -> String {
        // Numbers first, each as wide as the widest.
        account.number.map { number in
            let digits = String(number)
            return String(repeating: "0", count: 10 - digits.utf8.count) + digits
        } ?? "n" + (account.name ?? "")
    }
}
