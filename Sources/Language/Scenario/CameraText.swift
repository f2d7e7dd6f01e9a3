import ArbiterProtocol

enum CameraText {
    private static let usualFieldOfView = 60.0

    /// What a camera can do when a line says nothing: full HD with a zoom of 4, half of it lossless, or 720p at double speed.
    static func usual(_ camera: CameraID, _ position: CameraPosition) -> CameraCapabilities {
        CameraCapabilities(
            name: camera.name, position: position, sensorWidth: 3840, sensorHeight: 2160,
            formats: [
                CameraFormat(
                    pixelFormat: "420v", width: 1920, height: 1080, minFrameRate: 1, maxFrameRate: 30,
                    videoMaxZoomFactor: 4, videoZoomFactorUpscaleThreshold: 2),
                CameraFormat(
                    pixelFormat: "420v", width: 1280, height: 720, minFrameRate: 1, maxFrameRate: 60,
                    videoMaxZoomFactor: 2),
            ])
    }

    /// `420v 1280x720@30`, `420v 1280x720@5-60`. Nil when the text is no format.
    static func format(_ text: String) -> CameraFormat? {
        let parts = text.split(separator: " ")
        guard parts.count >= 2, parts.count <= 3, parts.count == 2 || parts[2] == "binned" else { return nil }
        let halves = parts[1].split(separator: "@", maxSplits: 1)
        let sides = halves[0].split(separator: "x").compactMap { Int($0) }
        guard halves.count == 2, sides.count == 2, sides.allSatisfy({ (1...65536).contains($0) }) else { return nil }
        let rates = halves[1].split(separator: "-").compactMap { Double($0) }
        guard let last = rates.last, rates.count <= 2, rates.allSatisfy({ $0 > 0 && $0.isFinite }) else { return nil }
        return CameraFormat(
            pixelFormat: String(parts[0]), width: sides[0], height: sides[1],
            minFrameRate: rates.count == 2 ? rates[0] : min(1, last), maxFrameRate: last, isBinned: parts.count == 3)
    }

    static func write(_ capabilities: CameraCapabilities, of camera: CameraID, at seat: SeatID) -> String {
        var words = [capabilities.position.rawValue]
        if seat != .usual { words.append("seat=\(seat.name.scenarioWord)") }
        if capabilities.name != camera.name { words.append("name=\(capabilities.name.scenarioWord)") }
        words.append("sensor=\(capabilities.sensorWidth)x\(capabilities.sensorHeight)")
        for (index, format) in capabilities.formats.enumerated() {
            let binned = format.isBinned ? " binned" : ""
            words.append(
                "format=\"\(format.pixelFormat) \(format.width)x\(format.height)@"
                    + "\(format.minFrameRate.shortDescription)-\(format.maxFrameRate.shortDescription)\(binned)\"")
            if format.videoMaxZoomFactor != 1 { words.append("zoom=\(format.videoMaxZoomFactor.shortDescription)") }
            if format.videoZoomFactorUpscaleThreshold != 1 {
                words.append("lossless=\(format.videoZoomFactorUpscaleThreshold.shortDescription)")
            }
            if format.fieldOfView != usualFieldOfView { words.append("fov=\(format.fieldOfView.shortDescription)") }
            words += write(format.optics)
            if !format.assumed.isEmpty {
                words.append("assumed=\(format.assumed.map(\.rawValue).joined(separator: ","))")
            }
            if index == capabilities.defaultFormatIndex, index > 0 { words.append("default") }
        }
        for control in capabilities.controls { words.append("control=\"\(write(control))\"") }
        if !capabilities.availableMetadataObjectTypes.isEmpty {
            words.append("objects=\(capabilities.availableMetadataObjectTypes.joined(separator: ","))")
        }
        return words.joined(separator: " ")
    }

    /// `stills=2576x1932 focus=phase iso=34..2176 exposure=0.000013..0.5 stabilization=standard,cinematic hdr`: what there is.
    private static func write(_ optics: CameraFormat.Optics) -> [String] {
        func range(_ key: String, _ range: CameraFormat.Optics.Range?) -> String? {
            range.map { "\(key)=\($0.least.plainDescription)..\($0.most.plainDescription)" }
        }
        let modes = optics.videoStabilizationModes.map(\.rawValue).joined(separator: ",")
        return [
            optics.highResolutionStill.map { "stills=\($0.width)x\($0.height)" },
            optics.autoFocusSystem == .none ? nil : "focus=\(optics.autoFocusSystem.rawValue)",
            range("iso", optics.iso), range("exposure", optics.exposureDuration),
            modes.isEmpty ? nil : "stabilization=\(modes)", optics.isVideoHDRSupported ? "hdr" : nil,
        ].compactMap(\.self)
    }

    /// - Returns: how it is written, where it is wrong; nil where it was taken.
    static func take(_ key: String?, _ text: String, into optics: inout CameraFormat.Optics) -> String? {
        func range() -> CameraFormat.Optics.Range? {
            guard let (least, most) = ends(text), least > 0, most.isFinite else { return nil }
            return CameraFormat.Optics.Range(least: least, most: most)
        }
        switch key {
        case "stills":
            let sides = text.split(separator: "x").compactMap { Int($0) }
            guard sides.count == 2, sides.allSatisfy({ (1...65536).contains($0) }) else { return "stills=2576x1932" }
            optics.highResolutionStill = CameraFormat.Optics.Size(width: sides[0], height: sides[1])
        case "focus":
            guard let system = CameraFormat.AutoFocusSystem(rawValue: text) else {
                return "focus=contrast or focus=phase"
            }
            optics.autoFocusSystem = system
        case "iso":
            guard let range = range() else { return "iso=34..2176" }
            optics.iso = range
        case "exposure":
            guard let range = range() else { return "exposure=0.000013..0.5, in seconds" }
            optics.exposureDuration = range
        case "stabilization":
            let modes = text.split(separator: ",").map { CameraFormat.VideoStabilizationMode(rawValue: String($0)) }
            guard !modes.contains(nil) else { return "stabilization=standard,cinematic" }
            optics.videoStabilizationModes = modes.compactMap(\.self)
        case nil where text == "default": break
        default: optics.isVideoHDRSupported = true
        }
        return nil
    }

    /// `brightness 0..255 by 1 usually 128`, `focusPointOfInterest usually 0.5,0.5`, `whiteBalanceGains ..4 usually 1,1,1`,
    /// `gainMode locked,continuousAuto usually locked`, `videoMirrored usually false`.
    static func write(_ control: CameraControl) -> String {
        let takes: String =
            switch control.takes {
            case .flag: ""
            case .words(let words): words.joined(separator: ",") + " "
            case .range(let least, let most, let step):
                "\(least.shortDescription)..\(most.shortDescription) by \(step.shortDescription) "
            case .point: ""
            case .gains(let most): "..\(most.shortDescription) "
            }
        return "\(control.key.rawValue) \(takes)usually \(control.usual.description)"
    }

    /// `0..255`, of which the first is not the greater one.
    private static func ends(_ text: String) -> (least: Double, most: Double)? {
        guard let dots = text.indices.first(where: { text[$0...].hasPrefix("..") }),
            let least = Double(text[..<dots]), let most = Double(text[dots...].dropFirst(2)), least <= most
        else { return nil }
        return (least, most)
    }

    static func control(_ text: String) -> CameraControl? {
        var words = text.split(separator: " ").map(String.init)
        guard words.count >= 3, let key = ConfigurationKey(rawValue: words.removeFirst()), key.isControl,
            words[words.count - 2] == "usually"
        else { return nil }
        let usual = words[words.count - 1]
        words.removeLast(2)
        let numbers = usual.split(separator: ",").compactMap { Double($0) }
        switch key.kind {
        case .point:
            guard words.isEmpty, let point = ConfigurationValue(numbers: numbers, of: .point) else { return nil }
            return CameraControl(key, .point, usual: point)
        case .gains:
            guard words.count == 1, words[0].hasPrefix(".."), let most = Double(words[0].dropFirst(2)), most >= 1,
                let gains = ConfigurationValue(numbers: numbers, of: .gains)
            else { return nil }
            return CameraControl(key, .gains(most: most), usual: gains)
        case .flag:
            guard words.isEmpty, let flag = Bool(usual) else { return nil }
            return CameraControl(key, .flag, usual: .flag(flag))
        case .text:
            let allowed = words.first.map { $0.split(separator: ",").map(String.init) } ?? []
            guard words.count == 1, allowed.contains(usual) else { return nil }
            return CameraControl(key, .words(allowed), usual: .text(usual))
        case .number, .level, .count:
            guard let usual = Double(usual), words.count == 1 || words.count == 3, let (least, most) = ends(words[0]),
                let step = words.count == 1 ? 1 : words[1] == "by" ? Double(words[2]) : nil, step > 0
            else { return nil }
            return CameraControl(key, .range(least: least, most: most, step: step), usual: .number(usual))
        }
    }
}
