import ArbiterProtocol

/// Round times for an axis.
enum TimeAxis {
    /// Steps people count in, in milliseconds.
    private static let steps: [Int64] = [
        10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
        1_800_000, 3_600_000,
    ]

    /// A tick's name: in seconds below a minute, so that neighbours look alike.
    static func text(_ tick: Duration) -> String {
        let milliseconds = tick.wholeNanoseconds / 1_000_000
        return milliseconds < 60_000 ? "\((Double(milliseconds) / 1000).shortDescription)s" : tick.shortText
    }

    /// From 0 up to `duration`, in the smallest step that makes at most `count` intervals.
    static func ticks(_ duration: Duration, atMost count: Int) -> [Duration] {
        let milliseconds = max(0, duration.wholeNanoseconds / 1_000_000)
        let longest: Int64 = 3_600_000
        // Beyond the longest step its multiples go on, so that a week has no more ticks than a minute.
        let step =
            steps.first { milliseconds / $0 <= Int64(count) }
            ?? longest * ((milliseconds / longest + Int64(count) - 1) / Int64(count))
        return stride(from: 0, through: milliseconds, by: Int(step)).map { .milliseconds($0) }
    }
}
