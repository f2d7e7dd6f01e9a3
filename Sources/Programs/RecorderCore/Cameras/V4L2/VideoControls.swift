import ArbiterProtocol
import CMedia
import System

/// A device's controls under the keys that apps use. Each grant begins with the usual values, whatever was set before.
final class VideoControls {
    private let device: any VideoDevice
    private let mapped: [MappedControl]
    private let hasPrivacy, hasStrobe, canFocusOnce: Bool
    /// The values of keys in the last batch, for words that several of the device's values could mean.
    private var applied = Configuration()
    let list: [CameraControl]

    init(_ device: any VideoDevice) {
        self.device = device
        mapped = MappedControl.table.compactMap { key, id, meaning in
            device.control(id).flatMap { MappedControl(key, meaning, $0, on: device) }
        }
        hasPrivacy = device.control(camarb_cid_privacy) != nil
        hasStrobe = device.control(camarb_cid_flash_strobe) != nil
        let canFocusOnce = device.control(camarb_cid_auto_focus_start) != nil
        self.canFocusOnce = canFocusOnce
        list = mapped.map { control in
            var described = control.described
            if canFocusOnce, control.key == .focusMode, case .words(let words) = described.takes {
                described.takes = .words(words + ["auto"])
            }
            return described
        }
    }

    var isPrivate: Bool { hasPrivacy && ((try? device.value(of: camarb_cid_privacy)) ?? 0) != 0 }

    func subscribe() {
        for id in Set(mapped.map(\.native.id)).sorted() { device.subscribe(to: id) }
        if hasPrivacy { device.subscribe(to: camarb_cid_privacy) }
    }

    /// Sets every control that differs from its wanted value, modes first.
    func apply(_ wanted: Configuration) throws(VideoFault) {
        do throws(VideoFault) {
            try write(wanted)
            applied = wanted
        } catch {
            try? write(applied)
            throw error
        }
    }

    /// For another session: a focus once for each session is carried out again.
    func beginAnew() { applied = Configuration() }

    func reset() {
        try? write(Configuration())
        applied = Configuration()
    }

    private func write(_ wanted: Configuration) throws(VideoFault) {
        for (control, described) in zip(mapped, list) where isWritten(control.key, wanted) {
            var value = wanted[control.key] ?? described.usual
            let focusesOnce = control.key == .focusMode && value == .text("auto")
            if focusesOnce { value = .text("locked") }
            guard let raw = control.raw(from: value) else { continue }
            do throws(VideoFault) {
                if try device.value(of: control.native.id) != raw { try device.set(control.native.id, to: raw) }
                if focusesOnce, applied[.focusMode] != .text("auto") {
                    try device.set(camarb_cid_auto_focus_start, to: 1)
                }
            } catch {
                // Nobody asked for this one: a control that cannot be set just now stays as it is.
                if wanted[control.key] == nil, error.number != ENODEV { continue }
                throw VideoFault("set \(control.key.rawValue) to \(value.description)", error.number)
            }
        }
    }

    private func isWritten(_ key: ConfigurationKey, _ wanted: Configuration) -> Bool {
        // Torch and flash are two keys of one control: whichever is on counts, and the torch's value when both are off.
        let isFlash = wanted[.flashMode] == .text("on")
        if key == .torchMode, isFlash { return false }
        if key == .flashMode, !isFlash, mapped.contains(where: { $0.key == .torchMode }) { return false }
        // A value that an automatic mode decides cannot be set, and need not be.
        for mode in key.modes {
            guard let modes = list.first(where: { $0.key == mode.key }) else { continue }
            return mode.manual.contains(wanted[mode.key] ?? modes.usual)
        }
        return true
    }

    var inForce: Configuration {
        var found = Configuration()
        for control in mapped {
            guard let raw = try? device.value(of: control.native.id) else { continue }
            // Of two words for one of the device's values, the requested one is in force.
            if let asked = applied[control.key], control.raw(from: asked) == raw, case .text = asked {
                found[control.key] = asked
            } else {
                found[control.key] = control.value(from: raw)
            }
        }
        return found
    }

    func strobe() {
        guard hasStrobe, applied[.flashMode] == .text("on") else { return }
        try? device.set(camarb_cid_flash_strobe, to: 1)
    }

    /// A sentence about a change by another program; `nil` for a control without a key, or one that changes by itself.
    func changedOutside(_ id: UInt32, _ raw: Int64) -> String? {
        guard let control = mapped.first(where: { $0.native.id == id }), control.native.is_volatile == 0 else {
            return nil
        }
        return "\(control.key.rawValue) was set to \(control.value(from: raw).description) outside the broker."
    }
}

extension camarb_video_control {
    /// The control as it can be used, whatever its driver reports: with a step that leads from the least to the most, and a
    /// usual value between them. `nil` where it has values beyond the 32 bits that a control can be set to.
    var usable: camarb_video_control? {
        guard least >= Int64(Int32.min), most <= Int64(Int32.max), least <= most else { return nil }
        var usable = self
        usable.step = min(max(1, step), max(1, most - least))
        usable.usual = min(max(least, usual), most)
        return usable
    }
}
