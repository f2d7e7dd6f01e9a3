/// What a camera's device failed of. The raw value is the code of the `RuntimeError` that tells of it.
public enum DeviceFault: String, Hashable, Sendable, CaseIterable {
    /// Whatever has no name of its own here.
    case device = "device-error"
    /// The bus has no room for the camera's pictures: `ENOSPC` at `STREAMON` of a USB camera, where the isochronous
    /// bandwidth is taken by others. It may fit at another format or frame rate, or when another camera has stopped.
    case noRoom = "bus-bandwidth"

    /// What the sentence that a recorder core reports tells: it ends with the kernel's own words for `ENOSPC`, with or
    /// without a full stop behind them, or it is about something else.
    public init(message: String) {
        let bare = message.hasSuffix(".") ? message.dropLast() : message[...]
        self = bare.hasSuffix("No space left on device") ? .noRoom : .device
    }
}
