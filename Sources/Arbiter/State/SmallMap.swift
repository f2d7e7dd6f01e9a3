/// A dictionary that is at its best with a handful of entries, and still one with ten thousand.
///
/// Exploration copies a state for every transition, and its maps hold two cameras and three sessions: comparing a few
/// keys is cheaper than hashing one, and a copy shares every entry that is not changed. An entry is read where it
/// lies, too: a session is large, and mostly one of its fields is wanted. Past `fewMax` entries it is a `Dictionary`,
/// as a busy machine needs it.
///
/// It has no order that anybody may rely on: sort, as with a dictionary. Equality does not see the order either.
public struct SmallMap<Key: Hashable, Value> {
    /// Comparing so many keys one by one costs about what one hash costs.
    @usableFromInline static var fewMax: Int { 12 }

    @usableFromInline final class Entry {
        @usableFromInline let key: Key
        /// Nil only while a value is changed where it lies, and may go. Changed only in an entry of one map alone, and
        /// reached only through a map, whose own accesses exclude each other: no need to check that again.
        @exclusivity(unchecked) @usableFromInline var value: Value?

        @inlinable init(_ key: Key, _ value: Value?) {
            self.key = key
            self.value = value
        }
    }

    /// All entries, or none.
    @usableFromInline var few: [Entry] = []
    @usableFromInline var many: [Key: Value] = [:]

    @inlinable public init() {}

    @inlinable public var count: Int { few.count + many.count }
    @inlinable public var isEmpty: Bool { few.isEmpty && many.isEmpty }

    /// In no order, each once.
    @inlinable public var keys: [Key] { isEmpty ? [] : map { $0.key } }
    @inlinable public var values: [Value] { isEmpty ? [] : map { $0.value } }

    @inlinable public subscript(key: Key) -> Value? {
        @inline(__always) _read {
            if !many.isEmpty {
                yield many[key]
            } else if let place = place(of: key) {
                yield few[place].value
            } else {
                yield nil
            }
        }
        _modify {
            if !many.isEmpty {
                yield &many[key]
            } else if let place = place(of: key) {
                defer { if few[place].value == nil { few.remove(at: place) } }
                if !isKnownUniquelyReferenced(&few[place]) {
                    few[place] = Entry(key, few[place].value)
                }
                yield &few[place].value
            } else {
                var value: Value?
                defer { if let value { add(key, value) } }
                yield &value
            }
        }
    }

    /// Reads a part of a value where it lies: nothing else of it is copied.
    @inline(__always) @inlinable public func read<Part>(_ key: Key, _ part: (Value) -> Part?) -> Part? {
        guard many.isEmpty else { return many[key].flatMap(part) }
        guard let place = place(of: key), let value = few[place].value else { return nil }
        return part(value)
    }

    @inlinable public subscript(key: Key, default fallback: @autoclosure () -> Value) -> Value {
        get { self[key] ?? fallback() }
        _modify {
            var value = removeValue(forKey: key) ?? fallback()
            defer { self[key] = value }
            yield &value
        }
    }

    @inlinable @discardableResult public mutating func removeValue(forKey key: Key) -> Value? {
        guard many.isEmpty else { return many.removeValue(forKey: key) }
        guard let place = place(of: key) else { return nil }
        return few.remove(at: place).value
    }

    @inlinable public func filter(_ isKept: ((key: Key, value: Value)) -> Bool) -> Self {
        var kept = Self()
        for entry in self where isKept(entry) { kept[entry.key] = entry.value }
        return kept
    }

    @inline(__always) @inlinable func place(of key: Key) -> Int? {
        for index in few.indices where few[index].key == key { return index }
        return nil
    }

    @inlinable mutating func add(_ key: Key, _ value: Value) {
        guard few.count >= Self.fewMax else { return few.append(Entry(key, value)) }
        many.reserveCapacity(2 * few.count)
        for entry in few { many[entry.key] = entry.value }
        many[key] = value
        few = []
    }
}

extension SmallMap: ExpressibleByDictionaryLiteral {
    @inlinable public init(dictionaryLiteral elements: (Key, Value)...) {
        for (key, value) in elements { self[key] = value }
    }
}

extension SmallMap: Sequence {
    public struct Iterator: IteratorProtocol {
        @usableFromInline var few: IndexingIterator<[Entry]>
        @usableFromInline var many: [Key: Value].Iterator

        @inlinable init(_ map: SmallMap) {
            few = map.few.makeIterator()
            many = map.many.makeIterator()
        }

        @inlinable public mutating func next() -> (key: Key, value: Value)? {
            if let entry = few.next(), let value = entry.value { return (entry.key, value) }
            return many.next()
        }
    }

    @inlinable public func makeIterator() -> Iterator { Iterator(self) }
    @inlinable public var underestimatedCount: Int { count }
}

extension SmallMap: Equatable where Value: Equatable {
    @inlinable public static func == (a: Self, b: Self) -> Bool {
        a.count == b.count && a.allSatisfy { b[$0.key] == $0.value }
    }
}

extension SmallMap: Hashable where Value: Hashable {
    @inlinable public func hash(into hasher: inout Hasher) {
        var sum = 0
        for (key, value) in self {
            var entry = Hasher()
            entry.combine(key)
            entry.combine(value)
            sum ^= entry.finalize()
        }
        hasher.combine(sum)
    }
}

extension SmallMap: Sendable where Key: Sendable, Value: Sendable {}
// Only an entry that no other map has is ever written.
extension SmallMap.Entry: @unchecked Sendable where Key: Sendable, Value: Sendable {}
