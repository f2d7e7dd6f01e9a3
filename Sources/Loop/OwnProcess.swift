import CLinux

/// What a program decides about its own process.
public enum OwnProcess {
    /// The file that this process runs; where that was replaced, the one in its place.
    public static var program: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = camarb_own_program(&buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let mark = " (deleted)"
        return path.hasSuffix(mark) ? String(path.dropLast(mark.count)) : path
    }

    /// From here on no other process of its user can read its memory, trace it, or take its descriptors (`pidfd_getfd`);
    /// root still can. It leaves no core. What it starts is not bound by it.
    public static func forbidInspection() throws(SystemFault) {
        try check(camarb_forbid_inspection(), "keep others out of this process")
    }
}
