/// From where on the machine's own figures count as which pressure. A policy's `[pressure]` tunes it.
public struct PressureSettings: Hashable, Sendable, Codable {
    /// Whether the machine is looked at at all; else only what a shell says counts.
    public var isWatched: Bool
    /// Per cent of the last ten seconds in which every program that wanted to work waited for memory.
    public var memory: Levels
    /// Per cent of the last ten seconds in which some program waited for a processor.
    public var processor: Levels
    /// Degrees Celsius of the hottest zone. Where a level has none, what the zone itself says counts: `fair` 5 °C below where
    /// the kernel begins to cool passively (its passive trip point), `serious` from there on, `critical` from its hot trip
    /// point on or 5 °C below the one at which the machine switches itself off.
    public var temperature: Levels
    /// What it counts as that a processor has just throttled itself because it was too hot; `nominal`: as nothing.
    public var throttling: SystemPressure

    /// Nil: this level is never reached by this.
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
                // It begins nowhere: it is what is left.
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

    /// systemd-oomd kills at 60 % over 30 s; a machine on which everything stands still for a tenth of the time stutters, and
    /// one that does for a quarter of it is about to be unusable.
    public static let usualMemory = Levels(fair: 3, serious: 10, critical: 25)
    /// That programs wait for each other's work is what a busy machine does, and no reason to take anybody's camera: it is
    /// never more than fair.
    public static let usualProcessor = Levels(fair: 80)
    public static let usual = PressureSettings()
}
