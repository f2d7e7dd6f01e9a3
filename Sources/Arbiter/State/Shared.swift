/// A value behind a reference: however large it is, copying what contains it costs a count.
///
/// It is a value all the same: changing one copy leaves the others alone. Meant for what is read at every step and
/// hardly ever changes. Two copies of one value compare by identity first.
struct Shared<Value> {
    private final class Box {
        // Reached only through the struct, whose own accesses exclude each other: no need to check that again.
        @exclusivity(unchecked) var value: Value
        init(_ value: Value) { self.value = value }
    }

    private var box: Box

    init(_ value: Value) { box = Box(value) }

    var value: Value {
        @inline(__always) _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }
}

extension Shared: Equatable where Value: Equatable {
    static func == (a: Shared, b: Shared) -> Bool { a.box === b.box || a.box.value == b.box.value }
}

extension Shared: Hashable where Value: Hashable {
    func hash(into hasher: inout Hasher) { hasher.combine(box.value) }
}

// Only a box that nobody else has is ever written.
extension Shared: @unchecked Sendable where Value: Sendable {}
