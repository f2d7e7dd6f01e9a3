import Arbiter
import TomlFile
import Vocabulary

/// The values of a key: how they are read, written and repaired, and how random policies choose one.
struct Kind<Value: Sendable>: Sendable {
    var takes: String
    /// `nil` where the key is missing, or its value is wrong and was reported.
    var read: @Sendable (TableReader, String, PolicyReader) -> Value?
    /// In TOML; `nil` for no line.
    var write: @Sendable (Value, Policy) -> String?
    /// In messages, where that differs from a file.
    var shown: (@Sendable (Value) -> String?)?
    var plain: @Sendable (Value) -> Value = { $0 }
    /// Values that a repair tries, the smaller changes first.
    var repairs: @Sendable (Value, Policy) -> [Value] = { _, _ in [] }
    var fewer: @Sendable (Value) -> [Value] = { _ in [] }
    /// `nil` leaves the key out.
    var random: @Sendable (inout SeededRandom) -> Value? = { _ in nil }

    func trying(_ repairs: @escaping @Sendable (Value, Policy) -> [Value]) -> Kind {
        var kind = self
        kind.repairs = repairs
        return kind
    }

    /// With `nil` for no value.
    static func maybe<Wrapped>(_ kind: Kind<Wrapped>) -> Kind where Value == Wrapped? {
        Kind(
            takes: kind.takes, read: { reader, key, policy in kind.read(reader, key, policy).map(Value.some) },
            write: { value, policy in value.flatMap { kind.write($0, policy) } },
            shown: { value in value.flatMap { kind.shown?($0) } }, random: { kind.random(&$0).map(Value.some) })
    }
}

extension Kind where Value: CaseIterable & RawRepresentable<String> & Hashable {
    static func choice(_ percent: Int = 100) -> Kind {
        Kind(
            takes: codes(Value.allCases.map(\.rawValue)),
            read: { reader, key, _ in reader.choice(key, Value.self) },
            write: { value, _ in TomlText.quoted(value.rawValue) }, repairs: { _, _ in Array(Value.allCases) },
            random: { $0.chance(percent) ? $0.pick(Array(Value.allCases)) : nil })
    }
}

extension Kind<Bool> {
    static func flag(_ percent: Int) -> Kind {
        Kind(
            takes: "`true`, `false`", read: { reader, key, _ in reader.boolean(key) },
            write: { value, _ in "\(value)" },
            repairs: { value, _ in [!value] }, random: { $0.chance(percent) })
    }
}

extension Kind<Int> {
    static func number(in range: ClosedRange<Int>, _ percent: Int, _ samples: [Int]) -> Kind {
        Kind(
            takes: "`\(range.lowerBound)` to `\(range.upperBound)`",
            read: { reader, key, _ in reader.integer(key, in: range) }, write: { value, _ in "\(value)" },
            random: { $0.chance(percent) ? $0.pick(samples) : nil })
    }

    static let rank = Kind(
        takes: "one of `ranks`", read: { $2.rank($0) }, write: { rank, policy in TomlText.quoted(policy.ranks[rank]) },
        // The nearest first: the smaller change.
        repairs: { now, policy in
            policy.ranks.indices.sorted { (abs($0 - now), $0) < (abs($1 - now), $1) }
        })
}

extension Kind<Duration> {
    static func duration(in range: ClosedRange<Duration>, _ percent: Int) -> Kind {
        let seconds: [Duration] = [1, 2, 3, 5, 10, 20, 60, 180].map { .seconds($0) }
        let samples = ([.zero, .milliseconds(250), .milliseconds(500)] + seconds).filter(range.contains)
        return Kind(
            takes: range.words, read: { reader, key, _ in reader.duration(key, in: range) },
            write: { value, _ in TomlText.quoted(value) }, shown: { "\"\(TimeText.write($0))\"" },
            repairs: { _, _ in [.zero] }, random: { $0.chance(percent) ? $0.pick(samples) : nil })
    }
}

extension Kind<String> {
    static func label(bytesMax: Int = FileBounds.nameBytesMax, emptyAllowed: Bool = false) -> Kind {
        Kind(
            takes: "a line of at most \(bytesMax) bytes",
            read: { reader, key, _ in reader.label(key, emptyAllowed: emptyAllowed, bytesMax: bytesMax) },
            write: { value, _ in TomlText.quoted(value) })
    }

    static let summary: Kind = {
        var kind = label(bytesMax: Bounds.summaryBytesMax, emptyAllowed: true)
        kind.random = { $0.chance(5) ? "Made by chance: it says \"nothing\"." : nil }
        return kind
    }()

    static let message: Kind = {
        var kind = label(bytesMax: Bounds.messageBytesMax, emptyAllowed: true)
        kind.random = { $0.chance(10) ? "Closed until 8:00." : nil }
        return kind
    }()

    static let word: Kind = {
        var kind = label()
        kind.takes = "letters, digits and hyphens, at most \(Bounds.wordBytesMax)"
        return kind
    }()

    static func unit(_ sample: String) -> Kind {
        Kind(
            takes: "the whole name of a service or scope", read: { reader, key, _ in reader.unit(key) },
            write: { value, _ in TomlText.quoted(value) }, random: { $0.chance(5) ? sample : nil })
    }
}

func codes(_ values: [String]) -> String { values.map { "`\($0)`" }.joined(separator: ", ") }

extension Array {
    /// Without one each, the last first.
    var withoutOne: [[Element]] {
        indices.reversed().map { index in
            var fewer = self
            fewer.remove(at: index)
            return fewer
        }
    }
}
