public import Vocabulary

private enum Bound {
    /// Wider than any sensor made, and small enough that products of two sides cannot overflow.
    static let sideMax = 65_536
    static let side = "pixels from 1 to \(sideMax)"
    static let isSide: @Sendable (Int) -> Bool = { (1...sideMax).contains($0) }
    static let text = "text of at most \(ConfigurationValue.textBytesMax) bytes"
    static let isText: @Sendable (String) -> Bool = { $0.utf8.count <= ConfigurationValue.textBytesMax }
    static let texts = "a list of texts"
    static let above0 = atLeast(.leastNormalMagnitude)
    static let isAbove0: @Sendable (Double) -> Bool = { $0 >= .leastNormalMagnitude }

    static func atLeast(_ least: Double) -> String { "a finite number from \(least.shortDescription)" }
}

extension CameraFormat.FieldName: WireWord {}
extension CameraFormat.AutoFocusSystem: WireWord {}
extension CameraFormat.VideoStabilizationMode: WireWord {}

extension CameraFormat: Described {
    package init() {
        self.init(pixelFormat: "", width: 0, height: 0, minFrameRate: 0, maxFrameRate: 0, fieldOfView: 0)
    }

    package static let fields: [Field<Self>] = [
        Field(
            "pixelFormat", \.pixelFormat, "`420v` (video range), `420f` (full range), or what V4L2 calls it.",
            takes: Bound.text, where: Bound.isText),
        Field("width", \.width, "Pixels of a frame.", takes: Bound.side, where: Bound.isSide),
        Field("height", \.height, "The same, upwards.", takes: Bound.side, where: Bound.isSide),
        Field("minFrameRate", \.minFrameRate, "Frames a second.", takes: Bound.atLeast(0), where: { $0 >= 0 }),
        Field("maxFrameRate", \.maxFrameRate, "The same, at most.", takes: Bound.atLeast(0), where: { $0 >= 0 }),
        Field(
            "videoMaxZoomFactor", \.videoMaxZoomFactor, since: "videoMaxZoomFactor", "The greatest `videoZoomFactor`.",
            takes: Bound.atLeast(1), where: { $0 >= 1 }),
        Field(
            "videoZoomFactorUpscaleThreshold", \.videoZoomFactorUpscaleThreshold,
            since: "videoZoomFactorUpscaleThreshold", "Up to this factor a zoom loses nothing.",
            takes: Bound.atLeast(1), where: { $0 >= 1 }),
        Field("isBinned", \.isBinned, since: "isBinned", "Two pixels of the sensor make one."),
        Field(
            "fieldOfView", \.fieldOfView, unless: 0, "Horizontal, in degrees, where it is known.",
            takes: Bound.atLeast(0), where: { $0 >= 0 }),
        .ifAny(
            "highResolutionStillWidth", \.optics.highResolutionStill.width,
            "Pixels of a photo while `highResolutionStillImageOutputEnabled`, where they are others.",
            takes: Bound.side, where: Bound.isSide),
        .ifAny(
            "highResolutionStillHeight", \.optics.highResolutionStill.height, "The same, upwards.", takes: Bound.side,
            where: Bound.isSide),
        Field(
            "autoFocusSystem", \.optics.autoFocusSystem, unless: AutoFocusSystem.none,
            "How it finds its focus, where it can: `contrast`, `phase`."),
        .ifAny(
            "minISO", \.optics.iso.least, "ISO 12232 sensitivity that `iso` takes, where it is known.",
            takes: Bound.above0, where: Bound.isAbove0),
        .ifAny("maxISO", \.optics.iso.most, "The same, at most.", takes: Bound.above0, where: Bound.isAbove0),
        .ifAny(
            "minExposureDuration", \.optics.exposureDuration.least,
            "Seconds that `exposureDuration` takes, where they are known.", takes: Bound.above0,
            where: Bound.isAbove0),
        .ifAny(
            "maxExposureDuration", \.optics.exposureDuration.most, "The same, at most.", takes: Bound.above0,
            where: Bound.isAbove0),
        Field(
            "videoStabilizationModes", \.optics.videoStabilizationModes, unless: [],
            "Those that it has beside `off`: `standard`, `cinematic`.", takes: Bound.texts),
        Field("videoHDRSupported", \.optics.isVideoHDRSupported, unless: false, "It has high dynamic range."),
        Field("assumed", \.assumed, unless: [], "Which of these nobody published or measured.", takes: Bound.texts),
    ]

    /// Unknown keys are passed over: a newer recorder may know more about its camera.
    /// - Parameter place: the format in errors, such as `formats[2]`.
    /// - Throws: `.invalidValue`, naming the key, the value and what is allowed.
    public init(wire: WireDictionary, place: String = "format") throws(BrokerError) {
        try self.init(checking: wire, "\(place): ")
        if let problem { throw BrokerError(.invalidValue, "\(place): \(problem).") }
    }

    package init(_ wire: WireDictionary, at place: String) throws(BrokerError) {
        try self.init(wire: wire, place: place)
    }

    private var problem: String? {
        if minFrameRate > maxFrameRate || maxFrameRate <= 0 {
            return
                "minFrameRate is \(minFrameRate.shortDescription) and maxFrameRate \(maxFrameRate.shortDescription); "
                + "the first is at most the second, and the second above 0"
        }
        if pixelFormat.isEmpty { return "pixelFormat is empty; it takes a name such as 420v" }
        if let still = optics.highResolutionStill, still.width == 0 || still.height == 0 {
            return "highResolutionStill\(still.width == 0 ? "Width" : "Height") is missing; it takes \(Bound.side)"
        }
        return optics.iso?.problem("ISO") ?? optics.exposureDuration?.problem("ExposureDuration")
    }
}

// Each half of a pair travels by itself; 0 and NaN stand for a half that is still missing.

extension CameraFormat.Optics.Size? {
    fileprivate var width: Int? {
        get { self?.width }
        set { self = .init(width: newValue ?? 0, height: self?.height ?? 0) }
    }
    fileprivate var height: Int? {
        get { self?.height }
        set { self = .init(width: self?.width ?? 0, height: newValue ?? 0) }
    }
}

extension CameraFormat.Optics.Range? {
    fileprivate var least: Double? {
        get { self?.least }
        set { self = .init(least: newValue ?? .nan, most: self?.most ?? .nan) }
    }
    fileprivate var most: Double? {
        get { self?.most }
        set { self = .init(least: self?.least ?? .nan, most: newValue ?? .nan) }
    }
}

extension CameraFormat.Optics.Range {
    fileprivate func problem(_ name: String) -> String? {
        if least.isNaN { return "min\(name) is missing; it takes \(Bound.above0)" }
        guard !(least <= most) else { return nil }
        return "max\(name) is \(most.isNaN ? "missing" : most.shortDescription); it takes \(Bound.atLeast(least))"
    }
}

extension CameraCapabilities: Described {
    /// More formats than any camera has.
    public static let formatsMax = 1024
    /// Faces, codes and the like: more types than any known detector has.
    private static let objectTypesMax = 32

    package init() { self.init(name: "", position: .external, sensorWidth: 0, sensorHeight: 0, formats: []) }

    package static let fields: [Field<Self>] = [
        Field("name", \.name, "What a person calls it.", takes: Bound.text, where: Bound.isText),
        Field("position", \.position, "`front`, `back` or `external`."),
        Field("sensorWidth", \.sensorWidth, "Pixels of its sensor.", takes: Bound.side, where: Bound.isSide),
        Field("sensorHeight", \.sensorHeight, "The same, upwards.", takes: Bound.side, where: Bound.isSide),
        Field(
            "formats", \.formats, "Its formats, in its own order.",
            takes: "a list of 1 to \(formatsMax) dictionaries", where: { (1...formatsMax).contains($0.count) }),
        Field("controls", \.controls, unless: [], "As `Camera1.Controls`."),
        Field(
            "defaultFormatIndex", \.defaultFormatIndex, unless: 0,
            "Which of `formats` a session has that asks for none; 0 where it is missing."),
        Field(
            "availableMetadataObjectTypes", \.availableMetadataObjectTypes, unless: [],
            "What the source finds in its pictures.",
            takes: "a list of at most \(objectTypesMax) different words, each \(MetadataTrack.kindSentence)",
            where: { types in
                types.count <= objectTypesMax && types.allSatisfy(MetadataTrack.isKind)
                    && Set(types).count == types.count
            }),
    ]

    /// - Throws: `.invalidValue`, naming the key, the value and what is allowed.
    public init(wire: WireDictionary) throws(BrokerError) {
        try self.init(checking: wire, "capabilities: ")
        guard formats.indices.contains(defaultFormatIndex) else {
            throw BrokerError(
                .invalidValue,
                """
                capabilities: defaultFormatIndex is \(defaultFormatIndex); it takes a place from 0 to \(formats.count - 1).
                """)
        }
    }
}

extension CameraControl: WireElement {
    package static let wireType = WireDictionary.wireType
    package static let allowed = WireDictionary.allowed
    package static let allowedList = WireDictionary.allowedList
    package var wireValue: WireValue { .dictionary(wire) }

    package static func read(_ wire: WireValue, _ place: WirePlace) throws(BrokerError) -> CameraControl? {
        try wire.dictionary.flatMap { (wire) throws(BrokerError) in try CameraControl(wire: wire, place: place.name) }
    }

    /// Keys of a newer recorder core are passed over.
    package static func readList(_ wire: WireValue, _ place: WirePlace) throws(BrokerError) -> [CameraControl]? {
        guard let dictionaries = wire.list(\.dictionary) else { return nil }
        var controls: [CameraControl] = []
        for (index, wire) in dictionaries.enumerated() {
            guard let control = try CameraControl(wire: wire, place: "\(place.name)[\(index)]"),
                !controls.contains(where: { $0.key == control.key })
            else { continue }
            controls.append(control)
        }
        return controls
    }

    public var wire: WireDictionary {
        var wire: WireDictionary = ["key": .string(key.rawValue), "usual": usual.wire]
        switch takes {
        case .flag, .point: break
        case .words(let words): wire["words"] = .strings(words)
        case .range(let least, let most, let step):
            wire["least"] = .double(least)
            wire["most"] = .double(most)
            wire["step"] = .double(step)
        case .gains(let most): wire["most"] = .double(most)
        }
        return wire
    }

    /// `nil` for an unknown key.
    /// - Throws: `.invalidValue`, naming the key, the value and what is allowed.
    public init?(wire: WireDictionary, place: String = "control") throws(BrokerError) {
        func refusal(_ text: String) -> BrokerError { BrokerError(.invalidValue, "\(place): \(text).") }
        func number(_ key: String, atLeast least: Double) throws(BrokerError) -> Double {
            guard let number = wire[key]?.number, number.isFinite, number >= least else {
                throw refusal("\(key) is \(wire[key]?.sentence ?? "missing"); it takes \(Bound.atLeast(least))")
            }
            return number
        }
        guard let word = wire["key"]?.string, Bound.isText(word) else {
            throw refusal("key is \(wire["key"]?.sentence ?? "missing"); it takes \(Bound.text)")
        }
        guard let key = ConfigurationKey(rawValue: word), key.isControl else { return nil }
        let takes: Takes
        switch key.kind {
        case .flag: takes = .flag
        case .text:
            let words = wire["words"]?.elements?.compactMap(\.string) ?? []
            guard !words.isEmpty else { throw refusal("words of \(key.rawValue) is empty; it takes a list of text") }
            takes = .words(words)
        case .number, .level, .count:
            let least = try number("least", atLeast: -Double.greatestFiniteMagnitude)
            takes = .range(
                least: least, most: try number("most", atLeast: least),
                step: try number("step", atLeast: Double.leastNormalMagnitude))
        case .point: takes = .point
        case .gains: takes = .gains(most: try number("most", atLeast: 1))
        }
        guard let given = wire["usual"] else {
            throw refusal("usual is missing; it takes a value of \(key.rawValue)")
        }
        switch (key.kind, given.number) {
        // A speed or a temperature, above 0 in a batch, may be 0 where nobody has set it.
        case (.number, let number?) where number.isFinite: self.init(key, takes, usual: .number(number))
        default: self.init(key, takes, usual: try ConfigurationValue(wire: given, for: key))
        }
    }
}
