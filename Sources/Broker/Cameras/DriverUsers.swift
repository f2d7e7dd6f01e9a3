import Glibc

/// How many users a driver's module has, as sysfs says: each open file of one of its nodes is one, so that no node has more.
/// A driver that is built into the kernel has no such number.
enum DriverUsers {
    static func path(ofNode sysPath: String) -> String { "\(sysPath)/device/driver/module/refcnt" }

    /// Nil where it cannot be read.
    static func count(at path: String) -> Int? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // A number of 64 bits and the end of its line.
        var bytes = [UInt8](repeating: 0, count: 24)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return nil }
        return Int(String(decoding: bytes[..<count].prefix { $0 != 0x0a }, as: UTF8.self)).map { max(0, $0) }
    }
}
