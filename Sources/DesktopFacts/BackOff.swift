/// How long to wait before the next try: twice as long each time, up to a bound.
public struct BackOff: Hashable, Sendable {
    public let first: Duration
    public let longest: Duration
    private var next: Duration

    public init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
        next = first
    }

    /// A broker is back in a fraction of a second; a machine on which it does not run is asked twelve times a minute.
    public static let broker = BackOff(first: .milliseconds(100), longest: .seconds(5))
    /// A desktop that starts brings its services within seconds; one without them is looked at twice a minute.
    public static let desktop = BackOff(first: .milliseconds(250), longest: .seconds(30))

    public mutating func wait() -> Duration {
        defer { next = min(next * 2, longest) }
        return next
    }

    /// It worked: the next failure is a new one.
    public mutating func reset() { next = first }
}
