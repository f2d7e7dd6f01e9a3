import System
import Testing
import Vocabulary

@Suite struct PressureGaugeTests {
    static let usual = PressureSettings.usual

    /// Levels that were told, one a reading; nil where nothing was.
    static func told(_ readings: [LoadReading], _ settings: PressureSettings = usual) -> [SystemPressure?] {
        var gauge = PressureGauge()
        return readings.map { gauge.take($0, settings) }
    }

    /// The last report of two equal readings.
    static func twice(_ reading: LoadReading, _ settings: PressureSettings = usual) -> SystemPressure? {
        told([reading, reading], settings)[1]
    }

    static func zone(_ temperature: Double, passive: Double? = 80, hot: Double? = nil, critical: Double? = 100)
        -> LoadReading
    {
        LoadReading(zones: [
            ThermalZone(name: "cpu", temperature: temperature, passive: passive, hot: hot, critical: critical)
        ])
    }

    @Test func oneHighReadingIsNoPressureAndTwoAreAndTheLowerOfBothCounts() {
        #expect(Self.told([Self.zone(90), Self.zone(40), Self.zone(90), Self.zone(40)]) == [nil, nil, nil, nil])
        #expect(
            Self.told([Self.zone(97), Self.zone(81), Self.zone(97), Self.zone(97)]) == [nil, .serious, nil, .critical])
    }

    @Test func aZoneCountsByItsOwnTripPoints() {
        for (temperature, level) in [(74.9, nil), (75, .fair), (80, .serious), (94.9, .serious), (95, .critical)]
            as [(Double, SystemPressure?)]
        {
            #expect(Self.twice(Self.zone(temperature)) == level, "\(temperature) °C")
        }
        // A zone that is hot before it is critical, and a zone with the point of switching off alone.
        #expect(Self.twice(Self.zone(85, hot: 85)) == .critical)
        #expect(Self.twice(Self.zone(90, passive: nil)) == .serious)
        // One without trip points says nothing by itself.
        #expect(Self.twice(Self.zone(120, passive: nil, critical: nil)) == nil)
    }

    @Test func aPolicysBoundsComeBeforeTheZonesOwn() {
        var settings = Self.usual
        settings.temperature.serious = 60
        #expect(Self.twice(Self.zone(61), settings) == .serious)
    }

    @Test func aValueThatTremblesAroundABoundIsToldOnce() {
        let trembling = (0..<20).map { Self.zone($0.isMultiple(of: 2) ? 80.5 : 78) }
        #expect(Self.told([Self.zone(80), Self.zone(80)] + trembling).compactMap { $0 } == [.serious])
        #expect(Self.told([Self.zone(80), Self.zone(80), Self.zone(76.9)]) == [nil, .serious, .fair])
    }

    @Test func memoryThatStandsStillIsPressureAndBusyProcessorsAreNeverMoreThanFair() {
        let memory = LoadReading(memory: 30)
        #expect(Self.twice(memory) == .critical)
        #expect(Self.told([memory, memory, LoadReading(memory: 18)]).last == .some(nil))
        #expect(Self.told([memory, memory, LoadReading(memory: 17)]).last == .serious)
        #expect(Self.twice(LoadReading(processor: 100)) == .fair)
    }

    @Test func throttlingCountsForSomeReadingsAfterTheLastTime() {
        let counts: [UInt64] = [7, 8, 8, 8, 8, 8, 8, 8, 8]
        let told = Self.told(counts.map { LoadReading(throttles: $0) })
        #expect(told[2] == .serious)
        #expect(told.last == .some(nil) && told.contains(.nominal))
        // A count that has always been there is of the past.
        #expect(Self.told([7, 7, 7].map { LoadReading(throttles: $0) }).allSatisfy { $0 == nil })
        var settings = Self.usual
        settings.throttling = .nominal
        #expect(Self.told(counts.map { LoadReading(throttles: $0) }, settings).allSatisfy { $0 == nil })
    }
}
