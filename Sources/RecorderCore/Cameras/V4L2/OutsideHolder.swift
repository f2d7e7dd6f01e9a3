import CLinux
import Glibc

/// Looks for the process that has a device node open, in `/proc/*/fd`.
///
/// Only a privileged process sees everybody's descriptors; what cannot be seen is not found.
enum OutsideHolder {
    /// `PID 1234 (cheese)`, the lowest such process beside this one; nil where none can be seen.
    static func find(path: String, proc: String = "/proc") -> String? {
        var wanted = stat()
        guard stat(path, &wanted) == 0, wanted.st_mode & S_IFMT == S_IFCHR else { return nil }
        let own = getpid()
        for process in names(proc).compactMap({ Int32($0) }).sorted() where process != own {
            for descriptor in names("\(proc)/\(process)/fd") {
                // Only nodes are looked at: asking a file of a network that is down would wait for it.
                var target = [CChar](repeating: 0, count: 16)
                let link = "\(proc)/\(process)/fd/\(descriptor)"
                guard readlink(link, &target, target.count) > 5, strncmp(target, "/dev/", 5) == 0 else { continue }
                var found = stat()
                guard stat(link, &found) == 0, found.st_mode & S_IFMT == S_IFCHR,
                    found.st_rdev == wanted.st_rdev
                else { continue }
                var buffer = [CChar](repeating: 0, count: 64)
                let length = camarb_name_of(process, &buffer, buffer.count)
                let name = String(
                    decoding: buffer.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
                return "PID \(process)" + (name.isEmpty ? "" : " (\(name))")
            }
        }
        return nil
    }

    private static func names(_ folder: String) -> [String] {
        guard let open = opendir(folder) else { return [] }
        defer { closedir(open) }
        var names: [String] = []
        while let entry = readdir(open) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let first = name.utf8.first, (0x30...0x39).contains(first) { names.append(name) }
        }
        return names
    }
}
