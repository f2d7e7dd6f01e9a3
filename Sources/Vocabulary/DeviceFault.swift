/// What a camera's device failed of. The raw value is the code of the `RuntimeError` that tells of it.
public enum DeviceFault: String, Hashable, Sendable, CaseIterable {
    /// Whatever has no name of its own here.
    case device = "device-error"
    /// The bus has no room for the camera's pictures: `ENOSPC` at `STREAMON` of a USB camera, where the isochronous
    /// bandwidth is taken by others. It may fit at another format or frame rate, or when another camera has stopped.
    case noRoom = "bus-bandwidth"

    /// The kernel's own words for `ENOSPC`, which speak of a disk to whoever does not know better.
    private static let kernelWords = "No space left on device"

    /// What is full, and what to do, for a sentence without its full stop.
    public static let noRoomWords =
        "the USB bus has no room for its pictures beside other cameras'; take a smaller format or a lower frame rate, stop "
        + "another camera, or use another USB controller (\(kernelWords))"

    /// What the sentence that a recorder core reports tells: it ends with the kernel's own words for `ENOSPC`, in brackets or
    /// not, with or without a full stop behind them, or it is about something else.
    public init(message: String) {
        var bare = message.hasSuffix(".") ? message.dropLast() : message[...]
        if bare.hasSuffix(")") { bare = bare.dropLast() }
        self = bare.hasSuffix(Self.kernelWords) ? .noRoom : .device
    }
}
