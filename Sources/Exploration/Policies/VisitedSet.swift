import Arbiter

/// The states that a walk has been to: their fingerprints, in one flat table.
///
/// 16 bytes a place, open addressing, at most two thirds full: no allocation for an element, and one cache line
/// for most look-ups.
struct VisitedSet {
    private var places: [Fingerprint]
    private var mask: Int
    private(set) var count = 0

    /// What stands in a place that is free; a fingerprint that happens to be it is moved by one.
    private static let free = Fingerprint(first: 0, second: 0)

    init() {
        places = Array(repeating: Self.free, count: 1 << 12)
        mask = places.count - 1
    }

    var bytes: Int { places.count * MemoryLayout<Fingerprint>.stride }

    /// False: it was there.
    mutating func insert(_ fingerprint: Fingerprint) -> Bool {
        let wanted = fingerprint == Self.free ? Fingerprint(first: 0, second: 1) : fingerprint
        if 3 * count >= 2 * places.count { grow() }
        var index = Int(truncatingIfNeeded: wanted.first) & mask
        while places[index] != Self.free {
            if places[index] == wanted { return false }
            index = (index + 1) & mask
        }
        places[index] = wanted
        count += 1
        return true
    }

    private mutating func grow() {
        let old = places
        places = Array(repeating: Self.free, count: 2 * old.count)
        mask = places.count - 1
        for fingerprint in old where fingerprint != Self.free {
            var index = Int(truncatingIfNeeded: fingerprint.first) & mask
            while places[index] != Self.free { index = (index + 1) & mask }
            places[index] = fingerprint
        }
    }
}

/// How each state of a walk was reached: from which, and by which of the things that may happen there.
/// Six bytes a state; the states themselves are not kept.
struct Ways {
    private var parents: [UInt32] = []
    private var choices: [UInt16] = []

    var count: Int { parents.count }
    var bytes: Int { parents.capacity * 4 + choices.capacity * 2 }

    /// More do not fit into the numbers; it is far beyond any memory that a walk is given.
    static let countMax = Int(UInt32.max) - 1

    /// The first has no parent.
    mutating func append(parent: Int, choice: Int) -> Int {
        parents.append(UInt32(truncatingIfNeeded: parent))
        choices.append(UInt16(truncatingIfNeeded: choice))
        return parents.count - 1
    }

    func parent(of state: Int) -> Int { Int(parents[state]) }
    func choice(of state: Int) -> Int { Int(choices[state]) }

    /// The choices from the first state to this one.
    func path(to state: Int) -> [Int] {
        var path: [Int] = []
        var index = state
        while index > 0 {
            path.append(Int(choices[index]))
            index = Int(parents[index])
        }
        return path.reversed()
    }
}
