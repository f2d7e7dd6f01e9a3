/// What a camera is doing for the app that has it. The raw values are the words of `GetStatus`.
///
///     free ──▶ starting ──▶ streaming ──▶ revoking ──▶ free, or starting for the next
///               ▲  │            │
///               └──resetting◀───┘
///
/// Left out: `reserved` leads to `streaming` when the client of before the restart comes back, else to `revoking`. A camera
/// that passes on in place goes from `streaming` to `streaming`.
public enum TenancyState: String, Hashable, Sendable, CaseIterable {
    /// No session has it.
    case free
    /// Kept for a session of before the broker's restart, for which it is still captured.
    case reserved
    /// Granted; its first frame has not come yet.
    case starting
    case streaming
    /// Its recorder core or its device was lost, and is to be started again for the same holder.
    case resetting
    /// It was taken from its holder, and the recorder core has not said yet that nothing is captured any more.
    case revoking
}
