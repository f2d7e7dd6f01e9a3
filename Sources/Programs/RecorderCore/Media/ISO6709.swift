/// The text form of a place (ISO 6709, annex H): `+48.2082+016.3738+151/`.
enum ISO6709 {
    static let sentence =
        "a place as ISO 6709 writes it: latitude and longitude with signs, in degrees (and minutes, and seconds), a height "
        + "in meters where there is one, and a slash, like +48.2082+016.3738/"

    /// Digits of a height, and characters of its reference system's name: more than any has.
    private static let heightDigitsMax = 12
    private static let systemMax = 32

    static func isPlace(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        guard rest.popLast() == UInt8(ascii: "/"), angle(&rest, degreeDigits: 2, most: 90),
            angle(&rest, degreeDigits: 3, most: 180)
        else { return false }
        if rest.isEmpty { return true }
        // A height, and its reference system.
        if let height = signed(&rest), height.whole.isEmpty || height.whole.count > heightDigitsMax { return false }
        return rest.isEmpty || isSystem(rest)
    }

    /// Degrees, degrees and minutes, or degrees, minutes and seconds; the last of them may have decimals.
    private static func angle(_ rest: inout ArraySlice<UInt8>, degreeDigits: Int, most: Double) -> Bool {
        guard let (digits, decimals) = signed(&rest) else { return false }
        let parts = digits.count - degreeDigits
        guard [0, 2, 4].contains(parts) else { return false }
        var units = [number(digits.prefix(degreeDigits))]
        for place in stride(from: degreeDigits, to: digits.count, by: 2) {
            units.append(number(digits.dropFirst(place).prefix(2)))
        }
        guard units.dropFirst().allSatisfy({ $0 < 60 }) else { return false }
        // Only whether there is anything behind the point matters to the greatest.
        if decimals.contains(where: { $0 != UInt8(ascii: "0") }) { units[units.count - 1] += 0.5 }
        return units.reversed().reduce(0) { $0 / 60 + $1 } <= most
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Double {
        digits.reduce(0) { $0 * 10 + Double($1 - UInt8(ascii: "0")) }
    }

    /// Takes a sign, digits, and perhaps a point with digits behind it; `nil`, and nothing is taken, where there is no sign.
    private static func signed(
        _ rest: inout ArraySlice<UInt8>
    ) -> (whole: ArraySlice<UInt8>, decimals: ArraySlice<UInt8>)? {
        func digits() -> ArraySlice<UInt8> {
            let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            rest = rest.dropFirst(digits.count)
            return digits
        }
        guard let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
        rest = rest.dropFirst()
        let whole = digits()
        guard rest.first == UInt8(ascii: ".") else { return (whole, []) }
        rest = rest.dropFirst()
        let decimals = digits()
        // A point has digits behind it.
        return decimals.isEmpty ? ([], []) : (whole, decimals)
    }

    private static func isSystem(_ name: ArraySlice<UInt8>) -> Bool {
        name.starts(with: "CRS".utf8) && name.count > 3 && name.count <= systemMax
            && name.map { Unicode.Scalar($0) }.allSatisfy { character in
                switch character {
                case "A"..."Z", "a"..."z", "0"..."9", "_": true
                default: false
                }
            }
    }
}
