/// A configured value. Numbers are finite; text is at most 256 bytes.
public enum ConfigurationValue: Hashable, Sendable {
    case text(String)
    case number(Double)
    case flag(Bool)
    /// From (0, 0) at the top left of the sensor to (1, 1).
    case point(x: Double, y: Double)
    /// The factor of each colour, from 1.
    case gains(red: Double, green: Double, blue: Double)

    public var description: String {
        switch self {
        case .text(let text): text
        case .number(let number): number.shortDescription
        case .flag(let flag): flag ? "true" : "false"
        case .point, .gains: numbers.map(\.shortDescription).joined(separator: ",")
        }
    }

    /// The value for a person: a frame's time as `1/30`, and no digits behind the fourth.
    public func words(for key: ConfigurationKey) -> String {
        switch (self, key) {
        case (.number(let seconds), .exposureDuration), (.number(let seconds), .activeVideoMinFrameDuration),
            (.number(let seconds), .activeVideoMaxFrameDuration):
            seconds.durationDescription
        case (.number, _), (.point, _), (.gains, _):
            (number.map { [$0] } ?? numbers).map(\.roundedDescription).joined(separator: ",")
        case (.text, _), (.flag, _): description
        }
    }

    /// `nil` for every value but a number.
    public var number: Double? { if case .number(let number) = self { number } else { nil } }

    /// The numbers of a point or of gains, in their order; else empty.
    public var numbers: [Double] {
        switch self {
        case .point(let x, let y): [x, y]
        case .gains(let red, let green, let blue): [red, green, blue]
        case .text, .number, .flag: []
        }
    }

    /// A point of two numbers, gains of three, `nil` of any other count.
    public init?(numbers: [Double], of kind: ConfigurationKey.Kind) {
        switch (kind, numbers.count) {
        case (.point, 2): self = .point(x: numbers[0], y: numbers[1])
        case (.gains, 3): self = .gains(red: numbers[0], green: numbers[1], blue: numbers[2])
        default: return nil
        }
    }
}
