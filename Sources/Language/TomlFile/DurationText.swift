import Vocabulary

/// Durations as a policy writes them: a whole number and a unit.
package enum DurationText {
    /// A policy has nothing finer than a millisecond.
    private static let units = ["ms", "s", "min", "h"]

    /// `nil` for other texts; a number too great to count saturates at 292 years, beyond every bound.
    package static func read(_ text: String) -> Duration? {
        guard let parts = TimeText.parts(text), parts.fraction == nil, units.contains(parts.unit) else { return nil }
        let (nanoseconds, overflow) = (Int64(parts.whole) ?? .max).multipliedReportingOverflow(by: parts.nanoseconds)
        return .nanoseconds(overflow ? .max : nanoseconds)
    }

    /// The duration that a wrong text probably means: without a space before the unit, or with its short name.
    package static func meant(by text: String) -> String? {
        let names = [
            ("ms", ["msec", "milliseconds", "millisecond"]), ("s", ["", "sec", "secs", "second", "seconds"]),
            ("min", ["m", "mins", "minute", "minutes"]), ("h", ["hr", "hrs", "hour", "hours"]),
        ]
        let bare = String(text.unicodeScalars.filter { $0 != " " })
        let digits = bare.prefix { $0.isASCII && $0.isNumber }
        let unit = bare.dropFirst(digits.count)
        let name = names.first { $0.0 == unit || $0.1.contains(String(unit)) }?.0
        return name.map { digits + $0 }.flatMap { read($0) == nil ? nil : $0 }
    }

    /// In the greatest unit that leaves a whole number: `90s`, `3min`, `0s`.
    package static func write(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        if attoseconds != 0 { return "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)ms" }
        if seconds == 0 || seconds % 60 != 0 { return "\(seconds)s" }
        return seconds % 3600 == 0 ? "\(seconds / 3600)h" : "\(seconds / 60)min"
    }
}
