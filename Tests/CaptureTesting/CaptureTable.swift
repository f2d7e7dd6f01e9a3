package import ArbiterProtocol

/// The rules of docs/capture.md for a batch on a simulated camera, written down a second time: from its tables and from
/// the keys' comments alone, so that `ConfigurationCheck` has something to agree with. It has no sentences, only whose
/// fault a refusal is.
package struct CaptureTable {
    package let camera: CameraCapabilities

    package init(_ camera: CameraCapabilities) { self.camera = camera }

    /// By the key's word.
    package typealias Batch = [String: ConfigurationValue]

    package struct State: Hashable {
        /// `nil`: the format was named, or is the camera's own.
        package var preset: String?
        /// Its place in the camera's list.
        package var format: Int
        /// Seconds; nil where nobody asked.
        package var shortest: Double?
        package var longest: Double?
        package var zoom = 1.0
        /// The controls that were set.
        package var set: Batch = [:]
    }

    package enum Verdict: Hashable {
        /// By the key that is wrong, or one of those that are.
        case refused(String)
        case taken(State)

        package var isTaken: Bool { if case .taken = self { true } else { false } }
    }

    package var beginning: State { State(format: camera.defaultFormatIndex) }

    package func verdict(_ batch: Batch, over state: State, isRecording: Bool = false) -> Verdict {
        if let key = misshapen(batch) ?? opposed(batch) ?? foreign(batch) { return .refused(key) }
        var next = state
        if let key = chooseFormat(batch, &next) { return .refused(key) }
        if isRecording, camera.formats[next.format] != camera.formats[state.format] { return .refused("activeFormat") }
        if let key = setFrames(batch, &next) ?? setZoom(batch, &next) ?? setControls(batch, &next) {
            return .refused(key)
        }
        if let key = exposedTooLong(batch, next) ?? tooMuchLight(batch, next) { return .refused(key) }
        return .taken(next)
    }

    /// A batch into one that is open: as if both had been one, where the later word counts.
    package func collected(_ batch: Batch, into open: Batch) -> Batch {
        var all = open
        func forget(_ keys: [String]) { for key in keys { all[key] = nil } }
        let preset = batch["sessionPreset"].map { $0.description }
        if batch["activeFormat"] != nil || preset.map({ $0 != "inputPriority" }) ?? false {
            forget(["sessionPreset", "activeFormat"] + Self.frames)
        }
        if batch["frameRate"] != nil {
            forget(["activeVideoMinFrameDuration", "activeVideoMaxFrameDuration"])
        } else if batch.keys.contains(where: Self.frames.contains), let rate = all["frameRate"]?.asNumber {
            all["frameRate"] = nil
            all["activeVideoMinFrameDuration"] = .number(1 / rate)
            all["activeVideoMaxFrameDuration"] = .number(1 / rate)
        }
        if batch["videoZoomFactor"] != nil { forget(["cancelVideoZoomRamp"]) }
        for (key, mode) in Self.governed where batch[mode.key].map({ $0 != mode.manual }) ?? false { forget([key]) }
        // `inputPriority` keeps the format of a preset that the open batch has.
        if preset == "inputPriority", batch["activeFormat"] == nil, let chosen = all["sessionPreset"]?.description,
            chosen != "inputPriority", let format = place(preset: chosen)
        {
            all["activeFormat"] = .text(camera.formats[format].name)
            if all["frameRate"] == nil, all["activeVideoMinFrameDuration"] == nil {
                let held = State(preset: chosen, format: format)
                if cap(held) < camera.formats[format].maxFrameRate {
                    if all["activeVideoMaxFrameDuration"] == nil {
                        all["frameRate"] = .number(cap(held))
                    } else {
                        all["activeVideoMinFrameDuration"] = .number(1 / cap(held))
                    }
                }
            }
        }
        all.merge(batch) { $1 }
        if batch["activeFormat"] != nil || preset != nil, batch["videoZoomFactor"] == nil,
            let zoom = all["videoZoomFactor"]?.asNumber
        {
            var named = beginning
            if chooseFormat(all, &named) == nil, zoom > camera.formats[named.format].videoMaxZoomFactor {
                all["videoZoomFactor"] = nil
            }
        }
        return all
    }

    static let frames = ["frameRate", "activeVideoMinFrameDuration", "activeVideoMaxFrameDuration"]

    /// The word of the mode that a value depends on.
    static let governed: [String: (key: String, manual: ConfigurationValue)] = [
        "lensPosition": ("focusMode", .text("locked")),
        "exposureDuration": ("exposureMode", .text("custom")),
        "iso": ("exposureMode", .text("custom")),
        "whiteBalanceGains": ("whiteBalanceMode", .text("locked")),
        "torchLevel": ("torchMode", .text("on")),
        "videoHDREnabled": ("automaticallyAdjustsVideoHDREnabled", .flag(false)),
    ]

    // MARK: What a batch says

    /// Whether each value is of its key's kind.
    private func misshapen(_ batch: Batch) -> String? {
        for (key, value) in batch {
            if Self.saidKeys.contains(key) { return key }
            let fits: Bool =
                switch key {
                case "sessionPreset": Self.presets.contains(value.description) && value.isText
                case "whenBusy": ["refuse", "interrupt"].contains(value.description) && value.isText
                case "sharingMode": ["exclusiveControl", "sharedReadOnly"].contains(value.description) && value.isText
                case "camera", "activeFormat": value.isText
                case "usesAudio", "cancelVideoZoomRamp": value.isFlag
                case "frameRate", "activeVideoMinFrameDuration", "activeVideoMaxFrameDuration", "videoZoomFactor",
                    "videoZoomRampRate":
                    value.asNumber?.isFinite ?? false
                default: true  // A control, of which the camera's list says what it takes.
                }
            if !fits { return key }
        }
        return nil
    }

    /// Two keys that say different things about one.
    private func opposed(_ batch: Batch) -> String? {
        if batch["activeFormat"] != nil, let preset = batch["sessionPreset"], preset != .text("inputPriority") {
            return "sessionPreset"
        }
        if batch["frameRate"] != nil, Self.frames.filter({ batch[$0] != nil }).count > 1 { return "frameRate" }
        if batch["videoZoomRampRate"] != nil, batch["videoZoomFactor"] == nil { return "videoZoomRampRate" }
        if batch["cancelVideoZoomRamp"] == .flag(true), batch["videoZoomFactor"] != nil { return "cancelVideoZoomRamp" }
        return nil
    }

    /// Keys that only the camera reports.
    private static let saidKeys: Set = [
        "activeVideoStabilizationMode", "adjustingFocus", "adjustingExposure", "adjustingWhiteBalance",
        "pipelineRebuilds",
    ]

    private static let ownKeys: Set = [
        "camera", "usesAudio", "whenBusy", "sharingMode", "sessionPreset", "activeFormat", "frameRate",
        "activeVideoMinFrameDuration", "activeVideoMaxFrameDuration", "videoZoomFactor", "videoZoomRampRate",
        "cancelVideoZoomRamp",
    ]

    /// A control that the camera does not list, or lists with other values.
    private func foreign(_ batch: Batch) -> String? {
        for (key, value) in batch where !Self.ownKeys.contains(key) {
            guard let control = camera.controls.first(where: { $0.key.rawValue == key }) else { return key }
            let fits: Bool =
                switch control.takes {
                case .flag: value.isFlag
                case .words(let words): value.isText && words.contains(value.description)
                case .range(let least, let most, _): value.asNumber.map { $0 >= least && $0 <= most } ?? false
                case .point: value.numbers.count == 2 && value.numbers.allSatisfy { $0 >= 0 && $0 <= 1 }
                case .gains(let most): value.numbers.count == 3 && value.numbers.allSatisfy { $0 >= 1 && $0 <= most }
                }
            if !fits { return key }
        }
        return nil
    }
}

extension ConfigurationValue {
    var isText: Bool { if case .text = self { true } else { false } }
    var isFlag: Bool { if case .flag = self { true } else { false } }
    package var asNumber: Double? { if case .number(let number) = self { number } else { nil } }
}

extension Configuration {
    package var byWord: CaptureTable.Batch {
        CaptureTable.Batch(uniqueKeysWithValues: ordered.map { ($0.key.rawValue, $0.value) })
    }

    package init(byWord batch: CaptureTable.Batch) {
        self.init(
            Dictionary(
                uniqueKeysWithValues: batch.compactMap { word, value in
                    ConfigurationKey(rawValue: word).map { ($0, value) }
                }))
    }
}

extension CaptureTable.Batch {
    /// For a failure's sentence.
    package var said: String {
        "{\(keys.sorted().map { "\($0)=\(self[$0]?.description ?? "")" }.joined(separator: " "))}"
    }
}
