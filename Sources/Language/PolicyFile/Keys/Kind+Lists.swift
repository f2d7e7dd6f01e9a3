import Arbiter
import TomlFile
import Vocabulary

extension Kind<[PresenceSource]> {
    static let sources = Kind(
        takes: "any of \(codes(PresenceSource.allCases.map(\.rawValue)))",
        read: { reader, key, _ in reader.choices(key, PresenceSource.allCases.map { ($0.rawValue, $0) }) },
        write: { sources, _ in TomlText.list(sources.map(\.rawValue)) }, fewer: { $0.withoutOne },
        random: { $0.chance(60) ? $0.some(PresenceSource.allCases) : nil })
}

extension Kind<[Mode.Setter]> {
    static let setters = Kind(
        takes: "any of \(codes(Mode.Setter.allCases.map(\.rawValue)))",
        read: { reader, key, _ in
            reader.choices(key, Mode.Setter.allCases.map { ($0.rawValue, $0) }).map { found in
                Mode.Setter.allCases.filter(found.contains)
            }
        }, write: { setters, _ in TomlText.list(setters.map(\.rawValue)) },
        random: { $0.chance(70) ? nil : [$0.pick(Mode.Setter.allCases)] })
}

extension Kind<Access> {
    // None and all more often, as in most rules.
    static let access = any(of: Access.rights) { random in
        if random.chance(25) { return Access.none }
        if random.chance(15) { return .all }
        return Access.rights.reduce(.none) { random.chance(50) ? $0.union($1.right) : $0 }
    }

    private static let sharersRights = Access.rights.filter { $0.right != .configure }

    /// Control is one session's: a sharer gets it by the policy's `sharing`.
    static let sharers = any(of: sharersRights, orNone: false) { random in
        let some = sharersRights.reduce(Access.none) { random.chance(60) ? $0.union($1.right) : $0 }
        return some.isEmpty ? .sharer : some
    }

    private static func any(
        of rights: [(name: String, right: Access)], orNone: Bool = true,
        random: @escaping @Sendable (inout SeededRandom) -> Access
    ) -> Kind {
        Kind(
            takes: "any of \(codes(rights.map(\.name)))",
            read: { reader, key, _ in
                reader.choices(key, rights.map { ($0.name, $0.right) })?.reduce(.none) { $0.union($1) }
            }, write: { access, _ in TomlText.list(rights.filter { access.contains($0.right) }.map(\.name)) },
            repairs: { access, _ in
                rights.map { access.symmetricDifference($0.right) }.filter { orNone || !$0.isEmpty }
            }, random: random)
    }
}

extension Kind<Cause> {
    static let cause = Kind(
        takes: "one of \(codes(CauseRule.causes.map(\.wireName)))",
        read: { $2.cause($0) }, write: { cause, _ in TomlText.quoted(cause.wireName) },
        repairs: { _, _ in CauseRule.causes }, random: { $0.pick(CauseRule.causes) })
}

extension Kind<[FactTest]> {
    static let facts = Kind(
        takes: "facts in braces",
        read: { reader, key, policy in policy.facts(key, reader) },
        write: { facts, _ in TomlText.inline(facts.map(TomlText.pair)) },
        plain: { facts in facts.sorted { $0.written < $1.written } }, fewer: { $0.withoutOne })
}

extension Kind<Duration?> {
    /// A repair tries only leases that the policy has for other ranks.
    static let lease = Kind.maybe(
        .duration(in: Bounds.lease, 18)
    ).trying { _, policy in [nil] + Set(policy.rankRules.compactMap(\.lease)).sorted() }
}

extension Kind<[String]> {
    static let ranks = Kind(
        takes: "up to \(Bounds.ranksMax) names, the strongest first",
        read: { reader, key, _ in
            guard let names = reader.strings(key, takes: strongestFirst, countMax: Bounds.ranksMax) else { return nil }
            for (name, place) in names { reader.refuse("a name", of: key, FileBounds.complaint(name), at: place) }
            return reader.nonempty(key, names.map(\.text), takes: strongestFirst)
        }, write: { names, _ in TomlText.list(names) })

    static let words = Kind(
        takes: "up to \(Bounds.attributeValuesMax) words of letters, digits and hyphens",
        read: { reader, key, _ in
            guard let values = reader.strings(key, takes: strongestFirst, countMax: Bounds.attributeValuesMax) else {
                return nil
            }
            for (value, place) in values where !Bounds.isWord(value) {
                reader.complain(key, "has \(Wording.quoted(value)) in it; \(Bounds.wordsOnly)", at: place)
            }
            return reader.nonempty(key, values.map(\.text), takes: strongestFirst)
        }, write: { values, _ in TomlText.list(values) })

    private static let strongestFirst = "a list of names, the strongest first"

    static let services = Kind(
        takes: "up to \(Bounds.accessNamesMax) systemd units",
        read: { reader, key, _ in
            let units = reader.strings(key, takes: "a list of systemd units", countMax: Bounds.accessNamesMax)
            return units?.map { name, place in
                reader.refuse("a unit", of: key, FileBounds.complaint(name), at: place)
                return name
            }
        }, write: { services, _ in TomlText.list(services) }, plain: { $0.sorted() }, fewer: { $0.withoutOne })
}

extension Kind<[CalendarSpan]> {
    static let calendar = Kind(
        takes: "`\"22:00-06:00\"`, `\"mon-fri 08:00-18:00\"`, or a list of up to \(Bounds.calendarSpansMax) such",
        read: { reader, key, _ in reader.calendar(key) },
        write: { spans, _ in TomlText.list(spans.map(\.written)) },
        random: { random in
            random.chance(40)
                ? [
                    random.pick([
                        CalendarSpan(from: 22 * 60, to: 6 * 60), CalendarSpan(days: [.mon, .fri], from: 480, to: 1080),
                    ])
                ]
                : nil
        })
}

extension Kind<[Rights.Account]> {
    static func accounts(_ number: @escaping @Sendable (any Accounts, String) -> UInt32?) -> Kind {
        Kind(
            takes: "up to \(Bounds.accessNamesMax) names or numbers",
            read: { reader, key, policy in reader.accounts(key) { number(policy.accounts, $0) } },
            write: { accounts, _ in TomlText.list(values: accounts.map(TomlText.value)) },
            plain: { accounts in accounts.sorted { PolicyHash.key($0) < PolicyHash.key($1) } }, fewer: { $0.withoutOne }
        )
    }
}

extension Kind<PressureSettings.Levels> {
    static func levels(in range: ClosedRange<Double>) -> Kind {
        Kind(
            takes: "`{ fair = …, serious = …, critical = … }`, each \(range.words)",
            read: { reader, key, _ in reader.levels(key, in: range) }, write: { levels, _ in TomlText.levels(levels) },
            random: { random in
                guard random.chance(60) else { return nil }
                return PressureSettings.Levels(serious: 60, critical: random.chance(50) ? 80 : nil)
            })
    }
}

extension Kind<SystemPressure> {
    static let throttling = Kind(
        takes: codes(SystemPressure.allCases.map(\.wireName)),
        read: { reader, key, _ in reader.choice(key, SystemPressure.allCases.map { ($0.wireName, $0) }) },
        write: { level, _ in TomlText.quoted(level.wireName) },
        random: { $0.chance(60) ? $0.pick(SystemPressure.allCases) : nil })
}

extension Kind<CameraID> {
    static let camera = Kind(
        takes: "an id",
        read: { reader, key, _ in reader.label(key).map { CameraID($0) } },
        write: { camera, _ in TomlText.quoted(camera.name) })
}

extension Kind<[CameraID]> {
    /// Without the camera whose table it is.
    static let conflicts = Kind(
        takes: "a list of ids",
        read: { reader, key, _ in
            let own = reader.entry("id").flatMap { if case .string(let id) = $0.node.value { id } else { nil } }
            return reader.strings(key, takes: "a list of camera ids", countMax: Bounds.camerasMax)?.map {
                other, place in
                let complaint = FileBounds.complaint(other)
                reader.refuse("a camera", of: key, complaint, at: place)
                if complaint == nil, other == own {
                    reader.complain(key, "has the camera itself in it", at: place)
                }
                return CameraID(other)
            }
        }, write: { cameras, _ in TomlText.list(cameras.map(\.name)) },
        plain: { cameras in cameras.sorted { $0.name < $1.name } },
        fewer: { $0.withoutOne })
}

extension Kind<[Contention.OrderKey]> {
    static let order = Kind(
        takes: "\(codes(Contention.OrderKey.builtIn.map(\.name))), attributes; one of `newest` and `oldest`",
        read: { reader, key, policy in
            let keys = Contention.OrderKey.builtIn + policy.declared.map { .attribute($0.name) }
            guard let order = reader.choices(key, keys.map { ($0.name, $0) }) else { return nil }
            if order.contains(.newest), order.contains(.oldest), let entry = reader.entry(key) {
                reader.complain(key, "has both \"newest\" and \"oldest\"; the second could never decide")
            }
            return order
        }, write: { order, _ in TomlText.list(order.map(\.name)) },
        shown: { order in "[\(order.map { TomlText.quoted($0.name) }.joined(separator: ", "))]" },
        repairs: { order, policy in neighbours(of: order, policy) }, fewer: { $0.withoutOne })

    /// One key less, two neighbours exchanged, or one key more.
    private static func neighbours(of order: [Contention.OrderKey], _ policy: Policy) -> [[Contention.OrderKey]] {
        var found: [[Contention.OrderKey]] = []
        func add(_ change: (inout [Contention.OrderKey]) -> Void) {
            var changed = order
            change(&changed)
            found.append(changed)
        }
        for index in order.indices {
            add { $0.remove(at: index) }
            if index > 0 { add { $0.swapAt(index, index - 1) } }
        }
        let keys = Contention.OrderKey.builtIn + policy.attributes.map { .attribute($0.name) }
        // The newest and the oldest contradict each other.
        let hasAge = order.contains(.newest) || order.contains(.oldest)
        for key in keys where !order.contains(key) && !(hasAge && [.newest, .oldest].contains(key)) {
            for index in 0...order.count { add { $0.insert(key, at: index) } }
        }
        return found
    }
}
