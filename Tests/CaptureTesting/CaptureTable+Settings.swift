import ArbiterProtocol

extension CaptureTable {
    static let presets: Set = [
        "photo", "high", "medium", "low", "352x288", "640x480", "1280x720", "1920x1080", "3840x2160", "iFrame960x540",
        "iFrame1280x720", "inputPriority",
    ]

    /// The rest of a division of a rate.
    private static let slack = 1e-6

    // MARK: Formats and presets

    /// The place of the format that a preset picks; nil where the camera has none.
    package func place(preset: String) -> Int? {
        func sized(_ width: Int, _ height: Int) -> [Int] {
            camera.formats.indices.filter { camera.formats[$0].width == width && camera.formats[$0].height == height }
        }
        func shaped(_ across: Int, _ down: Int, in pixelFormat: String? = nil) -> [Int] {
            let all = camera.formats.indices.filter {
                let format = camera.formats[$0]
                return format.width * down == format.height * across
                    && pixelFormat ?? format.pixelFormat == format.pixelFormat
            }
            let most = all.map { camera.formats[$0].width }.max() ?? 0
            return all.filter { camera.formats[$0].width == most }
        }
        let meant: [Int]
        switch preset {
        case "photo": meant = shaped(4, 3, in: "420f")
        case "high": meant = sized(1920, 1080).isEmpty ? shaped(16, 9) : sized(1920, 1080)
        case "medium": meant = sized(480, 360)
        case "low": meant = sized(192, 144)
        case "iFrame960x540": meant = sized(960, 540)
        case "iFrame1280x720": meant = sized(1280, 720)
        default:
            let sides = preset.split(separator: "x").compactMap { Int($0) }
            meant = sides.count == 2 ? sized(sides[0], sides[1]) : []
        }
        // None reaches 60: one that is slower by itself comes first, and whole pixels before pairs of them.
        return meant.min { one, other in order(one).lexicographicallyPrecedes(order(other)) }
    }

    private func order(_ place: Int) -> [Double] {
        let format = camera.formats[place]
        return [
            format.maxFrameRate < 60 ? 0 : 1, format.isBinned ? 1 : 0, format.pixelFormat == "420v" ? 0 : 1,
            -format.maxFrameRate, Double(place),
        ]
    }

    private func place(format name: String) -> Int? {
        camera.formats.firstIndex { $0.name == name }
            ?? camera.formats.firstIndex { name == "\($0.pixelFormat) \($0.width)x\($0.height)" }
    }

    /// - Returns: the key that is wrong.
    func chooseFormat(_ batch: Batch, _ next: inout State) -> String? {
        func takeOver(_ place: Int, _ preset: String?) {
            next.format = place
            next.preset = preset
            (next.shortest, next.longest) = (nil, nil)
        }
        if let name = batch["activeFormat"] {
            guard let place = place(format: name.description) else { return "activeFormat" }
            takeOver(place, nil)
        } else if batch["sessionPreset"] == .text("inputPriority") {
            // The picture stays what it is, and so does its rate.
            if next.preset != nil, cap(next) < camera.formats[next.format].maxFrameRate, next.shortest == nil {
                next.shortest = 1 / cap(next)
                next.longest = next.longest ?? next.shortest
            }
            next.preset = nil
        } else if let preset = batch["sessionPreset"]?.description {
            guard let place = place(preset: preset) else { return "sessionPreset" }
            takeOver(place, preset)
        }
        if next.zoom > camera.formats[next.format].videoMaxZoomFactor { next.zoom = 1 }
        return nil
    }

    /// Frames a second at most.
    func cap(_ state: State) -> Double {
        let most = camera.formats[state.format].maxFrameRate
        return state.preset != nil && most >= 60 ? 30 : most
    }

    // MARK: Frame durations and zoom

    func setFrames(_ batch: Batch, _ next: inout State) -> String? {
        let (least, most) = (1 / cap(next), 1 / camera.formats[next.format].minFrameRate)
        func isInside(_ seconds: Double) -> Bool {
            seconds >= least * (1 - Self.slack) && seconds <= most * (1 + Self.slack)
        }
        if let rate = batch["frameRate"]?.asNumber {
            guard rate > 0, isInside(1 / rate) else { return "frameRate" }
            (next.shortest, next.longest) = (1 / rate, 1 / rate)
        }
        if let seconds = batch["activeVideoMinFrameDuration"]?.asNumber {
            guard isInside(seconds) else { return "activeVideoMinFrameDuration" }
            next.shortest = seconds
        }
        if let seconds = batch["activeVideoMaxFrameDuration"]?.asNumber {
            guard isInside(seconds) else { return "activeVideoMaxFrameDuration" }
            next.longest = seconds
        }
        let isNamed = batch.keys.contains(where: Self.frames.contains)
        if isNamed, let shortest = next.shortest, let longest = next.longest, shortest > longest {
            return "activeVideoMinFrameDuration"
        }
        return nil
    }

    /// Seconds from frame to frame, at least and at most.
    package func frameDurations(_ state: State) -> (shortest: Double, longest: Double) {
        let shortest = state.shortest ?? 1 / cap(state)
        return (shortest, state.longest ?? shortest)
    }

    func setZoom(_ batch: Batch, _ next: inout State) -> String? {
        if let rate = batch["videoZoomRampRate"]?.asNumber, rate <= 0 || rate > 100 { return "videoZoomRampRate" }
        guard let zoom = batch["videoZoomFactor"]?.asNumber else { return nil }
        guard zoom >= 1, zoom <= camera.formats[next.format].videoMaxZoomFactor else { return "videoZoomFactor" }
        next.zoom = zoom
        return nil
    }

    // MARK: Controls

    private func value(_ key: String, _ state: State) -> ConfigurationValue? {
        state.set[key] ?? camera.controls.first { $0.key.rawValue == key }?.usual
    }

    func setControls(_ batch: Batch, _ next: inout State) -> String? {
        let controls = batch.filter { key, _ in camera.controls.contains { $0.key.rawValue == key } }
        next.set.merge(controls) { $1 }
        for (key, mode) in Self.governed where value(mode.key, next) != mode.manual {
            if controls[key] != nil { return key }
            next.set[key] = nil
        }
        let optics = camera.formats[next.format].optics
        for (key, range) in [("iso", optics.iso), ("exposureDuration", optics.exposureDuration)] {
            guard let range, let number = controls[key]?.asNumber else { continue }
            if number < range.least || number > range.most { return key }
        }
        if let mode = controls["preferredVideoStabilizationMode"]?.description, mode != "off", mode != "auto",
            !optics.videoStabilizationModes.contains(where: { $0.rawValue == mode })
        {
            return "preferredVideoStabilizationMode"
        }
        if controls["videoHDREnabled"] == .flag(true), !optics.isVideoHDRSupported { return "videoHDREnabled" }
        return nil
    }

    /// A frame cannot be exposed for longer than it lasts.
    func exposedTooLong(_ batch: Batch, _ next: State) -> String? {
        guard batch.keys.contains(where: { Self.frames.contains($0) || $0 == "exposureDuration" }),
            let seconds = next.set["exposureDuration"]?.asNumber,
            seconds > frameDurations(next).longest * (1 + Self.slack)
        else { return nil }
        return "exposureDuration"
    }

    /// Torch and flash are one lamp.
    func tooMuchLight(_ batch: Batch, _ next: State) -> String? {
        guard batch["torchMode"] != nil || batch["flashMode"] != nil,
            let torch = value("torchMode", next), torch != .text("off"),
            let flash = value("flashMode", next), flash != .text("off")
        else { return nil }
        return "torchMode"
    }

    // MARK: What comes of it

    package func isVideoHDREnabled(_ state: State) -> Bool {
        guard camera.formats[state.format].optics.isVideoHDRSupported else { return false }
        return value("automaticallyAdjustsVideoHDREnabled", state) == .flag(true)
            ? state.preset != nil : state.set["videoHDREnabled"] == .flag(true)
    }

    /// The word that `activeVideoStabilizationMode` has; nil where the camera has no such thing.
    package func stabilization(_ state: State) -> String? {
        guard let preferred = value("preferredVideoStabilizationMode", state)?.description else { return nil }
        let has = camera.formats[state.format].optics.videoStabilizationModes.map(\.rawValue)
        if preferred == "auto" { return has.contains("cinematic") ? "cinematic" : has.first ?? "off" }
        return has.contains(preferred) ? preferred : "off"
    }

    /// Seconds, while the session sets them.
    package func exposureDuration(_ state: State) -> Double? {
        guard value("exposureMode", state) == .text("custom"), let seconds = value("exposureDuration", state)?.asNumber,
            let range = camera.formats[state.format].optics.exposureDuration
        else { return nil }
        return min(max(seconds, range.least), range.most, frameDurations(state).longest)
    }
}
