import Arbiter
import ArbiterProtocol
import PolicyFile
import Scenario

/// What one or several policies read, all in all: a small world needs no event that changes anything else.
package struct PolicyReads {
    let tests: [FactTest]
    let order: [Contention.OrderKey]
    let policies: [Policy]

    /// Rules count by their names: two that say the same of different clients, layouts or cameras are not one.
    let namesCount: Bool

    /// - Parameter variesRights: clients differ in their rights, even where all policies agree about these.
    init(_ policies: [Policy], variesRights: Bool = false, namesCount: Bool = false) {
        self.policies = policies
        self.namesCount = namesCount
        // Where the seat gives no right, nobody would have any.
        differInRights = variesRights || Set(policies.map(\.rights)).count > 1 || policies.contains { !$0.rights.seat }
        tests = policies.flatMap { policy in
            policy.causeRules.flatMap(\.when) + policy.rankRules.flatMap(\.when)
                + policy.statements.flatMap(\.testsRead)
        }
        order = unique(policies.flatMap(\.contention.order))
    }

    private func reads(_ key: String) -> Bool { tests.contains { $0.written.key == key } }

    var layout: Bool { reads("layout") }
    var focus: Bool { reads("focused") || order.contains(.focused) }
    var presence: Bool {
        layout || focus || reads("presence") || reads("foreground-apps") || order.contains(.foreground)
    }
    var foregroundApps: Bool { reads("foreground-apps") }
    var microphone: Bool { reads("microphone") }
    var multitasking: Bool { reads("multitasking") }
    var audio: Bool { reads("uses-audio") }
    var sharing: Bool { policies.contains { $0.contention.sharing != .none } }
    var bids: Bool { reads("bid") }
    var operatorChoice: Bool { reads("operator") || order.contains(.operatorChosen) }
    var recording: Bool {
        reads("recording") || order.contains(.recording)
            || policies.flatMap(\.statements).contains { $0.parts.contains(.recording) }
    }
    var graces: Bool { policies.contains { $0.rankRules.contains { $0.grace > .zero } } }
    /// The weakest rank, which a client may take for itself; of several policies, one that all of them know.
    var lowering: [String] {
        guard let first = policies.first, first.ranks.count > 1 else { return [] }
        return first.ranks.last { rank in policies.allSatisfy { $0.ranks.contains(rank) } }.map { [$0] } ?? []
    }

    var asks: Bool { policies.contains { $0.rights.apps == .ask } }

    /// The formats of a camera by which its cost differs: of each cost that a format has, under all policies together, the
    /// first format, the cheapest first. Empty: the cost is the same with every format.
    func formats(of camera: CameraID) -> [String] {
        let keys = policies.flatMap { $0.cost(camera).formats }
        guard !keys.isEmpty else { return [] }
        let named = keys.map {
            CameraFormat(
                pixelFormat: $0.pixelFormat ?? "420v", width: $0.width, height: $0.height, minFrameRate: 1,
                maxFrameRate: $0.frameRate)
        }
        // The last is one that no key names.
        let formats =
            unique(named) + [CameraFormat(pixelFormat: "420v", width: 2, height: 2, minFrameRate: 1, maxFrameRate: 1)]
        let costs = formats.map { format in policies.map { $0.cost(camera).of(format, at: format.maxFrameRate) } }
        let order = formats.indices.sorted { (costs[$0].reduce(0, +), $0) < (costs[$1].reduce(0, +), $1) }
        var seen: Set<[Int]> = []
        return order.filter { seen.insert(costs[$0]).inserted }.map { formats[$0].name }
    }

    /// Every level that a rule names, and the one below all.
    var pressures: [SystemPressure] {
        let named = tests.compactMap { if case .pressure(let level) = $0 { level } else { nil } }
        return named.isEmpty ? [] : unique([.nominal] + named).sorted()
    }

    /// Every mode that a rule names, and one that none names: where there is no other, that none is in force. Nil is none.
    var modes: [String?] {
        let named = unique(tests.compactMap { test in if case .mode(let name) = test { name } else { String?.none } })
        guard reads("mode") else { return [] }
        let other = policies.flatMap(\.modes).map(\.name).first { !named.contains($0) }
        return [nil] + named.map { $0 } + (other.map { [$0] } ?? [])
    }

    /// Whether somebody else than a shell or an agent says where apps are.
    var sources: [PresenceSource] { unique(policies.compactMap(\.sources.first)) }
    /// Those that no world has, since none of the policies believes them first.
    var sourcesUnheard: [PresenceSource] {
        presence ? unique(policies.flatMap(\.sources)).filter { !sources.contains($0) } : []
    }
    var login: Bool { reads("login-session") || sources.contains(.loginSession) }

    /// An app's word about itself counts otherwise where another user's sessions ask to run.
    var declares: Bool { sources.contains(.selfDeclared) }

    // Rights to use cameras at all. Where all policies agree and the seat gives one, every client in a world has them, as its
    // user sits there.
    private let differInRights: Bool
    var entitledUsers: [UInt32] {
        differInRights ? unique(policies.flatMap { $0.rights.users.compactMap(\.number) }) : []
    }
    var entitledGroups: [UInt32] {
        differInRights ? unique(policies.flatMap { $0.rights.groups.compactMap(\.number) }) : []
    }
    var entitledServices: [String] { differInRights ? unique(policies.flatMap(\.rights.services)) : [] }
    /// A client outside any login session has a right by name only.
    var outsiders: Bool { !(entitledUsers.isEmpty && entitledGroups.isEmpty && entitledServices.isEmpty) }
    var weakness: Bool { differInRights && policies.contains { $0.rights.identity == .strong } }

    var namedUsers: [UInt32] { unique(tests.compactMap { if case .user(let user) = $0 { user } else { nil } }) }
    /// Those that clients run for. A second one counts where a policy tells users apart by more than their numbers.
    var users: [UInt32] {
        let usual = Names.usualUser
        return unique([usual] + (login || sharing || declares ? [usual + 1] : []) + namedUsers + entitledUsers)
    }

    var cameras: [CameraID] {
        unique(
            policies.flatMap { $0.cameras.flatMap { [$0.camera] + $0.conflicts } }
                + tests.compactMap { if case .camera(let camera) = $0 { camera } else { nil } })
    }

    /// What rules and tables say of a camera beside others, in words that are equal where it makes no difference.
    func signature(of camera: CameraID, among others: [CameraID]) -> String {
        let isNamed = tests.contains { $0 == .camera(camera) }
        return policies.map { policy in
            let links = others.filter { policy.conflict(camera, $0) }.count
            let cost = policy.cost(camera)
            let formats = cost.formats.map { "\($0.key) \($0.cost)" }.joined(separator: " ")
            return "\(cost.other) \(formats) \(links)"
        }.joined(separator: ", ") + (isNamed || namesCount || !positions.isEmpty ? " \(camera.name)" : "")
    }

    var positions: [CameraPosition] {
        unique(tests.compactMap { if case .position(let position) = $0 { position } else { nil } })
    }

    /// Every one that a rule names and one that none names; where none is named, one stands for all.
    var positionsToldApart: [CameraPosition] {
        let named = positions
        if named.isEmpty { return [.external] }
        let other = CameraPosition.allCases.first { !named.contains($0) }
        return CameraPosition.allCases.filter { named.contains($0) || $0 == other }
    }

    /// For each rule, statement and part: the tests that stand together.
    var conjunctions: [[FactTest]] {
        policies.flatMap { policy in
            policy.causeRules.map(\.when) + policy.rankRules.map(\.when)
                + policy.statements.flatMap(\.conjunctions)
        }
    }
}

func unique<T: Equatable>(_ all: [T]) -> [T] {
    var found: [T] = []
    for one in all where !found.contains(one) { found.append(one) }
    return found
}

extension PolicyReads {
    /// Each declared attribute that is read, with every value that can change an outcome among so many apps. The value
    /// that holds for an app which was told nothing is nil: such an app is told to be forgotten. Where only rules read
    /// it: those that they name, and one that none of them names, or the attribute would never change. Where the order
    /// compares it, too: of each run of values that no rule names as many as there are apps, so that each app may have
    /// one of its own.
    func attributes(among apps: Int) -> [(name: String, values: [String?])] {
        var found: [(name: String, values: [String?])] = []
        for name in unique(policies.flatMap(\.attributes).map(\.name)) {
            let named = tests.compactMap { test in
                if case .attribute(name, let value) = test { value } else { nil }
            }
            let isOrdered = order.contains(.attribute(name))
            guard isOrdered || !named.isEmpty else { continue }
            var values: [String?] = []
            let declared = policies.flatMap(\.attributes).filter { $0.name == name }
            let isOneDefault = unique(declared.map(\.defaultValue)).count == 1
            for attribute in declared {
                let chosen = Self.values(of: attribute, named, ownValues: isOrdered ? apps : nil)
                values += chosen.map { isOneDefault && $0 == attribute.defaultValue ? nil : $0 }
            }
            if !isOneDefault { values.append(nil) }
            found.append((name, unique(values)))
        }
        return found
    }

    /// - Parameter ownValues: how many apps are to have values of their own; nil: the order does not compare them.
    private static func values(of attribute: Attribute, _ named: [String], ownValues: Int?) -> [String] {
        guard let ownValues else {
            let other = named.contains(attribute.defaultValue) ? attribute.values.first { !named.contains($0) } : nil
            return attribute.values.filter { named.contains($0) || $0 == attribute.defaultValue || $0 == other }
        }
        var chosen: [String] = []
        for run in attribute.values.split(whereSeparator: named.contains) {
            // The ends, and the default where it is one of them; the others from the strongest on.
            var wanted = unique([
                run.first, run.last, run.contains(attribute.defaultValue) ? attribute.defaultValue : nil,
            ]).compactMap { $0 }
            wanted += run.filter { !wanted.contains($0) }.prefix(max(0, ownValues - wanted.count))
            chosen += wanted
        }
        return attribute.values.filter { named.contains($0) || chosen.contains($0) }
    }
}

/// Layouts that no policy tells apart. A small world needs one of each class: put an app into the other one, and every
/// rule answers the same.
extension PolicyReads {
    var layouts: [Presence.Layout] {
        Presence.Layout.allCases.reduce(into: []) { chosen, layout in
            if !chosen.contains(where: { areAlike($0, layout) }) { chosen.append(layout) }
        }
    }

    /// Exchanging the two leaves every list of rules as it was, except the names of rules and the order of
    /// neighbours that never match together.
    private func areAlike(_ a: Presence.Layout, _ b: Presence.Layout) -> Bool {
        func other(_ layout: Presence.Layout) -> Presence.Layout { layout == a ? b : layout == b ? a : layout }
        return policies.allSatisfy { policy in
            let causes = policy.causeRules.map {
                Clause(for: "\($0.cause.rawValue) \($0.access.rawValue) \(namesCount ? $0.name : "")", $0.when)
            }
            let ranks = policy.rankRules.map { Clause(for: "\($0.plain) \(namesCount ? $0.name : "")", $0.when) }
            let statements = policy.statements.flatMap { statement in
                statement.conjunctions.enumerated().map { Clause(for: "\(statement.name) \($0.offset)", $0.element) }
            }
            return [causes, ranks, statements].allSatisfy { clauses in
                Clause.sorted(clauses) == Clause.sorted(clauses.map { $0.exchanging(other) })
            }
        }
    }

    private struct Clause: Equatable {
        let answer: String
        var layout: Presence.Layout?
        let rest: [FactTest]

        init(for answer: String, _ when: [FactTest]) {
            self.answer = answer
            layout = when.lazy.compactMap { if case .layout(let layout) = $0 { layout } else { nil } }.first
            rest = when.filter { if case .layout = $0 { false } else { true } }
        }

        func exchanging(_ other: (Presence.Layout) -> Presence.Layout) -> Clause {
            var clause = self
            clause.layout = layout.map(other)
            return clause
        }

        /// Neighbours of different layouts never match together, so their order means nothing: it is made one.
        static func sorted(_ clauses: [Clause]) -> [Clause] {
            var clauses = clauses
            for end in clauses.indices {
                for index in stride(from: end, to: 0, by: -1) {
                    guard let first = clauses[index - 1].layout, let second = clauses[index].layout,
                        second.rawValue < first.rawValue
                    else { break }
                    clauses.swapAt(index - 1, index)
                }
            }
            return clauses
        }
    }
}
