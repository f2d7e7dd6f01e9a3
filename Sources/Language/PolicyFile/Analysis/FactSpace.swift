import Arbiter
package import Vocabulary

package struct ValueSet: Hashable {
    private var words: [UInt64]

    package init(count: Int) {
        words = [UInt64](repeating: .max, count: (count + 63) / 64)
        if count % 64 != 0 { words[words.count - 1] = (1 << UInt64(count % 64)) - 1 }
    }

    package init(count: Int, where holds: (Int) -> Bool) {
        words = [UInt64](repeating: 0, count: (count + 63) / 64)
        for value in 0..<count where holds(value) { words[value / 64] |= 1 << UInt64(value % 64) }
    }

    package var isEmpty: Bool { words.allSatisfy { $0 == 0 } }
    package func contains(_ value: Int) -> Bool { words[value / 64] & 1 << UInt64(value % 64) != 0 }
    package func intersection(_ other: ValueSet) -> ValueSet { combined(other) { $0 & $1 } }
    package func subtracting(_ other: ValueSet) -> ValueSet { combined(other) { $0 & ~$1 } }
    package func isSubset(of other: ValueSet) -> Bool { subtracting(other).isEmpty }

    private func combined(_ other: ValueSet, _ operation: (UInt64, UInt64) -> UInt64) -> ValueSet {
        var result = self
        for index in words.indices { result.words[index] = operation(words[index], other.words[index]) }
        return result
    }
}

/// Some facts, each limited to some of its values: the conditions of a rule, or an impossibility.
typealias FactBox = [Int: ValueSet]

/// The facts of one policy as variables with closed sets of values. All names that no rule has are one value: no rule
/// can tell them apart. Presence and layout are one variable together.
struct FactSpace {
    private(set) var counts: [Int] = []
    private var variables: [String: Int] = [:]
    /// For each variable the tests with one value each; for names those of the rules.
    private var tests: [[FactTest]] = []
    private let attributes: [Attribute]
    private let modes: [String]
    let impossible: [Impossibility]
    private var impossibleBoxes: [FactBox] = []

    /// - Parameter others: tests of facts that no rule reads.
    init(_ policy: Policy, besides others: [FactTest] = []) {
        attributes = policy.attributes
        modes = policy.modes.map(\.name)
        impossible = Self.impossibilities(policy)
        let read = policy.causeRules.flatMap(\.when) + policy.rankRules.flatMap(\.when) + others
        // Impossibilities need these even where no rule reads them.
        for test in read + [
            .foreground(true), .focused(true), .foregroundApps(.one), .recording(true), .bidIsNew(true),
        ] {
            let key = Self.variable(test)
            let variable = variables[key] ?? counts.count
            if variable == counts.count {
                variables[key] = variable
                tests.append(Fact.of(test)?.tests ?? [])
                counts.append(closedCount(test, tests[variable].count))
            }
            guard isName(test), !tests[variable].contains(test) else { continue }
            tests[variable].append(test)
            counts[variable] = tests[variable].count + 1
        }
        impossibleBoxes = impossible.map { box($0.tests) }
    }

    /// Whether `covers` have all facts of a box that a session can have.
    /// - Parameter impossible: `nil` for all of them.
    func answer(
        _ box: FactBox, by covers: [FactBox] = [], knowing impossible: [Impossibility]? = nil,
        stepsMax: Int = CoverSearch.stepsMax
    ) -> CoverSearch.Answer {
        let cannotBe = impossible.map { $0.map { self.box($0.tests) } } ?? impossibleBoxes
        let everything = counts.map { ValueSet(count: $0) }
        return CoverSearch.answer(box, in: everything, by: cannotBe + covers, stepsMax: stepsMax)
    }

    func answer(
        _ tests: [FactTest], by others: [[FactTest]] = [], knowing impossible: [Impossibility]? = nil
    ) -> CoverSearch.Answer { answer(box(tests), by: others.map { box($0) }, knowing: impossible) }

    /// Two conditions on one variable leave their common values.
    func box(_ tests: [FactTest]) -> FactBox { tests.reduce(into: [:]) { limit(&$0, $1, holds: true) } }

    func box(_ tests: [FactTest], but missing: FactTest) -> FactBox {
        var box = box(tests.filter { $0 != missing })
        limit(&box, missing, holds: false)
        return box
    }

    private func limit(_ box: inout FactBox, _ test: FactTest, holds wanted: Bool) {
        guard let variable = variables[Self.variable(test)] else { return }
        let place = tests[variable].firstIndex(of: test)
        let allowed = ValueSet(count: counts[variable]) { holds(test, $0, place) == wanted }
        box[variable] = box[variable].map { $0.intersection(allowed) } ?? allowed
    }

    func meet(_ a: FactBox, _ b: FactBox) -> Bool {
        a.allSatisfy { variable, allowed in b[variable].map { !$0.intersection(allowed).isEmpty } ?? true }
    }

    private static func variable(_ test: FactTest) -> String {
        if case .layout = test { "presence" } else { test.written.key }
    }

    /// A fact without a closed set of values: an app, a user, a camera.
    private func isName(_ test: FactTest) -> Bool {
        switch test {
        case .attribute, .mode: false
        default: Fact.of(test)?.tests.isEmpty ?? true
        }
    }

    private func closedCount(_ test: FactTest, _ closed: Int) -> Int {
        switch test {
        // The background, or a layout.
        case .foreground, .layout: 1 + Presence.Layout.allCases.count
        case .attribute(let name, _): attributes.first { $0.name == name }?.values.count ?? 1
        // None, or one of them.
        case .mode: 1 + modes.count
        default: closed
        }
    }

    /// - Parameter place: the value of the condition, where it has one.
    private func holds(_ test: FactTest, _ value: Int, _ place: Int?) -> Bool {
        switch test {
        case .foreground(let inFront): inFront == (value > 0)
        case .layout(let layout): value > 0 && Presence.Layout.allCases[value - 1] == layout
        case .pressure(let level): SystemPressure.allCases[value] >= level
        case .attribute(let name, let wanted):
            attributes.first { $0.name == name }.map { $0.values[value] == wanted } ?? false
        case .mode(let name): value == (name.map { (modes.firstIndex(of: $0) ?? modes.count) + 1 } ?? 0)
        default: value == place
        }
    }

    struct Impossibility {
        var tests: [FactTest]
        var why: String
    }

    /// As the core keeps them (`Arbiter.facts`, `Arbiter.placement`).
    private static func impossibilities(_ policy: Policy) -> [Impossibility] {
        var list = [
            Impossibility(tests: [.foreground(false), .focused(true)], why: "an app in the background has no focus"),
            Impossibility(
                tests: [.foreground(true), .foregroundApps(.none)], why: "an app in front is one of those in front"),
            Impossibility(
                tests: [.recording(true), .bidIsNew(true)], why: "a session that records has had its camera"),
        ]
        // Only a shell, an agent or the app itself can tell these.
        guard policy.sources.allSatisfy({ $0 == .loginSession }) else { return list }
        let nobody = "\"sources\" has nobody who tells a user's apps apart, so"
        list += [
            Impossibility(tests: [.focused(true)], why: "\(nobody) none has the focus"),
            Impossibility(tests: [.foregroundApps(.none)], why: "\(nobody) one counts as in front"),
            Impossibility(tests: [.foregroundApps(.several)], why: "\(nobody) one counts as in front"),
        ]
        list += Presence.Layout.allCases.filter { $0 != .fullscreen }.map {
            Impossibility(tests: [.layout($0)], why: "\(nobody) an app in front has the full screen")
        }
        if policy.sources.isEmpty {
            list.append(
                Impossibility(tests: [.foreground(false)], why: "\"sources\" is empty, so every app counts as in front")
            )
        }
        return list
    }
}

extension PolicyFile {
    /// The impossibilities of `check`, for tests that hold a core to them.
    package static func impossibleFacts(_ policy: Policy) -> [[FactTest]] {
        FactSpace(policy).impossible.map(\.tests)
    }
}
