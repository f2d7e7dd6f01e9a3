import ArbiterProtocol
import CMedia

/// A device's control under a configuration key, with the mapping of their values.
struct MappedControl {
    enum Meaning {
        /// The device's steps are this much each, in the key's unit.
        case number(unit: Double)
        /// From 0 at the least to 1 at the most, or the other way round.
        case share(isInverse: Bool)
        case flag
        /// A word for each of the device's values; where several values mean a word, the first that there is.
        case words([(word: String, values: [Int64])])

        static let level = number(unit: 1)
    }

    /// Modes come before the values that they overrule: they are set in this order.
    static let table: [(key: ConfigurationKey, id: UInt32, meaning: Meaning)] = [
        (.focusMode, camarb_cid_focus_auto, .words([("locked", [0]), ("continuousAuto", [1])])),
        // The kernel's greater numbers are nearer.
        (.lensPosition, camarb_cid_focus_absolute, .share(isInverse: true)),
        // 0 is all automatic, 3 leaves the aperture, which few cameras have; 1 is all by hand.
        (.exposureMode, camarb_cid_exposure_auto, .words([("custom", [1]), ("continuousAuto", [0, 3])])),
        (.exposureDuration, camarb_cid_exposure_absolute, .number(unit: 0.0001)),
        (.exposureTargetBias, camarb_cid_auto_exposure_bias, .number(unit: 0.001)),
        (.isoMode, camarb_cid_iso_sensitivity_auto, .words([("custom", [0]), ("continuousAuto", [1])])),
        (.iso, camarb_cid_iso_sensitivity, .number(unit: 0.001)),
        (.gainMode, camarb_cid_autogain, .words([("locked", [0]), ("continuousAuto", [1])])),
        (.gain, camarb_cid_gain, .level),
        (.whiteBalanceMode, camarb_cid_auto_white_balance, .words([("locked", [0]), ("continuousAuto", [1])])),
        (.whiteBalanceTemperature, camarb_cid_white_balance_temperature, .level),
        (.videoHDREnabled, camarb_cid_wide_dynamic_range, .flag),
        (.preferredVideoStabilizationMode, camarb_cid_image_stabilization, .words([("off", [0]), ("standard", [1])])),
        // One control for both: 0 is off, 1 the flash, 2 the torch.
        (.torchMode, camarb_cid_flash_led_mode, .words([("off", [0]), ("on", [2])])),
        (.torchLevel, camarb_cid_flash_torch_intensity, .share(isInverse: false)),
        (.flashMode, camarb_cid_flash_led_mode, .words([("off", [0]), ("on", [1])])),
        (.videoMirrored, camarb_cid_hflip, .flag),
        (.videoFlipped, camarb_cid_vflip, .flag),
        (.brightness, camarb_cid_brightness, .level),
        (.contrast, camarb_cid_contrast, .level),
        (.saturation, camarb_cid_saturation, .level),
        (.hue, camarb_cid_hue, .level),
        (.sharpness, camarb_cid_sharpness, .level),
    ]

    let key: ConfigurationKey
    let native: camarb_video_control
    private let meaning: Meaning
    /// A menu's entries, and a menu of numbers' numbers; `nil` where the control is no menu.
    private let menu: [(index: Int64, value: Int64)]?
    private let words: [(word: String, value: Int64)]

    /// The greatest number that a Double holds exactly.
    private static let menuValueMax: UInt64 = 1 << 53

    /// `nil` when the device's control is of a kind that the mapping does not mean.
    init?(_ key: ConfigurationKey, _ meaning: Meaning, _ found: camarb_video_control, on device: any VideoDevice) {
        guard found.is_read_only == 0, let native = found.usable else { return nil }
        let isNumbers = native.kind == camarb_control_integer_menu
        let menu = isNumbers || native.kind == camarb_control_menu ? device.menu(found) : nil
        // Differences and products of a menu's numbers must be numbers.
        guard menu?.allSatisfy({ $0.value.magnitude <= Self.menuValueMax }) ?? true else { return nil }
        var words: [(word: String, value: Int64)] = []
        let isMeant: Bool
        switch meaning {
        case .number: isMeant = isNumbers ? menu?.isEmpty == false : native.kind == camarb_control_integer
        case .share: isMeant = native.kind == camarb_control_integer && native.most > native.least
        case .flag: isMeant = native.kind == camarb_control_boolean
        case .words(let all):
            words = all.compactMap { word, values in
                values.first { value in
                    menu?.contains { $0.index == value } ?? (native.least...native.most ~= value)
                }.map { (word, $0) }
            }
            isMeant = words.count > 1
        }
        guard isMeant else { return nil }
        (self.key, self.meaning, self.native, self.menu, self.words) = (key, meaning, native, menu, words)
    }

    private var numbers: [(index: Int64, value: Int64)]? { native.kind == camarb_control_integer_menu ? menu : nil }
    private var range: Double { Double(native.most - native.least) }

    var described: CameraControl {
        let takes: CameraControl.Takes
        switch meaning {
        case .number(let unit):
            var (least, most, step) = (native.least, native.most, native.step)
            if let values = numbers?.map(\.value).sorted() {
                (least, most) = (values.first ?? 0, values.last ?? 0)
                step = zip(values.dropFirst(), values).map { $0 - $1 }.filter { $0 > 0 }.min() ?? 1
            }
            takes = .range(least: Double(least) * unit, most: Double(most) * unit, step: Double(step) * unit)
        case .share: takes = .range(least: 0, most: 1, step: Double(native.step) / range)
        case .flag: takes = .flag
        case .words: takes = .words(words.map(\.word))
        }
        return CameraControl(key, takes, usual: value(from: native.usual))
    }

    func value(from raw: Int64) -> ConfigurationValue {
        switch meaning {
        case .number(let unit):
            let number = numbers.map { menu in menu.first { $0.index == raw }?.value ?? menu.first?.value ?? 0 } ?? raw
            // A product like 3 * 0.0001 is written as a person would.
            return .number((Double(number) * unit * 1e9).rounded() / 1e9)
        case .share(let isInverse):
            let share = Double(raw - native.least) / range
            return .number(isInverse ? 1 - share : share)
        case .flag: return .flag(raw != 0)
        case .words(let all):
            // A value without a word is nearest to the first of them: not automatic.
            return .text(all.first { $0.values.contains(raw) }?.word ?? words.first?.word ?? "")
        }
    }

    /// The device's value for one of the key's, rounded to the nearest step; `nil` when it is of another type.
    func raw(from value: ConfigurationValue) -> Int64? {
        switch (meaning, value) {
        case (.number(let unit), .number(let number)):
            guard let numbers else { return stepped(number / unit) }
            return numbers.min { abs(Double($0.value) * unit - number) < abs(Double($1.value) * unit - number) }?.index
        case (.share(let isInverse), .number(let share)):
            return stepped(isInverse ? Double(native.most) - share * range : Double(native.least) + share * range)
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
