/// What something answers that we ask again and again: out of bytes, and zeros where they have ended, so that every input has
/// its end.
struct Answers {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: some Collection<UInt8>) { self.bytes = Array(bytes)[...] }

    var isEmpty: Bool { bytes.isEmpty }

    mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    mutating func part(_ count: Int) -> [UInt8] {
        let part = Array(bytes.prefix(count))
        bytes = bytes.dropFirst(count)
        return part + repeatElement(0, count: count - part.count)
    }

    /// Once in so many times, and never where the bytes have ended.
    mutating func isOnce(in count: UInt8) -> Bool { byte() % count == count - 1 }

    /// One that a careful device would say, or one at a bound, or any.
    mutating func number() -> Int64 {
        switch byte() {
        case 0..<160: Int64(Int8(bitPattern: byte()))
        case 160..<192: Int64(UInt16(byte()) << 8 | UInt16(byte()))
        case 192: .max
        case 193: .min
        case 194: Int64(UInt32.max)
        case 195: Int64(Int32.min)
        case 196: .max - 1
        default: part(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        }
    }

    mutating func word() -> UInt32 { UInt32(truncatingIfNeeded: number()) }
}
