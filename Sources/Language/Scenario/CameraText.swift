import ArbiterProtocol
import PolicyFile

enum CameraText {
    /// The default camera: full HD with a zoom of 4, half of it lossless, or 720p at double speed.
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

    static func write(_ capabilities: CameraCapabilities, of camera: CameraID, at seat: SeatID) -> String {
        var words = [capabilities.position.rawValue]
        if seat != .usual { words.append("seat=\(seat.name.scenarioWord)") }
        if capabilities.name != camera.name { words.append("name=\(capabilities.name.scenarioWord)") }
        words.append("sensor=\(capabilities.sensorWidth)x\(capabilities.sensorHeight)")
        for (index, format) in capabilities.formats.enumerated() {
            words.append("format=\"\(write(format))\"")
            words += FormatWord.all.compactMap { word in
                word.text(format).map { $0.isEmpty ? word.key : "\(word.key)=\($0)" }
            }
            if index == capabilities.defaultFormatIndex, index > 0 { words.append("default") }
        }
        for control in capabilities.controls { words.append("control=\"\(write(control))\"") }
        if !capabilities.availableMetadataObjectTypes.isEmpty {
            words.append("objects=\(capabilities.availableMetadataObjectTypes.joined(separator: ","))")
        }
        return words.joined(separator: " ")
    }

    /// `420v 1280x720@30`, `420v 1280x720@5-60 binned`
    private static func write(_ format: CameraFormat) -> String {
        "\(format.pixelFormat) \(format.width)x\(format.height)@\(format.minFrameRate.shortDescription)"
            + "-\(format.maxFrameRate.shortDescription)\(format.isBinned ? " binned" : "")"
    }

    static func format(_ text: String) -> CameraFormat? {
        let parts = text.split(separator: " ")
        guard parts.count >= 2, parts.count <= 3, parts.count == 2 || parts[2] == "binned" else { return nil }
        let halves = parts[1].split(separator: "@", maxSplits: 1)
        guard halves.count == 2, let (width, height) = size(halves[0]) else { return nil }
        let rates = halves[1].split(separator: "-").compactMap { Double($0) }
        guard let last = rates.last, rates.count <= 2, rates.allSatisfy({ $0 > 0 && $0.isFinite }) else { return nil }
        return CameraFormat(
            pixelFormat: String(parts[0]), width: width, height: height,
            minFrameRate: rates.count == 2 ? rates[0] : min(1, last), maxFrameRate: last, isBinned: parts.count == 3)
    }

    static func size(_ text: some StringProtocol) -> (width: Int, height: Int)? {
        let sides = text.split(separator: "x").compactMap { Int($0) }
        return sides.count == 2 && sides.allSatisfy { (1...65536).contains($0) } ? (sides[0], sides[1]) : nil
    }

    /// `0..255`, of which the first is not the greater one.
    static func ends(_ text: String) -> (least: Double, most: Double)? {
        guard let dots = text.indices.first(where: { text[$0...].hasPrefix("..") }),
            let least = Double(text[..<dots]), let most = Double(text[dots...].dropFirst(2)), least <= most
        else { return nil }
        return (least, most)
    }

    /// `brightness 0..255 by 1 usually 128`, `focusPointOfInterest usually 0.5,0.5`, `whiteBalanceGains ..4 usually 1,1,1`,
    /// `gainMode locked,continuousAuto usually locked`, `videoMirrored usually false`.
    static func write(_ control: CameraControl) -> String {
        let takes =
            switch control.takes {
            case .flag, .point: ""
            case .words(let words): words.joined(separator: ",") + " "
            case .range(let least, let most, let step):
                "\(least.shortDescription)..\(most.shortDescription) by \(step.shortDescription) "
            case .gains(let most): "..\(most.shortDescription) "
            }
        return "\(control.key.rawValue) \(takes)usually \(control.usual.description)"
    }

    static func control(_ text: String) -> CameraControl? {
        let words = text.split(separator: " ").map(String.init)
        guard words.count >= 3, let key = ConfigurationKey(rawValue: words[0]), key.isControl,
            words[words.count - 2] == "usually"
        else { return nil }
        let (takes, usual) = (Array(words[1..<(words.count - 2)]), words[words.count - 1])
        let parts = usual.split(separator: ",").compactMap { Double($0) }
        let numbers = ConfigurationValue(numbers: parts, of: key.kind)
        switch (key.kind, takes.count) {
        case (.flag, 0): return Bool(usual).map { CameraControl(key, .flag, usual: .flag($0)) }
        case (.point, 0): return numbers.map { CameraControl(key, .point, usual: $0) }
        case (.gains, 1):
            guard takes[0].hasPrefix(".."), let most = Double(takes[0].dropFirst(2)), most >= 1 else { return nil }
            return numbers.map { CameraControl(key, .gains(most: most), usual: $0) }
        case (.text, 1):
            let allowed = takes[0].split(separator: ",").map(String.init)
            return allowed.contains(usual) ? CameraControl(key, .words(allowed), usual: .text(usual)) : nil
        case (.number, 1), (.level, 1), (.count, 1), (.number, 3), (.level, 3), (.count, 3):
            guard let usual = Double(usual), let (least, most) = ends(takes[0]),
                let step = takes.count == 1 ? 1 : takes[1] == "by" ? Double(takes[2]) : nil, step > 0
            else { return nil }
            return CameraControl(key, .range(least: least, most: most, step: step), usual: .number(usual))
        default: return nil
        }
    }
}

extension ScenarioParser {
    /// `[front|back|external] [model=…] [seat=…] [name=…] [sensor=WxH] [format="420v 1280x720@30" [zoom=4] [lossless=2]]…
    /// [control=…]… [objects=…]`
    func camera(_ camera: CameraID, _ words: inout Words) throws(LineProblem) -> Scenario.Camera {
        var seat = SeatID.usual
        let position: CameraPosition? = try words.optionalWord().map { (word) throws(LineProblem) in try word.oneOf() }
        var capabilities = CameraText.usual(camera, position ?? CameraPosition(rawValue: camera.name) ?? .external)
        var formats: [CameraFormat] = []
        while let word = words.anything() {
            if let known = FormatWord.all.first(where: { $0.isMeant(by: word) }) {
                guard !formats.isEmpty else {
                    throw LineProblem(word, "\(known.key) stands behind the format that has it")
                }
                guard known.take(&formats[formats.count - 1], word.text) != nil else {
                    throw LineProblem(word, known.problem)
                }
                continue
            }
            switch word.key {
            case "model":
                capabilities = try model(word)
                if let position { capabilities.position = position }
            case "seat": seat = SeatID(word.text)
            case "name": capabilities.name = word.text
            case "sensor":
                guard let (width, height) = CameraText.size(word.text) else {
                    throw LineProblem(word, "a sensor is written 3840x2160")
                }
                (capabilities.sensorWidth, capabilities.sensorHeight) = (width, height)
            case "format":
                guard let format = CameraText.format(word.text) else {
                    throw LineProblem(word, "a format is written \"420v 1280x720@30\" or \"420v 1280x720@5-60 binned\"")
                }
                formats.append(format)
            case nil where word.text == "default":
                guard !formats.isEmpty else { throw LineProblem(word, "default stands behind the format that has it") }
                capabilities.defaultFormatIndex = formats.count - 1
            case "control":
                guard let control = CameraText.control(word.text), capabilities.control(control.key) == nil else {
                    throw LineProblem(
                        word,
                        "a control is written \"gain 0..255 usually 100\", \"gainMode locked,continuousAuto usually locked\" or \"videoMirrored usually false\", each key once"
                    )
                }
                capabilities.controls.append(control)
            case "objects":
                let types = word.text.split(separator: ",").map(String.init)
                guard !types.isEmpty, types.allSatisfy(MetadataTrack.isKind), Set(types).count == types.count else {
                    throw LineProblem(word, "types of objects are written marker or face,code, each once")
                }
                capabilities.availableMetadataObjectTypes = types
            default:
                throw word.notOne(
                    of: ["model", "seat", "name", "sensor", "format"] + FormatWord.all.map(\.key)
                        + ["default", "control", "objects"])
            }
        }
        if !formats.isEmpty { capabilities.formats = formats }
        return Scenario.Camera(id: camera, capabilities: capabilities, seat: seat)
    }

    private func model(_ word: Word) throws(LineProblem) -> CameraCapabilities {
        if isPlan, word.text.contains("/") {
            // A client asks, and the broker reads with rights of its own: only what lies where cameras' files lie.
            throw LineProblem(word, "a plan takes simulated cameras by their name, such as iphone6s-back")
        }
        do throws(BrokerError) { return try CameraFile.named(word.text).capabilities } catch {
            throw LineProblem(word, error.message)
        }
    }
}
