import Arbiter
import ArbiterProtocol
import PolicyFile
import Scenario

/// The facts that one or several policies read: a small world needs no event that changes another.
package struct PolicyReads {
    let tests: [FactTest]
    let order: [Contention.OrderKey]
    let policies: [Policy]
    /// Rules count by their names: equal rules for other clients, layouts or cameras are distinct.
    let namesCount: Bool
    /// Where all policies agree about rights and the seat gives one, every client has them, as its user sits there.
    private let differInRights: Bool

    /// - Parameter variesRights: clients differ in their rights, even where all policies agree about these.
    init(_ policies: [Policy], variesRights: Bool = false, namesCount: Bool = false) {
        (self.policies, self.namesCount) = (policies, namesCount)
        // Without the seat's right, no client would have any.
        differInRights = variesRights || Set(policies.map(\.rights)).count > 1 || policies.contains { !$0.rights.seat }
        tests = policies.flatMap { policy in
            policy.causeRules.flatMap(\.when) + policy.rankRules.flatMap(\.when)
                + policy.statements.flatMap(\.testsRead)
        }
        order = unique(policies.flatMap(\.contention.order))
    }

    private func reads(_ key: String) -> Bool { tests.contains { $0.written.key == key } }

    private func named<Value: Equatable>(_ value: (FactTest) -> Value?) -> [Value] { unique(tests.compactMap(value)) }

    var layout: Bool { reads("layout") }
    var focus: Bool { reads("focused") || order.contains(.focused) }
    var presence: Bool {
        layout || focus || reads("presence") || reads("foreground-apps") || order.contains(.foreground)
    }
    var foregroundApps: Bool { reads("foreground-apps") }
    var microphone: Bool { reads("microphone") }
    var multitasking: Bool { reads("multitasking") }
    var audio: Bool { reads("uses-audio") }
    /// A batch takes control of a shared camera.
    var commits: Bool { policies.contains { $0.contention.sharing == .all } }
    var sharing: Bool { policies.contains { $0.contention.sharing != .none } }
    var bids: Bool { reads("bid") }
    var operatorChoice: Bool { reads("operator") || order.contains(.operatorChosen) }
    var recording: Bool {
        reads("recording") || order.contains(.recording)
            || policies.flatMap(\.statements).contains { $0.parts.contains(.recording) }
    }
    var graces: Bool { policies.contains { $0.rankRules.contains { $0.grace > .zero } } }
    /// The weakest rank that all policies know, which a client may take for itself.
    var lowering: [String] {
        guard let first = policies.first, first.ranks.count > 1 else { return [] }
        return first.ranks.last { rank in policies.allSatisfy { $0.ranks.contains(rank) } }.map { [$0] } ?? []
    }

    var asks: Bool { policies.contains { $0.rights.apps == .ask } }

    /// For each cost that a format of a camera has, under all policies together, the first format, the cheapest first. Empty where
    /// the cost is the same with every format.
    func formats(of camera: CameraID) -> [String] {
        let keys = policies.flatMap { $0.cost(camera).formats }
        guard !keys.isEmpty else { return [] }
        func format(_ pixelFormat: String, _ width: Int, _ height: Int, _ frameRate: Double) -> CameraFormat {
            CameraFormat(
                pixelFormat: pixelFormat, width: width, height: height, minFrameRate: 1, maxFrameRate: frameRate)
        }
        // The last is a format that no key names.
        let formats =
            unique(keys.map { format($0.pixelFormat ?? "420v", $0.width, $0.height, $0.frameRate) })
            + [format("420v", 2, 2, 1)]
        let costs = formats.map { format in policies.map { $0.cost(camera).of(format, at: format.maxFrameRate) } }
        let order = formats.indices.sorted { (costs[$0].reduce(0, +), $0) < (costs[$1].reduce(0, +), $1) }
        var seen: Set<[Int]> = []
        return order.filter { seen.insert(costs[$0]).inserted }.map { formats[$0].name }
    }

    /// Every level that a rule names, and the level below all.
    var pressures: [SystemPressure] {
        let levels = named { if case .pressure(let level) = $0 { level } else { nil } }
        return levels.isEmpty ? [] : unique([.nominal] + levels).sorted()
    }

    /// Every mode that a rule names, one that no rule names, and none (`nil`).
    var modes: [String?] {
        let names = named { if case .mode(let name) = $0 { name } else { String?.none } }
        guard reads("mode") else { return [] }
        let other = policies.flatMap(\.modes).map(\.name).first { !names.contains($0) }
        return [nil] + names.map { $0 } + (other.map { [$0] } ?? [])
    }

    /// The first source that each policy believes.
    var sources: [PresenceSource] { unique(policies.compactMap(\.sources.first)) }
    /// Sources that no world has, since no policy believes them first.
    var sourcesUnheard: [PresenceSource] {
        presence ? unique(policies.flatMap(\.sources)).filter { !sources.contains($0) } : []
    }
    var login: Bool { reads("login-session") || sources.contains(.loginSession) }

    /// An app's word about itself counts otherwise while another user's sessions ask to run.
    var declares: Bool { sources.contains(.selfDeclared) }

    var entitledUsers: [UInt32] {
        differInRights ? unique(policies.flatMap { $0.rights.users.compactMap(\.number) }) : []
    }
    var entitledGroups: [UInt32] {
        differInRights ? unique(policies.flatMap { $0.rights.groups.compactMap(\.number) }) : []
    }
    var entitledServices: [String] { differInRights ? unique(policies.flatMap(\.rights.services)) : [] }
    /// A client outside any login session has a right only by name.
    var outsiders: Bool { !(entitledUsers.isEmpty && entitledGroups.isEmpty && entitledServices.isEmpty) }
    var weakness: Bool { differInRights && policies.contains { $0.rights.identity == .strong } }

    var namedUsers: [UInt32] { named { if case .user(let user) = $0 { user } else { nil } } }
    /// A second user counts where a policy tells users apart by more than their numbers.
    var users: [UInt32] {
        let usual = Names.usualUser
        return unique([usual] + (login || sharing || declares ? [usual + 1] : []) + namedUsers + entitledUsers)
    }

    var cameras: [CameraID] {
        unique(
            policies.flatMap { $0.cameras.flatMap { [$0.camera] + $0.conflicts } }
                + named { if case .camera(let camera) = $0 { camera } else { nil } })
    }

    /// Equal for two cameras that rules and tables do not tell apart beside the others.
    func signature(of camera: CameraID, among others: [CameraID]) -> String {
        let isNamed = tests.contains { $0 == .camera(camera) }
        return policies.map { policy in
            let links = others.filter { policy.conflict(camera, $0) }.count
            let cost = policy.cost(camera)
            let formats = cost.formats.map { "\($0.key) \($0.cost)" }.joined(separator: " ")
            return "\(cost.other) \(formats) \(links)"
        }.joined(separator: ", ") + (isNamed || namesCount || !positions.isEmpty ? " \(camera.name)" : "")
    }

    var positions: [CameraPosition] { named { if case .position(let position) = $0 { position } else { nil } } }

    /// Every position that a rule names, and one that no rule names.
    var positionsToldApart: [CameraPosition] {
        let named = positions
        if named.isEmpty { return [.external] }
        let other = CameraPosition.allCases.first { !named.contains($0) }
        return CameraPosition.allCases.filter { named.contains($0) || $0 == other }
    }

    /// The tests of each rule, statement and part.
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
    /// Each declared attribute that is read, with every value that can change an outcome among so many apps. The value of an app
    /// that was told nothing is `nil`. Where only rules read it: the values that they name, and one that no rule names, so that the
    /// attribute can change. Where the order compares it, too: of each run of values that no rule names one for each app.
    func attributes(among apps: Int) -> [(name: String, values: [String?])] {
        unique(policies.flatMap(\.attributes).map(\.name)).compactMap { name in
            let named = tests.compactMap { if case .attribute(name, let value) = $0 { value } else { nil } }
            let isOrdered = order.contains(.attribute(name))
            guard isOrdered || !named.isEmpty else { return nil }
            let declared = policies.flatMap(\.attributes).filter { $0.name == name }
            let isOneDefault = unique(declared.map(\.defaultValue)).count == 1
            let values = declared.flatMap { attribute in
                Self.values(of: attribute, named, ownValues: isOrdered ? apps : nil)
                    .map { isOneDefault && $0 == attribute.defaultValue ? nil : $0 }
            }
            return (name, unique(isOneDefault ? values : values + [nil]))
        }
    }

    /// - Parameter ownValues: how many apps need values of their own; `nil` where the order does not compare them.
    private static func values(of attribute: Attribute, _ named: [String], ownValues: Int?) -> [String] {
        guard let ownValues else {
            let other = named.contains(attribute.defaultValue) ? attribute.values.first { !named.contains($0) } : nil
            return attribute.values.filter { named.contains($0) || $0 == attribute.defaultValue || $0 == other }
        }
        let chosen = attribute.values.split(whereSeparator: named.contains).flatMap { run in
            // The ends, and the default where it is among them; the others from the strongest on.
            let wanted = unique([
                run.first, run.last, run.contains(attribute.defaultValue) ? attribute.defaultValue : nil,
            ]).compactMap { $0 }
            return wanted + run.filter { !wanted.contains($0) }.prefix(max(0, ownValues - wanted.count))
        }
        return attribute.values.filter { named.contains($0) || chosen.contains($0) }
    }
}

extension PolicyReads {
    /// One layout of each class that no policy tells apart.
    var layouts: [Presence.Layout] {
        var seen: Set<RuleSignature> = []
        return Presence.Layout.allCases.filter { layout in
            seen.insert(
                RuleSignature(self) { tests in
                    var rest: [FactTest] = []
                    for test in tests {
                        if case .layout(let wanted) = test {
                            if wanted != layout { return nil }
                        } else {
                            rest.append(test)
                        }
                    }
                    return rest
                }
            ).inserted
        }
    }
}
