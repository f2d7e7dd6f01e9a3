import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import TomlFile

/// Values of a fact are bits in words of 64: what is said of a rule is the same for every number of them.
@Suite("Facts of any number of values")
struct NamedValuesTests {
    private func warnings(_ rules: String) -> [String] {
        let text = "name = \"k\"\nsources = [\"shell\"]\nranks = [\"a\"]\n\(rules)"
        return PolicyFile.check(text, file: "p.toml")?.problems.map(\.message) ?? []
    }

    private func rank(_ name: String, _ fact: String = "") -> String {
        "[[rank]]\nname = \"\(name)\"\n\(fact)\nrank = \"a\"\n"
    }

    /// How a rule says that it is about the so-manieth app, user or camera.
    private static let named: [@Sendable (Int) -> String] = [
        { "app = \"app \($0)\"" }, { "claimed-app = \"app \($0)\"" }, { "user = \(1000 + $0)" },
        { "camera = \"camera \($0)\"" },
    ]

    @Test(
        "However many names rules name, each of these rules answers, and one for all others behind them",
        arguments: [1, 2, 62, 63, 64, 65])
    func names(count: Int) {
        for fact in Self.named {
            let rules = (0..<count).map { rank("\($0)", fact($0)) }
            #expect(warnings(rules.joined() + rank("Others")) == [])
            // The last one, named again: by that rule alone.
            #expect(
                warnings(rules.joined() + rank("Again", fact(count - 1))) == [
                    "rule \"Again\" can never answer: rule \"\(count - 1)\" (line \(1 + 4 * count)) answers wherever it matches"
                ])
        }
    }

    @Test(
        "An attribute may have any number of values: all but one leave that one, and all of them nothing",
        arguments: [1, 2, 62, 63, 64])
    func attributes(count: Int) {
        let values = (0..<count).map { "\"value-\($0)\"" }.joined(separator: ", ")
        let attribute = "[[attribute]]\nname = \"score\"\nvalues = [\(values)]\n"
        let rules = (0..<count).map { rank("\($0)", "score = \"value-\($0)\"") }
        for left in Set([0, count - 1]) {
            let others = rules.enumerated().filter { $0.offset != left }.map(\.element).joined()
            #expect(warnings(attribute + others + rank("Rest")) == [])
            #expect(warnings(attribute + others + rules[left]) == [])
        }
        let found = warnings(attribute + rules.joined() + rank("Rest"))
        #expect(found.count == 1 && found[0].hasPrefix("rule \"Rest\" can never answer: rule \"0\" "), "\(found)")
        #expect(found[0].split(separator: "rule ").count == count + 1)
    }

    @Test("A set of values holds what a set of numbers would, whatever the count")
    func valueSets() {
        for count in 1...200 {
            let (all, none) = (ValueSet(count: count), ValueSet(count: count) { _ in false })
            #expect((0..<count).allSatisfy { all.contains($0) && !none.contains($0) })
            #expect(!all.isEmpty && none.isEmpty && none.isSubset(of: all) && !all.isSubset(of: none))
            #expect(all == ValueSet(count: count) { _ in true } && all.subtracting(all) == none)
            for (divisor, other) in [(2, 3), (5, 1), (64, 63), (7, 64)] {
                let (a, b) = (ValueSet(count: count) { $0 % divisor == 0 }, ValueSet(count: count) { $0 % other == 0 })
                func numbers(_ set: ValueSet) -> [Int] { (0..<count).filter(set.contains) }
                #expect(numbers(a.intersection(b)) == (0..<count).filter { $0 % divisor == 0 && $0 % other == 0 })
                #expect(numbers(a.subtracting(b)) == (0..<count).filter { $0 % divisor == 0 && $0 % other != 0 })
                #expect(a.isSubset(of: b) == (0..<count).allSatisfy { $0 % divisor != 0 || $0 % other == 0 })
                #expect(a.subtracting(b).isEmpty == a.isSubset(of: b))
            }
            // Each value by itself, which is in no other word.
            for value in 0..<count {
                let one = ValueSet(count: count) { $0 == value }
                #expect(!one.isEmpty && one.isSubset(of: all) && all.subtracting(one) != all)
                #expect(all.intersection(one) == one && all.subtracting(one).isEmpty == (count == 1))
            }
        }
    }
}
