package import ArbiterProtocol
package import ArgumentParser
import CLinux
import Workbench

/// A time on the command line: `250ms`, `2s`, `1.5s`, `3min`, `1h`; at most a year, since more is a slip of the finger.
package struct TimeArgument: ExpressibleByArgument {
    package var duration: Duration
    package var defaultValueDescription: String { duration.shortText }

    package init(duration: Duration) { self.duration = duration }

    package init?(argument: String) {
        guard let duration = TimeText.parse(argument), duration <= .seconds(366 * 86_400) else { return nil }
        self.duration = duration
    }
}

/// A count of bits or bytes: `100000`, `8M`, `1.5G`; a letter stands for thousand, million, thousand millions.
package struct CountArgument: ExpressibleByArgument {
    package let count: UInt64
    package var defaultValueDescription: String { "\(count / 1_000_000_000)G" }

    package init(count: UInt64) { self.count = count }

    package init?(argument: String) {
        let letters: [Character: Double] = ["k": 1e3, "M": 1e6, "G": 1e9]
        let count =
            if let factor = argument.last.flatMap({ letters[$0] }) {
                Double(argument.dropLast()).flatMap { UInt64(exactly: ($0 * factor).rounded()) }
            } else {
                UInt64(argument)
            }
        guard let count else { return nil }
        self.count = count
    }
}

extension Moment {
    package static var now: Moment { Moment(nanoseconds: camarb_monotonic_ns()) }
}

extension ArgumentHelp {
    package static func value(_ name: String, _ text: String) -> ArgumentHelp { ArgumentHelp(text, valueName: name) }
}
