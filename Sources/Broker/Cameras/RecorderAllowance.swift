/// How much a recorder core may say by itself, counted by the second. Pure: times come from outside.
///
/// Its words go on to clients, to subscribers, into the journal: one that never stops talking would have readers cut off
/// that are slower. The end of a recording or a photo is not counted: it comes only as often as it was asked for.
package struct RecorderAllowance {
    /// Runtime errors a second that are told on. A device that fails is started three times before it is given up
    /// (`CaptureLoop.restartsMax`), and a control that changes by itself does so a few times a second.
    package static let errorsMax = 8
    /// All words a second, those that are not told on included. Far more than an honest recorder core has to say, and far
    /// fewer than cost the broker time.
    package static let wordsMax = 256
    /// What is counted together, in nanoseconds.
    package static let window: Int64 = 1_000_000_000

    package enum Verdict: Hashable {
        case told
        /// One error too many: it is counted, and the count told at the window's end.
        case leftOut
        /// It never stops.
        case tooMuch
    }

    private var windowEnds: Int64 = .min
    private var words = 0
    private var errors = 0
    /// Errors that were left out and not told as a number yet.
    package private(set) var leftOut = 0

    /// When what was left out is to be told, on the monotonic clock in nanoseconds; nil: nothing was.
    package var tellAt: Int64? { leftOut > 0 ? windowEnds : nil }

    package init() {}

    /// Counts one word of the recorder core at a time of the monotonic clock, in nanoseconds.
    package mutating func take(isError: Bool, at now: Int64) -> Verdict {
        if now >= windowEnds {
            windowEnds = now + Self.window
            words = 0
            errors = 0
        }
        words += 1
        if words > Self.wordsMax { return .tooMuch }
        guard isError else { return .told }
        errors += 1
        if errors <= Self.errorsMax { return .told }
        leftOut += 1
        return .leftOut
    }

    /// The errors that were left out, told once; nil: there are none.
    package mutating func tellLeftOut() -> String? {
        guard leftOut > 0 else { return nil }
        defer { leftOut = 0 }
        return "The recorder core said \(leftOut) more within a second; \(Self.errorsMax) of them were told."
    }
}
