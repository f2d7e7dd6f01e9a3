import ArbiterProtocol
import PolicyFile

extension ScenarioParser {
    /// `[front|back|external] [model=…] [seat=…] [name=…] [sensor=WxH] [format="420v 1280x720@30" [zoom=4] [lossless=2]]…
    /// [control=…]… [objects=…]`
    mutating func camera(_ camera: CameraID, _ words: inout Words) throws(LineProblem) -> Scenario.Camera {
        var seat = SeatID.usual
        var position = CameraPosition(rawValue: camera.name) ?? .external
        var saysPosition = false
        if let word = words.optionalWord() {
            position = try word.oneOf()
            saysPosition = true
        }
        var capabilities = CameraText.usual(camera, position)
        var formats: [CameraFormat] = []
        while let word = words.anything() {
            if try take(word, into: &formats) { continue }
            switch word.key {
            case "model":
                capabilities = try model(word)
                if saysPosition { capabilities.position = position }
            case "seat": seat = SeatID(word.text)
            case "name": capabilities.name = word.text
            case "sensor":
                let sides = word.text.split(separator: "x").compactMap { Int($0) }
                guard sides.count == 2 else { throw LineProblem(word, "a sensor is written 3840x2160") }
                capabilities.sensorWidth = sides[0]
                capabilities.sensorHeight = sides[1]
            case "objects":
                let types = word.text.split(separator: ",").map(String.init)
                guard !types.isEmpty, types.allSatisfy(MetadataTrack.isKind), Set(types).count == types.count else {
                    throw LineProblem(word, "types of objects are written marker or face,code, each once")
                }
                capabilities.availableMetadataObjectTypes = types
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
            default: throw LineProblem(word, notOne(word.key ?? word.text, of: Self.cameraWords))
            }
        }
        if !formats.isEmpty { capabilities.formats = formats }
        return Scenario.Camera(id: camera, capabilities: capabilities, seat: seat)
    }

    private static let cameraWords = [
        "model", "seat", "name", "sensor", "format", "zoom", "lossless", "fov", "stills", "focus", "iso", "exposure",
        "stabilization", "hdr", "assumed", "default", "control", "objects",
    ]

    /// - Returns: false where it is none that says something of a format.
    private func take(_ word: Word, into formats: inout [CameraFormat]) throws(LineProblem) -> Bool {
        if word.key == "format" {
            guard let format = CameraText.format(word.text) else {
                throw LineProblem(word, "a format is written \"420v 1280x720@30\" or \"420v 1280x720@5-60 binned\"")
            }
            formats.append(format)
            return true
        }
        let last = formats.count - 1
        switch word.key {
        case "zoom", "lossless":
            guard let factor = Double(word.text), factor >= 1, factor.isFinite, last >= 0 else {
                throw LineProblem(word, "a zoom is a number from 1, behind the format that has it")
            }
            if word.key == "zoom" {
                formats[last].videoMaxZoomFactor = factor
            } else {
                formats[last].videoZoomFactorUpscaleThreshold = factor
            }
        case "fov":
            guard let degrees = Double(word.text), degrees == 0 || (1...180).contains(degrees), last >= 0 else {
                throw LineProblem(
                    word,
                    "a field of view is 1 to 180 degrees, or 0 where it is not known, behind the format that has it")
            }
            formats[last].fieldOfView = degrees
        case "assumed":
            let names = word.text.split(separator: ",", omittingEmptySubsequences: false)
            let fields = names.compactMap { CameraFormat.FieldName(rawValue: String($0)) }
            guard fields.count == names.count, last >= 0 else {
                throw LineProblem(
                    word, "what is assumed are fields such as fieldOfView,minISO, behind the format that has them")
            }
            formats[last].assumed = fields
        case "stills", "focus", "iso", "exposure", "stabilization": try takeOptics(word, into: &formats)
        case nil where word.text == "hdr": try takeOptics(word, into: &formats)
        default: return false
        }
        return true
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

    private func takeOptics(_ word: Word, into formats: inout [CameraFormat]) throws(LineProblem) {
        guard !formats.isEmpty else {
            throw LineProblem(word, "\(word.key ?? word.text) stands behind the format that has it")
        }
        if let written = CameraText.take(word.key, word.text, into: &formats[formats.count - 1].optics) {
            throw LineProblem(word, "it is written \(written)")
        }
    }
}
