public import Vocabulary

/// The pressure of a machine's figures, one reading after the other, with hysteresis.
///
/// ```
///            a higher level, twice in a row
/// level ───────────────────────────────────▶ that level
///         ◀───────────────────────────────────
///            all figures below the level's bound by its gap
/// ```
///
/// Once is no pressure: a figure may jump for a moment. Falling needs a gap, so that a value that trembles around a
/// bound does not report twice a second; the policy sets how long a lower level must have lasted before sessions come
/// back (`pressure-settle`), and the core counts it.
///
/// Threading: a value.
public struct PressureGauge: Sendable {
    public private(set) var level = SystemPressure.nominal
    /// The figures behind the level, for the journal and for status; empty at `nominal`.
    public private(set) var why = ""
    private var candidate: SystemPressure?
    private var lastThrottles: UInt64?
    /// Readings since processors last throttled themselves.
    private var readingsSinceThrottle: Int?

    /// Nanoseconds between two readings. `avg10` moves with a time constant of ten seconds; heat is slower.
    public static let interval: Int64 = 2_000_000_000
    /// A reading of two seconds ago does not cover processors that throttle for milliseconds every few seconds.
    static let throttleReadingsMax = 5
    /// Degrees Celsius below a bound before it is left.
    static let temperatureGap = 3.0
    /// The part of a bound of stalls below which it is left.
    static let stallGap = 0.7
    /// For a zone that has trip points and no `passive` one: below the point at which the machine switches itself off.
    static let belowCritical = (fair: 20.0, serious: 10.0, critical: 5.0)
    /// Degrees Celsius before the passive trip point at which it is nearly reached.
    static let belowPassive = 5.0

    public init() {}

    /// - Returns: the new level; `nil` without a change.
    public mutating func take(_ reading: LoadReading, _ settings: PressureSettings) -> SystemPressure? {
        noteThrottles(reading)
        let before = level
        let (risen, cause) = reached(reading, settings, isHeld: false)
        if risen > level {
            // The first of two readings: the lower one of both counts, should they differ.
            guard let candidate else {
                self.candidate = risen
                return nil
            }
            level = min(candidate, risen)
            why = cause
            self.candidate = level < risen ? risen : nil
        } else {
            candidate = nil
            let (held, cause) = reached(reading, settings, isHeld: true)
            if held < level {
                level = held
                why = held == .nominal ? "" : cause
            }
        }
        return level == before ? nil : level
    }

    /// The machine is no longer measured.
    /// - Returns: whether that ended a pressure.
    public mutating func forget() -> Bool {
        let was = level
        self = PressureGauge()
        return was != .nominal
    }

    private mutating func noteThrottles(_ reading: LoadReading) {
        if let last = lastThrottles, let now = reading.throttles, now > last {
            readingsSinceThrottle = 0
        } else if let since = readingsSinceThrottle {
            readingsSinceThrottle = since < Self.throttleReadingsMax ? since + 1 : nil
        }
        lastThrottles = reading.throttles ?? lastThrottles
    }

    /// The highest level that any figure has reached, and the first such figure in words.
    /// - Parameter isHeld: each figure a gap better than it is needed to leave a level.
    private func reached(
        _ reading: LoadReading, _ settings: PressureSettings, isHeld: Bool
    ) -> (SystemPressure, String) {
        var highest = (SystemPressure.nominal, "")
        func note(_ level: SystemPressure, _ words: @autoclosure () -> String) {
            if level > highest.0 { highest = (level, words()) }
        }
        let gain = isHeld ? 1 / Self.stallGap : 1
        if let memory = reading.memory {
            note(
                settings.memory.level(of: memory * gain),
                "memory: everything stood still for \(memory) % of ten seconds")
        }
        if let processor = reading.processor {
            note(
                settings.processor.level(of: processor * gain),
                "processors: some program waited for \(processor) % of ten seconds")
        }
        for zone in reading.zones {
            let temperature = zone.temperature + (isHeld ? Self.temperatureGap : 0)
            note(Self.bounds(of: zone, settings).level(of: temperature), "\(zone.name): \(zone.temperature) °C")
        }
        if readingsSinceThrottle != nil { note(settings.throttling, "a processor throttled itself") }
        return highest
    }

    /// The policy's where it has one, else the zone's own.
    private static func bounds(of zone: ThermalZone, _ settings: PressureSettings) -> PressureSettings.Levels {
        let own: PressureSettings.Levels
        if let passive = zone.passive {
            own = .init(
                fair: passive - belowPassive, serious: passive,
                critical: zone.hot ?? zone.critical.map { max(passive, $0 - belowCritical.critical) })
        } else if let critical = zone.critical {
            own = .init(
                fair: critical - belowCritical.fair, serious: critical - belowCritical.serious,
                critical: zone.hot ?? critical - belowCritical.critical)
        } else {
            own = .init(critical: zone.hot)
        }
        return .init(
            fair: settings.temperature.fair ?? own.fair, serious: settings.temperature.serious ?? own.serious,
            critical: settings.temperature.critical ?? own.critical)
    }
}
