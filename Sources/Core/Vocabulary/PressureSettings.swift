/// The thresholds of the machine's own figures for each pressure. A policy's `[pressure]` tunes them.
public struct PressureSettings: Hashable, Sendable, Codable {
    /// Whether the machine is measured at all; else only a shell's level counts.
    public var isWatched: Bool
    /// Per cent of the last ten seconds in which every program that wanted to work waited for memory.
    public var memory: Levels
    /// Per cent of the last ten seconds in which some program waited for a processor.
    public var processor: Levels
    /// Degrees Celsius of the hottest zone. A level without one takes the zone's own: `fair` 5 °C below the kernel's
    /// passive trip point, `serious` from that point on, `critical` from the hot trip point on or 5 °C below the one at
    /// which the machine switches itself off.
    public var temperature: Levels
    /// The level while a processor has just throttled itself because it was too hot; `nominal`: none.
    public var throttling: SystemPressure

    /// `nil`: never reached by this figure.
    public struct Levels: Hashable, Sendable, Codable {
        public var fair: Double?
        public var serious: Double?
        public var critical: Double?

        public init(fair: Double? = nil, serious: Double? = nil, critical: Double? = nil) {
            (self.fair, self.serious, self.critical) = (fair, serious, critical)
        }

        public subscript(_ level: SystemPressure) -> Double? {
            get {
                switch level {
                case .nominal: nil
                case .fair: fair
                case .serious: serious
                case .critical: critical
                }
            }
            set {
                switch level {
                // The rest below all bounds.
                case .nominal: break
                case .fair: fair = newValue
                case .serious: serious = newValue
                case .critical: critical = newValue
                }
            }
        }

        /// The highest level whose bound the value has reached.
        public func level(of value: Double) -> SystemPressure {
            SystemPressure.allCases.last { level in self[level].map { value >= $0 } ?? false } ?? .nominal
        }
    }

    public init(
        isWatched: Bool = true, memory: Levels = Self.usualMemory, processor: Levels = Self.usualProcessor,
        temperature: Levels = Levels(), throttling: SystemPressure = .serious
    ) {
        (self.isWatched, self.memory, self.processor) = (isWatched, memory, processor)
        (self.temperature, self.throttling) = (temperature, throttling)
    }

    /// systemd-oomd kills at 60 % over 30 s; a machine that stands still for a tenth of the time stutters, and for a
    /// quarter of it is about to be unusable.
    public static let usualMemory = Levels(fair: 3, serious: 10, critical: 25)
    /// A busy machine lets programs wait for each other's work, and that is no reason to take anybody's camera: it is
    /// never more than fair.
    public static let usualProcessor = Levels(fair: 80)
    public static let usual = PressureSettings()
}
