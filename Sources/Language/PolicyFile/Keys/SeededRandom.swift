/// SplitMix64: the same seed gives the same numbers on every machine and in every version of Swift.
public struct SeededRandom: Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// From 0 up to and without `bound`, which is positive. The bias of the remainder is below 2⁻⁵⁰ here.
    public mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    public mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    public mutating func pick<T>(_ values: [T]) -> T { values[below(values.count)] }

    /// Some of them, in any order, at least one.
    public mutating func some<T>(_ values: [T]) -> [T] {
        let values = shuffled(values)
        return Array(values.prefix(1 + below(values.count)))
    }

    /// The standard library's version depends on its own draws.
    public mutating func shuffled<T>(_ values: [T]) -> [T] {
        var values = values
        for index in values.indices.dropFirst().reversed() { values.swapAt(index, below(index + 1)) }
        return values
    }
}
