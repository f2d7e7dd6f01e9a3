import ArbiterProtocol
import CMedia
import Glibc
import System

/// A device's controls under the keys that apps use. Each grant begins with the usual values, whatever was set before:
/// what one app did is not the next one's.
final class VideoControls {
    private let device: any VideoDevice
    private let mapped: [MappedControl]
    private let hasPrivacy, hasStrobe, canFocusOnce: Bool
    /// What the keys were last set to, for words that several of the device's values could mean.
    private var applied = Configuration()

    init(_ device: any VideoDevice) {
        self.device = device
        mapped = ControlMapping.all.compactMap { mapping in
            guard let native = device.control(mapping.id) else { return nil }
            let isMenu = native.kind == camarb_control_menu || native.kind == camarb_control_integer_menu
            return MappedControl(mapping, native, menu: isMenu ? device.menu(native) : [])
        }
        hasPrivacy = device.control(camarb_cid_privacy) != nil
        hasStrobe = device.control(camarb_cid_flash_strobe) != nil
        canFocusOnce = device.control(camarb_cid_auto_focus_start) != nil
    }

    var list: [CameraControl] {
        mapped.map { control in
            var described = control.described
            if canFocusOnce, control.mapping.key == .focusMode, case .words(let words) = described.takes {
                described.takes = .words(words + ["auto"])
            }
            return described
        }
    }

    var isPrivate: Bool { hasPrivacy && ((try? device.value(of: camarb_cid_privacy)) ?? 0) != 0 }

    func subscribe() {
        for id in Set(mapped.map(\.mapping.id)).sorted() { device.subscribe(to: id) }
        if hasPrivacy { device.subscribe(to: camarb_cid_privacy) }
    }

    /// Sets every control that is not as wanted, modes first.
    func apply(_ wanted: Configuration) throws(VideoFault) {
        let before = applied
        do throws(VideoFault) {
            try write(wanted)
            applied = wanted
        } catch {
            try? write(before)
            throw error
        }
    }

    /// For another session: what is done once for each is done again.
    func beginAnew() { applied = Configuration() }

    func reset() {
        try? write(Configuration())
        applied = Configuration()
    }

    private func write(_ wanted: Configuration) throws(VideoFault) {
        for control in mapped {
            let key = control.mapping.key
            // Torch and flash are two keys of one control: whichever is on counts, and the torch says when both are off.
            if key == .torchMode, wanted[.flashMode] == .text("on") { continue }
            if key == .flashMode, wanted[.flashMode] != .text("on"),
                mapped.contains(where: { $0.mapping.key == .torchMode })
            {
                continue
            }
            // What an automatic mode decides cannot be set, and need not be.
            if let mode = key.modes.first(where: { mode in list.contains { $0.key == mode.key } }),
                let modes = list.first(where: { $0.key == mode.key }),
                !mode.manual.contains(wanted[mode.key] ?? modes.usual)
            {
                continue
            }
            var value = wanted[key] ?? control.described.usual
            let focusesOnce = key == .focusMode && value == .text("auto")
            if focusesOnce { value = .text("locked") }
            guard let raw = control.raw(from: value) else { continue }
            do throws(VideoFault) {
                if try device.value(of: control.mapping.id) != raw { try device.set(control.mapping.id, to: raw) }
                if focusesOnce, applied[.focusMode] != .text("auto") {
                    try device.set(camarb_cid_auto_focus_start, to: 1)
                }
            } catch {
                // Nobody asked for this one: a control that is just not to be set now stays as it is.
                if wanted[key] == nil, error.number != ENODEV { continue }
                throw VideoFault("set \(key.rawValue) to \(value.description)", error.number)
            }
        }
    }

    var inForce: Configuration {
        var found = Configuration()
        for control in mapped {
            guard let raw = try? device.value(of: control.mapping.id) else { continue }
            let value = control.value(from: raw)
            // A word that means the same of the device's values is what was asked for.
            if let asked = applied[control.mapping.key], control.raw(from: asked) == raw, case .text = asked {
                found[control.mapping.key] = asked
            } else {
                found[control.mapping.key] = value
            }
        }
        return found
    }

    /// Lights the next frame, where the flash is on.
    func strobe() {
        guard hasStrobe, applied[.flashMode] == .text("on") else { return }
        try? device.set(camarb_cid_flash_strobe, to: 1)
    }

    /// A sentence about what somebody else changed; nil for what is not ours, or changes by itself.
    func changedOutside(_ id: UInt32, _ raw: Int64) -> String? {
        guard let control = mapped.first(where: { $0.mapping.id == id }), control.native.is_volatile == 0 else {
            return nil
        }
        return "\(control.mapping.key.rawValue) was set to \(control.value(from: raw).description) outside the broker."
    }
}
