import CLinux
import Glibc

/// The wall clock, in whole seconds since 1970 (UTC), and the machine's zone.
///
/// A simulation's begins at 1970 and has no zone, so that a run is the same on every machine.
public enum WallClock {
    public static var now: Int64 { VirtualTime.now.map { $0 / 1_000_000_000 } ?? camarb_wall_seconds() }

    /// In microseconds since 1970, by the machine's own clock.
    public static var microseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    /// Seconds that local time is ahead of UTC.
    public static func offset(at moment: Int64) -> Int64 { VirtualTime.now == nil ? camarb_local_offset(moment) : 0 }

    /// A moment of the machine's own clock as people read it, in the words of strftime(3).
    public static func written(_ seconds: Int, as format: String, isLocal: Bool = true) -> String {
        var seconds = seconds
        var parts = tm()
        if isLocal { localtime_r(&seconds, &parts) } else { gmtime_r(&seconds, &parts) }
        var text = [CChar](repeating: 0, count: 64)
        let count = strftime(&text, text.count, format, &parts)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// `2026-11-23T09:12:00Z`, by the machine's own clock.
    public static var writtenNow: String { written(time(nil), as: "%Y-%m-%dT%H:%M:%SZ", isLocal: false) }

    /// Reads the zone again, after the machine got another one.
    public static func rereadZone() { if VirtualTime.now == nil { camarb_reread_zone() } }
}
