/// Times as a person writes them: `2s`, `1.5s`, `250ms`, `3min`. Absolute ones count from an origin of the text's own.
///
/// The one reader of them: scenarios, policies and command lines differ only in what they allow of it.
public enum TimeText {
    /// The units, the longest suffix first, so that `ms` is not read as `s`.
    private static let units: [(suffix: String, nanoseconds: Int64)] = [
        ("min", 60_000_000_000), ("ms", 1_000_000), ("us", 1000), ("ns", 1), ("s", 1_000_000_000),
        ("h", 3_600_000_000_000),
    ]

    /// A number and a unit, before their range is checked.
    package struct Parts {
        /// At least one digit, and nothing else.
        package var whole: Substring
        /// The digits after the point, at least one; `nil` without a point.
        package var fraction: Substring?
        /// `ms`
        package var unit: String
        /// The length of the unit.
        package var nanoseconds: Int64
    }

    /// `nil` when the text is no time: no number, no unit, or negative.
    package static func parts(_ text: some StringProtocol) -> Parts? {
        guard let unit = units.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
        let number = Substring(text.dropLast(unit.suffix.count))
        let halves = number.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isASCIIDigit) }), let whole = halves.first else {
            return nil
        }
        return Parts(
            whole: whole, fraction: halves.count == 2 ? halves[1] : nil, unit: unit.suffix,
            nanoseconds: unit.nanoseconds)
    }

    /// `nil` when the text is no time: no number, no unit, negative, finer than a nanosecond, or longer than 292 years.
    public static func parse(_ text: some StringProtocol) -> Duration? {
        guard let parts = parts(text), let whole = Int64(parts.whole) else { return nil }
        let (product, overflow) = whole.multipliedReportingOverflow(by: parts.nanoseconds)
        guard !overflow else { return nil }
        guard let digits = parts.fraction else { return .nanoseconds(product) }
        // Nine digits reach from a second to its nanosecond; `0.1ns` names nothing.
        guard digits.count <= 9, let numerator = Int64(digits) else { return nil }
        let divisor = digits.reduce(Int64(1)) { product, _ in product * 10 }
        let (scaled, fractionOverflow) = numerator.multipliedReportingOverflow(by: parts.nanoseconds)
        guard !fractionOverflow, scaled % divisor == 0 else { return nil }
        let (sum, sumOverflow) = product.addingReportingOverflow(scaled / divisor)
        return sumOverflow ? nil : .nanoseconds(sum)
    }

    /// The shortest of `0s`, `250ms`, `1.5s`, that reads back as the same duration.
    public static func write(_ duration: Duration) -> String {
        let signed = duration.wholeNanoseconds
        // The magnitude, since the least duration has no positive counterpart.
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

    /// `40ms`, `2.5s`, `3min 5s`: as short as a person would write it, to three digits.
    package static func short(_ duration: Duration) -> String {
        let nanoseconds = duration.wholeNanoseconds
        if nanoseconds < 0 { return "-" + short(.nanoseconds(0 &- nanoseconds)) }
        let milliseconds = (nanoseconds / 500_000 + 1) / 2
        if milliseconds < 1000 { return milliseconds == 0 ? "0s" : "\(milliseconds)ms" }
        if milliseconds < 60_000 {
            let hundredths = (milliseconds + 5) / 10
            let fraction = hundredths % 100
            if fraction == 0 { return "\(hundredths / 100)s" }
            if fraction % 10 == 0 { return "\(hundredths / 100).\(fraction / 10)s" }
            return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)s"
        }
        let seconds = (milliseconds + 500) / 1000
        return seconds % 60 == 0 ? "\(seconds / 60)min" : "\(seconds / 60)min \(seconds % 60)s"
    }

    public static func write(_ moment: Moment, from origin: Moment = .zero) -> String { write(moment - origin) }
}

extension Character {
    package var isASCIIDigit: Bool { self >= "0" && self <= "9" }
}
