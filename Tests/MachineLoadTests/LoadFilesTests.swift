import Foundation
import System
import Testing

/// Folders that stand for `/proc` and `/sys`.
@Suite struct LoadFilesTests {
    /// Calls with a folder in which these files are, and takes it away again.
    static func with(_ files: [String: String], _ body: (LoadFiles) -> Void) throws {
        let root = "/tmp/camarb-load-\(UUID().uuidString)"
        let all = FileManager.default
        defer { try? all.removeItem(atPath: root) }
        for (path, text) in files {
            let folder = "\(root)/\(path.split(separator: "/").dropLast().joined(separator: "/"))"
            try all.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try text.write(toFile: "\(root)/\(path)", atomically: false, encoding: .utf8)
        }
        body(LoadFiles(proc: "\(root)/proc", sys: "\(root)/sys"))
    }

    @Test func stallsTripPointsAndThrottleCountsAreRead() throws {
        let zone = "sys/class/thermal/thermal_zone2"
        try Self.with([
            "proc/pressure/memory":
                "some avg10=9.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=4.25 avg60=0.00 avg300=0.00 total=0\n",
            "proc/pressure/cpu": "some avg10=81.50 avg60=2.00 avg300=1.00 total=7\n",
            "\(zone)/type": "x86_pkg_temp\n", "\(zone)/temp": "71500\n",
            "\(zone)/trip_point_0_type": "passive\n", "\(zone)/trip_point_0_temp": "85000\n",
            "\(zone)/trip_point_1_type": "critical\n", "\(zone)/trip_point_1_temp": "105000\n",
            "\(zone)/trip_point_2_type": "passive\n", "\(zone)/trip_point_2_temp": "80000\n",
            "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count": "3\n",
            "sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count": "1\n",
            "sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count": "2\n",
        ]) { files in
            #expect(
                files.read()
                    == LoadReading(
                        memory: 4.25, processor: 81.5,
                        zones: [ThermalZone(name: "x86_pkg_temp", temperature: 71.5, passive: 80, critical: 105)],
                        throttles: 6))
        }
    }

    @Test func sensorsThatAreBrokenOrAsleepAreNotThere() throws {
        try Self.with([
            "sys/class/thermal/thermal_zone0/type": "iwlwifi\n", "sys/class/thermal/thermal_zone0/temp": "-274000\n",
            "sys/class/thermal/thermal_zone1/type": "acpitz\n", "sys/class/thermal/thermal_zone1/temp": "0\n",
            "sys/class/thermal/thermal_zone2/type": "odd\n", "sys/class/thermal/thermal_zone2/temp": "hot\n",
            "proc/pressure/memory": "full avg10=lots\n", "proc/pressure/cpu": "some avg10=1e9\n",
        ]) { files in #expect(files.read().isEmpty) }
    }

    @Test func aMachineThatSaysNothingHasNoReading() throws {
        try Self.with([:]) { files in #expect(files.read().isEmpty) }
    }
}
