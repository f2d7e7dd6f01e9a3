public import ArbiterProtocol

/// Times as a person writes them: `2s`, `1.5s`, `250ms`, `3min`. Absolute ones count from the scenario's start.
public enum TimeText {
    /// The units, the longest suffix first, so that `ms` is not read as `s`.
    private static let units: [(suffix: String, nanoseconds: Int64)] = [
        ("min", 60_000_000_000), ("ms", 1_000_000), ("us", 1000), ("ns", 1), ("s", 1_000_000_000),
    ]

    /// Nil when the text is no time: no number, no unit, negative, or finer than a nanosecond.
    public static func parse(_ text: some StringProtocol) -> Duration? {
        guard let unit = units.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
        let number = text.dropLast(unit.suffix.count)
        let parts = number.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, !first.isEmpty, first.allSatisfy(\.isASCIIDigit), let whole = Int64(first)
        else { return nil }
        let (product, overflow) = whole.multipliedReportingOverflow(by: unit.nanoseconds)
        guard !overflow else { return nil }
        guard parts.count == 2 else { return .nanoseconds(product) }
        let digits = parts[1]
        // Nine digits reach from a second to its nanosecond; `0.1ns` names nothing.
        guard !digits.isEmpty, digits.count <= 9, digits.allSatisfy(\.isASCIIDigit), let numerator = Int64(digits)
        else { return nil }
        let divisor = digits.reduce(Int64(1)) { product, _ in product * 10 }
        let (scaled, fractionOverflow) = numerator.multipliedReportingOverflow(by: unit.nanoseconds)
        guard !fractionOverflow, scaled % divisor == 0 else { return nil }
        let (sum, sumOverflow) = product.addingReportingOverflow(scaled / divisor)
        return sumOverflow ? nil : .nanoseconds(sum)
    }

    /// The shortest of `0s`, `250ms`, `1.5s`, that reads back as the same duration.
    public static func write(_ duration: Duration) -> String {
        let signed = duration.wholeNanoseconds
        // The magnitude, since the least duration there is has no positive one of its own.
        return (signed < 0 ? "-" : "") + write(nanoseconds: signed.magnitude)
    }

    private static func write(nanoseconds: UInt64) -> String {
        if nanoseconds > 0, nanoseconds < 1_000_000_000, nanoseconds % 1_000_000 == 0 {
            return "\(nanoseconds / 1_000_000)ms"
        }
        let seconds = nanoseconds / 1_000_000_000
        var fraction = nanoseconds % 1_000_000_000
        guard fraction != 0 else { return "\(seconds)s" }
        var width = 9
        while fraction % 10 == 0 {
            fraction /= 10
            width -= 1
        }
        let digits = String(fraction)
        return "\(seconds)." + String(repeating: "0", count: width - digits.count) + digits + "s"
    }

    public static func write(_ moment: Moment, from origin: Moment = .zero) -> String { write(moment - origin) }
}

extension Character {
    var isASCIIDigit: Bool { self >= "0" && self <= "9" }
}
