import Glibc

/// Reads a machine's load from `/proc/pressure`, its thermal zones and its processors' throttle counts. Nothing is
/// opened for longer than a reading, and nothing waits.
///
/// Threading: a value; a reading takes some dozen small files, well below a millisecond each.
public struct LoadFiles: Sendable {
    /// `/proc`, or a folder that stands for it in a test.
    public var proc: String
    /// `/sys`, likewise.
    public var sys: String

    /// The largest machines have a few dozen zones; more are a driver's fault.
    public static let zonesMax = 64
    /// The kernel's own bound is 12 trip points a zone.
    public static let tripPointsMax = 12
    /// Throttle counts are one a core: these stand for the others, which share their package.
    public static let processorsMax = 256
    /// The longest of these files has two lines of numbers.
    private static let bytesMax = 1024

    public init(proc: String = "/proc", sys: String = "/sys") {
        self.proc = proc
        self.sys = sys
    }

    /// - Parameter root: the folder that has `proc` and `sys` in it; empty for the machine's own.
    public init(root: String) { self.init(proc: "\(root)/proc", sys: "\(root)/sys") }

    public func read() -> LoadReading {
        LoadReading(
            memory: stall("memory", "full"), processor: stall("cpu", "some"), zones: zones(), throttles: throttles())
    }

    /// `avg10` of the line that begins with `kind`, as in `full avg10=0.12 avg60=0.00 avg300=0.00 total=0`.
    private func stall(_ resource: String, _ kind: Substring) -> Double? {
        guard let text = text("\(proc)/pressure/\(resource)") else { return nil }
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.first == kind, let word = words.first(where: { $0.hasPrefix("avg10=") }) else { continue }
            return Double(word.dropFirst("avg10=".count)).flatMap { (0...100).contains($0) ? $0 : nil }
        }
        return nil
    }

    private func zones() -> [ThermalZone] {
        var zones: [ThermalZone] = []
        for number in 0..<Self.zonesMax {
            let folder = "\(sys)/class/thermal/thermal_zone\(number)"
            // Numbers of drivers that were unloaded are missing in between; a zone whose sensor sleeps answers with an
            // error, and is not there for now.
            guard let name = text("\(folder)/type"), let temperature = degrees("\(folder)/temp") else { continue }
            var zone = ThermalZone(name: name, temperature: temperature)
            for point in 0..<Self.tripPointsMax {
                guard let kind = text("\(folder)/trip_point_\(point)_type") else { break }
                guard let value = degrees("\(folder)/trip_point_\(point)_temp") else { continue }
                switch kind {
                // The lowest counts where there are several.
                case "passive": zone.passive = min(zone.passive ?? value, value)
                case "hot": zone.hot = min(zone.hot ?? value, value)
                case "critical": zone.critical = min(zone.critical ?? value, value)
                default: break
                }
            }
            zones.append(zone)
        }
        return zones
    }

    private func throttles() -> UInt64? {
        var sum: UInt64?
        for number in 0..<Self.processorsMax {
            let folder = "\(sys)/devices/system/cpu/cpu\(number)/thermal_throttle"
            guard let core = text("\(folder)/core_throttle_count").flatMap({ UInt64($0) }) else { break }
            let package = text("\(folder)/package_throttle_count").flatMap { UInt64($0) } ?? 0
            sum = (sum ?? 0) &+ core &+ package
        }
        return sum
    }

    /// Millidegrees in the file. A value that no silicon survives is a sensor's that is broken or not there: drivers
    /// report 0, -274000 or huge numbers then.
    private func degrees(_ path: String) -> Double? {
        text(path).flatMap { Int64($0) }.flatMap { (1_000...200_000).contains($0) ? Double($0) / 1000 : nil }
    }

    /// A small text file without the white space at its end; `nil` where it cannot be read.
    private func text(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.bytesMax)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return nil }
        var text = Substring(decoding: bytes[..<count], as: UTF8.self)
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}

/// The machine's load at one moment. A missing figure is `nil`.
public struct LoadReading: Hashable, Sendable {
    /// `/proc/pressure/memory`, `full avg10`: per cent.
    public var memory: Double?
    /// `/proc/pressure/cpu`, `some avg10`: per cent.
    public var processor: Double?
    public var zones: [ThermalZone]
    /// Throttling events of all processors since the boot.
    public var throttles: UInt64?

    public init(memory: Double? = nil, processor: Double? = nil, zones: [ThermalZone] = [], throttles: UInt64? = nil) {
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
    /// The driver's name, such as `x86_pkg_temp`.
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
