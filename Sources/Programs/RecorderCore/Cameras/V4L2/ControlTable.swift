import ArbiterProtocol
import CMedia

/// Which of the kernel's controls a configuration key stands for, and how their values are told.
struct ControlMapping {
    var key: ConfigurationKey
    var id: UInt32
    var meaning: Meaning

    enum Meaning {
        /// The device's own steps.
        case level
        /// The device's steps are this much each, in the key's unit.
        case amount(unit: Double)
        /// From 0 at the least to 1 at the most.
        case share
        /// From 0 at the most to 1 at the least: the device counts the other way round.
        case inverseShare
        case flag
        /// A word for each of the device's values; where several values mean a word, the first that there is.
        case words([(word: String, values: [Int64])])

        var unit: Double { if case .amount(let unit) = self { unit } else { 1 } }
    }

    private static func map(_ key: ConfigurationKey, _ id: UInt32, _ meaning: Meaning) -> ControlMapping {
        ControlMapping(key: key, id: id, meaning: meaning)
    }

    /// Modes come before the values that they overrule: they are set in this order.
    static let all: [ControlMapping] = [
        map(.focusMode, camarb_cid_focus_auto, .words([("locked", [0]), ("continuousAuto", [1])])),
        // The kernel's greater numbers are nearer.
        map(.lensPosition, camarb_cid_focus_absolute, .inverseShare),
        // 0 is all automatic, 3 leaves the aperture, which few cameras have; 1 is all by hand.
        map(.exposureMode, camarb_cid_exposure_auto, .words([("custom", [1]), ("continuousAuto", [0, 3])])),
        map(.exposureDuration, camarb_cid_exposure_absolute, .amount(unit: 0.0001)),
        map(.exposureTargetBias, camarb_cid_auto_exposure_bias, .amount(unit: 0.001)),
        map(.isoMode, camarb_cid_iso_sensitivity_auto, .words([("custom", [0]), ("continuousAuto", [1])])),
        map(.iso, camarb_cid_iso_sensitivity, .amount(unit: 0.001)),
        map(.gainMode, camarb_cid_autogain, .words([("locked", [0]), ("continuousAuto", [1])])),
        map(.gain, camarb_cid_gain, .level),
        map(.whiteBalanceMode, camarb_cid_auto_white_balance, .words([("locked", [0]), ("continuousAuto", [1])])),
        map(.whiteBalanceTemperature, camarb_cid_white_balance_temperature, .level),
        map(.videoHDREnabled, camarb_cid_wide_dynamic_range, .flag),
        map(
            .preferredVideoStabilizationMode, camarb_cid_image_stabilization, .words([("off", [0]), ("standard", [1])])),
        // One control for both: 0 is off, 1 the flash, 2 the torch. Whichever is on counts (VideoControls).
        map(.torchMode, camarb_cid_flash_led_mode, .words([("off", [0]), ("on", [2])])),
        map(.torchLevel, camarb_cid_flash_torch_intensity, .share),
        map(.flashMode, camarb_cid_flash_led_mode, .words([("off", [0]), ("on", [1])])),
        map(.videoMirrored, camarb_cid_hflip, .flag),
        map(.videoFlipped, camarb_cid_vflip, .flag),
        map(.brightness, camarb_cid_brightness, .level),
        map(.contrast, camarb_cid_contrast, .level),
        map(.saturation, camarb_cid_saturation, .level),
        map(.hue, camarb_cid_hue, .level),
        map(.sharpness, camarb_cid_sharpness, .level),
    ]
}

extension camarb_video_control {
    /// As it can be used, whatever its driver says of it: with a step that leads from the least to the most, and a usual value
    /// between them. Nil where it has values that no control can be set to, which have 32 bits.
    var usable: camarb_video_control? {
        guard least >= Int64(Int32.min), most <= Int64(Int32.max), least <= most else { return nil }
        var usable = self
        usable.step = min(max(1, step), max(1, most - least))
        usable.usual = min(max(least, usual), most)
        return usable
    }
}

struct MappedControl {
    let mapping: ControlMapping
    let native: camarb_video_control
    /// A menu's entries, and a menu of numbers' numbers.
    let menu: [(index: Int64, value: Int64)]

    /// What a Double holds exactly.
    private static let menuValueMax: UInt64 = 1 << 53

    private var isMenu: Bool { native.kind == camarb_control_menu || native.kind == camarb_control_integer_menu }

    /// Nil when the device's control is of a kind that the mapping does not mean.
    init?(_ mapping: ControlMapping, _ native: camarb_video_control, menu: [(index: Int64, value: Int64)]) {
        guard native.is_read_only == 0, let native = native.usable,
            // Its differences and products are numbers.
            menu.allSatisfy({ $0.value.magnitude <= Self.menuValueMax })
        else { return nil }
        (self.mapping, self.native, self.menu) = (mapping, native, menu)
        switch mapping.meaning {
        case .level, .amount:
            guard native.kind == camarb_control_integer || native.kind == camarb_control_integer_menu else {
                return nil
            }
            if isMenu, menu.isEmpty { return nil }
        case .share, .inverseShare:
            guard native.kind == camarb_control_integer, native.most > native.least else { return nil }
        case .flag: guard native.kind == camarb_control_boolean else { return nil }
        case .words: guard words.count > 1 else { return nil }
        }
    }

    private var words: [(word: String, value: Int64)] {
        guard case .words(let all) = mapping.meaning else { return [] }
        return all.compactMap { word, values in
            values.first { value in
                isMenu ? menu.contains { $0.index == value } : value >= native.least && value <= native.most
            }.map { (word, $0) }
        }
    }

    /// What the key's unit makes of the device's least and most.
    private var numbers: (least: Double, most: Double, step: Double) {
        let unit = mapping.meaning.unit
        if native.kind == camarb_control_integer_menu {
            let values = menu.map(\.value).sorted()
            let gaps = zip(values.dropFirst(), values).map { $0 - $1 }.filter { $0 > 0 }
            return (Double(values.first ?? 0) * unit, Double(values.last ?? 0) * unit, Double(gaps.min() ?? 1) * unit)
        }
        return (Double(native.least) * unit, Double(native.most) * unit, Double(native.step) * unit)
    }

    var described: CameraControl {
        let usual = value(from: native.usual)
        switch mapping.meaning {
        case .level, .amount:
            let (least, most, step) = numbers
            return CameraControl(mapping.key, .range(least: least, most: most, step: step), usual: usual)
        case .share, .inverseShare:
            let step = Double(native.step) / Double(native.most - native.least)
            return CameraControl(mapping.key, .range(least: 0, most: 1, step: step), usual: usual)
        case .flag: return CameraControl(mapping.key, .flag, usual: usual)
        case .words: return CameraControl(mapping.key, .words(words.map(\.word)), usual: usual)
        }
    }

    func value(from raw: Int64) -> ConfigurationValue {
        switch mapping.meaning {
        case .level, .amount:
            let number =
                native.kind == camarb_control_integer_menu
                ? menu.first { $0.index == raw }?.value ?? menu.first?.value ?? 0 : raw
            // A product like 3 * 0.0001 is written as a person would.
            return .number((Double(number) * mapping.meaning.unit * 1e9).rounded() / 1e9)
        case .share, .inverseShare:
            let share = Double(raw - native.least) / Double(native.most - native.least)
            if case .inverseShare = mapping.meaning { return .number(1 - share) }
            return .number(share)
        case .flag: return .flag(raw != 0)
        case .words(let all):
            // A value that none of the words means is what the first of them is nearest to: not automatic.
            return .text(all.first { $0.values.contains(raw) }?.word ?? words.first?.word ?? "")
        }
    }

    /// The device's value for one of the key's, rounded to the nearest step; nil when it is of another type.
    func raw(from value: ConfigurationValue) -> Int64? {
        switch (mapping.meaning, value) {
        case (.level, .number(let number)), (.amount, .number(let number)):
            let unit = mapping.meaning.unit
            if native.kind == camarb_control_integer_menu {
                return menu.min { abs(Double($0.value) * unit - number) < abs(Double($1.value) * unit - number) }?.index
            }
            return stepped(number / unit)
        case (.share, .number(let share)):
            return stepped(Double(native.least) + share * Double(native.most - native.least))
        case (.inverseShare, .number(let share)):
            return stepped(Double(native.most) - share * Double(native.most - native.least))
        case (.flag, .flag(let flag)): return flag ? 1 : 0
        case (.words, .text(let word)): return words.first { $0.word == word }?.value
        default: return nil
        }
    }

    private func stepped(_ number: Double) -> Int64? {
        guard number.isFinite else { return nil }
        let clamped = min(max(number, Double(native.least)), Double(native.most))
        let steps = ((clamped - Double(native.least)) / Double(native.step)).rounded()
        return min(native.most, native.least + Int64(steps) * native.step)
    }
}
