import CLinux

/// What a program decides about its own process.
public enum OwnProcess {
    /// From here on no other process of its user can read its memory, trace it, or take its descriptors (`pidfd_getfd`);
    /// root still can. It leaves no core. What it starts is not bound by it.
    public static func forbidInspection() throws(SystemFault) {
        try check(camarb_forbid_inspection(), "keep others out of this process")
    }
}
