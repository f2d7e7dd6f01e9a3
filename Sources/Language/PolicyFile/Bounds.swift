import ArbiterProtocol
import TomlFile

/// The bounds of a policy file. Each keeps what a decision costs, or what a message shows, in proportion.
public enum Bounds {
    /// Nobody follows a longer chain of files that include each other.
    public static let includeDepthMax = 8
    /// Every decision walks the rules of each kind once.
    public static let rulesMax = 256
    public static let ranksMax = 64
    public static let camerasMax = 64
    /// Every look at a session reads all of them, and a comparison may walk them once.
    public static let attributesMax = 8
    /// Three times Android's process states, the longest published scale.
    public static let attributeValuesMax = 64
    /// Attributes and their values are words of scenarios and command lines.
    public static let wordBytesMax = 48
    /// Users, groups and services of `[access]`, of each: a fleet names groups, and nobody reads a longer list.
    public static let accessNamesMax = 256
    /// The kernel's users and groups; the highest number means nobody.
    static let accountNumber = 0...Int(UInt32.max) - 1
    /// `policy verify` asks each of them in every state.
    public static let statementsMax = 64
    /// Excuses of one statement: more of them are a second statement.
    public static let excusesMax = 16
    /// A week for waiting and holding, so that a slip of the unit shows; a time too long to be walked is a warning.
    public static let within = Duration.milliseconds(1)...Duration.seconds(7 * 24 * 3600)
    /// As long as the longest min-hold, since no warning comes sooner.
    public static let warned = Duration.milliseconds(1)...Duration.seconds(3600)
    /// Two or three lines of a terminal.
    public static let summaryBytesMax = 300

    /// A longer grace would let a client that hangs hold up everybody who outranks it.
    public static let grace = Duration.zero...Duration.seconds(60)
    public static let minHold = Duration.zero...Duration.seconds(3600)
    /// Parts of the week in one mode's calendar: three for each day.
    public static let calendarSpansMax = 21
    /// Below a second a camera would do nothing but change hands.
    public static let lease = Duration.seconds(1)...Duration.seconds(24 * 3600)
    /// As long as the longest cool-down: each end of a lease leaves a fact that lasts for so long.
    public static let pause = Duration.zero...Duration.seconds(3600)
    /// A slate has room for two lines, and a notice for a sentence.
    public static let messageBytesMax = 120
    public static let coolDown = Duration.zero...Duration.seconds(3600)
    public static let pressureSettle = Duration.zero...Duration.seconds(600)
    /// Per cent of a machine's time. At 0 a machine would always be pressed.
    public static let stall = 0.1...100.0
    /// Degrees Celsius: below them a machine in use would always be pressed, and above them silicon fails.
    public static let temperature = 20.0...150.0
    /// Costs are compared only with the budget, so their unit is the author's (Android uses 100 for a whole device).
    public static let cost = 0...1_000_000
    /// Formats of one camera's costs: a written policy has them on one line, and every look at a session walks them.
    public static let costFormatsMax = 16
    /// Pixels; V4L2 has no number for a greater side that a driver would take.
    static let formatSide = 1...65_535
    /// Frames a second, and the digits of such a number: `119.88`.
    static let frameRateMax = 10_000.0
    static let frameRateBytesMax = 8

    /// A word that needs no quotation marks anywhere: ASCII letters, digits and hyphens.
    static func isWord(_ text: String) -> Bool {
        (1...wordBytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { PlainWord.isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
    }

    static let wordsOnly = "it takes letters, digits and hyphens, at most \(wordBytesMax) of them"

    /// As systemd writes the name of a service or a scope (`systemd.unit(5)`).
    static func isUnit(_ text: String) -> Bool {
        guard let suffix = [".service", ".scope"].first(where: { text.hasSuffix($0) }),
            text.utf8.count > suffix.utf8.count
        else { return false }
        return text.utf8.allSatisfy { PlainWord.contains($0) || "@\\".utf8.contains($0) }
    }
}

extension ClosedRange<Duration> {
    var words: String { "`\(DurationText.write(lowerBound))` to `\(DurationText.write(upperBound))`" }
}

extension ClosedRange<Double> {
    var words: String { "\(TomlText.number(lowerBound)) to \(TomlText.number(upperBound))" }
}
