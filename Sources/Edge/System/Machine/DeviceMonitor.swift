import CLinux
import CSystemd
import Glibc

/// Devices that come, go and change, from udev: after its rules have run, so that a node has its rights by then.
///
/// Without udev there are no such events; `FolderObserver` on `/dev` then reports at least that something happened.
public final class DeviceMonitor {
    fileprivate let handler: () -> Void
    private var monitor: OpaquePointer?

    /// Whether udev runs here. A container that shares the machine's `/sys` has none.
    public static var isThere: Bool { access("/run/udev/control", F_OK) == 0 }

    /// - Parameters:
    /// - subsystem: such as `video4linux`.
    /// - handler: called on the loop's thread, once for each event; the caller finds the device by looking.
    public init(
        subsystem: String, on loop: EventLoop, _ handler: @escaping () -> Void
    ) throws(SystemFault) {
        self.handler = handler
        try check(sd_device_monitor_new(&monitor), "watch devices")
        try check(
            sd_device_monitor_filter_add_match_subsystem_devtype(monitor, subsystem, nil), "watch \(subsystem) devices")
        try check(sd_device_monitor_attach_event(monitor, loop.event), "watch devices")
        let this = Unmanaged.passUnretained(self).toOpaque()
        try check(sd_device_monitor_start(monitor, deviceChanged, this), "watch devices")
    }

    deinit {
        _ = sd_device_monitor_stop(monitor)
        _ = sd_device_monitor_detach_event(monitor)
        _ = sd_device_monitor_unref(monitor)
    }

    /// A property that udev's rules gave a device.
    public enum Property: Hashable, Sendable {
        /// udev has not initialized the device, or does not run.
        case unknown
        case absent
        case value(String)
    }

    public static func property(_ name: String, of sysPath: String) -> Property {
        var device: OpaquePointer?
        guard sd_device_new_from_syspath(&device, sysPath) >= 0 else { return .unknown }
        defer { _ = sd_device_unref(device) }
        guard sd_device_get_is_initialized(device) > 0 else { return .unknown }
        var value: UnsafePointer<CChar>?
        guard sd_device_get_property_value(device, name, &value) >= 0, let value else { return .absent }
        return .value(String(cString: value))
    }
}

private func deviceChanged(
    _ monitor: OpaquePointer?, _ device: OpaquePointer?, _ data: UnsafeMutableRawPointer?
) -> Int32 {
    guard let data else { return 0 }
    let this = Unmanaged<DeviceMonitor>.fromOpaque(data).retain()
    defer { this.release() }
    this.takeUnretainedValue().handler()
    return 0
}

/// Reports that names in a folder came, went or changed; the caller finds the names by looking.
public final class FolderObserver {
    private let descriptor: Int32
    private var source: IOSource?

    public init(_ path: String, on loop: EventLoop, _ handler: @escaping () -> Void) throws(SystemFault) {
        let opened = camarb_folder_watch(path)
        descriptor = opened
        guard opened >= 0 else { throw SystemFault("watch \(path)", opened) }
        source = try loop.addIO(opened, .readable) { _ in
            camarb_folder_watch_drain(opened)
            handler()
        }
    }

    deinit {
        source?.cancel()
        if descriptor >= 0 { close(descriptor) }
    }
}
