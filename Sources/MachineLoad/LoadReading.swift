/// What the machine says of its load at one moment. A figure that it does not have is nil or missing.
public struct LoadReading: Hashable, Sendable {
    /// `/proc/pressure/memory`, `full avg10`: per cent.
    public var memory: Double?
    /// `/proc/pressure/cpu`, `some avg10`: per cent.
    public var processor: Double?
    public var zones: [ThermalZone]
    /// Times that processors throttled themselves since the boot, all together.
    public var throttles: UInt64?

    public init(
        memory: Double? = nil, processor: Double? = nil, zones: [ThermalZone] = [], throttles: UInt64? = nil
    ) {
        self.memory = memory
        self.processor = processor
        self.zones = zones
        self.throttles = throttles
    }

    /// Nothing could be read: this machine has none of it, or this process may not see it.
    public var isEmpty: Bool { memory == nil && processor == nil && zones.isEmpty && throttles == nil }
}

/// One thermal zone, in degrees Celsius.
public struct ThermalZone: Hashable, Sendable {
    /// What the driver calls it, such as `x86_pkg_temp`.
    public var name: String
    public var temperature: Double
    /// From here on the kernel cools by slowing down.
    public var passive: Double?
    public var hot: Double?
    /// From here on the machine switches itself off.
    public var critical: Double?

    public init(
        name: String, temperature: Double, passive: Double? = nil, hot: Double? = nil, critical: Double? = nil
    ) {
        self.name = name
        self.temperature = temperature
        self.passive = passive
        self.hot = hot
        self.critical = critical
    }
}
