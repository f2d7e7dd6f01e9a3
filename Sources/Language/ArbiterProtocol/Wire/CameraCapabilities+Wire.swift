extension CameraFormat {
    /// One entry of `formats` in `Recorder1.Describe` and of `Camera1.Formats`.
    public var wire: WireDictionary {
        var wire: WireDictionary = [
            "pixelFormat": .string(pixelFormat), "width": .uint32(UInt32(clamping: width)),
            "height": .uint32(UInt32(clamping: height)), "minFrameRate": .double(minFrameRate),
            "maxFrameRate": .double(maxFrameRate), "videoMaxZoomFactor": .double(videoMaxZoomFactor),
            "videoZoomFactorUpscaleThreshold": .double(videoZoomFactorUpscaleThreshold), "isBinned": .boolean(isBinned),
        ]
        if fieldOfView != 0 { wire["fieldOfView"] = .double(fieldOfView) }
        if let still = optics.highResolutionStill {
            wire["highResolutionStillWidth"] = .uint32(UInt32(clamping: still.width))
            wire["highResolutionStillHeight"] = .uint32(UInt32(clamping: still.height))
        }
        if optics.autoFocusSystem != .none { wire["autoFocusSystem"] = .string(optics.autoFocusSystem.rawValue) }
        if let iso = optics.iso {
            wire["minISO"] = .double(iso.least)
            wire["maxISO"] = .double(iso.most)
        }
        if let exposure = optics.exposureDuration {
            wire["minExposureDuration"] = .double(exposure.least)
            wire["maxExposureDuration"] = .double(exposure.most)
        }
        if !optics.videoStabilizationModes.isEmpty {
            wire["videoStabilizationModes"] = .strings(optics.videoStabilizationModes.map(\.rawValue))
        }
        if optics.isVideoHDRSupported { wire["videoHDRSupported"] = .boolean(true) }
        if !assumed.isEmpty { wire["assumed"] = .strings(assumed.map(\.rawValue)) }
        return wire
    }

    /// - Parameter place: what errors call the format, such as `formats[2]`.
    /// - Throws: `.invalidValue`, naming the key, the value and what is allowed. Unknown keys are passed over:
    ///   a newer recorder may know more about its camera.
    public init(wire: WireDictionary, place: String = "format") throws(BrokerError) {
        let fields = CapabilityFields(place: place, wire: wire)
        let rates = (
            min: try fields.number("minFrameRate", atLeast: 0), max: try fields.number("maxFrameRate", atLeast: 0)
        )
        guard rates.min <= rates.max, rates.max > 0 else {
            throw BrokerError(
                .invalidValue,
                """
                \(place): minFrameRate is \(rates.min.shortDescription) and maxFrameRate \(rates.max.shortDescription); \
                the first is at most the second, and the second above 0.
                """)
        }
        let pixelFormat = try fields.text("pixelFormat")
        guard !pixelFormat.isEmpty else {
            throw BrokerError(.invalidValue, "\(place): pixelFormat is empty; it takes a name such as 420v.")
        }
        self.init(
            pixelFormat: pixelFormat, width: try fields.side("width"), height: try fields.side("height"),
            minFrameRate: rates.min, maxFrameRate: rates.max,
            videoMaxZoomFactor: try fields.number("videoMaxZoomFactor", atLeast: 1, absent: 1),
            videoZoomFactorUpscaleThreshold: try fields.number(
                "videoZoomFactorUpscaleThreshold", atLeast: 1, absent: 1),
            isBinned: try fields.flag("isBinned", absent: false),
            fieldOfView: try fields.number("fieldOfView", atLeast: 0, absent: 0), optics: try Optics(fields),
            assumed: try fields.words("assumed"))
    }
}

extension CameraFormat.Optics {
    /// What is not there is not known.
    fileprivate init(_ fields: CapabilityFields) throws(BrokerError) {
        var still: Size?
        if fields.has("highResolutionStillWidth") || fields.has("highResolutionStillHeight") {
            still = Size(
                width: try fields.side("highResolutionStillWidth"), height: try fields.side("highResolutionStillHeight")
            )
        }
        self.init(
            highResolutionStill: still,
            autoFocusSystem: try fields.word("autoFocusSystem", absent: CameraFormat.AutoFocusSystem.none),
            iso: try fields.range("minISO", "maxISO"),
            exposureDuration: try fields.range("minExposureDuration", "maxExposureDuration"),
            videoStabilizationModes: try fields.words("videoStabilizationModes"),
            isVideoHDRSupported: try fields.flag("videoHDRSupported", absent: false))
    }
}

extension CameraCapabilities {
    /// More formats than any camera has; a recorder that names more is broken.
    public static let formatsMax = 1024

    /// What `Recorder1.Describe` gives.
    public var wire: WireDictionary {
        var wire: WireDictionary = [
            "name": .string(name), "position": .string(position.rawValue),
            "sensorWidth": .uint32(UInt32(clamping: sensorWidth)),
            "sensorHeight": .uint32(UInt32(clamping: sensorHeight)), "formats": .dictionaries(formats.map(\.wire)),
        ]
        if !controls.isEmpty { wire["controls"] = .dictionaries(controls.map(\.wire)) }
        if defaultFormatIndex != 0 { wire["defaultFormatIndex"] = .uint32(UInt32(clamping: defaultFormatIndex)) }
        if !availableMetadataObjectTypes.isEmpty {
            wire["availableMetadataObjectTypes"] = .strings(availableMetadataObjectTypes)
        }
        return wire
    }

    /// - Throws: `.invalidValue`, naming the key, the value and what is allowed.
    public init(wire: WireDictionary) throws(BrokerError) {
        let fields = CapabilityFields(place: "capabilities", wire: wire)
        let word = try fields.text("position")
        guard let position = CameraPosition(rawValue: word) else {
            let allowed = CameraPosition.allCases.map(\.rawValue).joined(separator: ", ")
            throw BrokerError(.invalidValue, "capabilities: position is \(word.quotedShort); it takes \(allowed).")
        }
        guard let list = wire["formats"]?.elements, (1...Self.formatsMax).contains(list.count) else {
            throw BrokerError(
                .invalidValue,
                """
                capabilities: formats is \(wire["formats"]?.sentence ?? "missing"); \
                it takes a list of 1 to \(Self.formatsMax) dictionaries.
                """)
        }
        var formats: [CameraFormat] = []
        for (index, element) in list.enumerated() {
            guard let dictionary = element.dictionary else {
                throw BrokerError(
                    .invalidValue, "capabilities: formats[\(index)] is \(element.sentence); it takes a dictionary.")
            }
            formats.append(try CameraFormat(wire: dictionary, place: "formats[\(index)]"))
        }
        var controls: [CameraControl] = []
        for (index, element) in (wire["controls"]?.elements ?? []).enumerated() {
            // A newer recorder may know of more that can be set.
            guard let control = try CameraControl(wire: element.dictionary ?? [:], place: "controls[\(index)]"),
                !controls.contains(where: { $0.key == control.key })
            else { continue }
            controls.append(control)
        }
        self.init(
            name: try fields.text("name"), position: position, sensorWidth: try fields.side("sensorWidth"),
            sensorHeight: try fields.side("sensorHeight"), formats: formats, controls: controls,
            defaultFormatIndex: try fields.index("defaultFormatIndex", below: formats.count),
            availableMetadataObjectTypes: try fields.objectTypes("availableMetadataObjectTypes"))
    }
}

extension CameraControl {
    /// One entry of `controls` in `Recorder1.Describe` and of `Camera1.Controls`.
    public var wire: WireDictionary {
        var wire: WireDictionary = ["key": .string(key.rawValue), "usual": usual.wire]
        switch takes {
        case .flag: break
        case .words(let words): wire["words"] = .strings(words)
        case .range(let least, let most, let step):
            wire["least"] = .double(least)
            wire["most"] = .double(most)
            wire["step"] = .double(step)
        case .point: break
        case .gains(let most): wire["most"] = .double(most)
        }
        return wire
    }

    /// Nil for a key that is not known here.
    /// - Throws: `.invalidValue`, naming the key, the value and what is allowed.
    public init?(wire: WireDictionary, place: String = "control") throws(BrokerError) {
        let fields = CapabilityFields(place: place, wire: wire)
        guard let key = ConfigurationKey(rawValue: try fields.text("key")), key.isControl else { return nil }
        let takes: Takes
        switch key.kind {
        case .flag: takes = .flag
        case .text:
            let words = wire["words"]?.elements?.compactMap(\.string) ?? []
            guard !words.isEmpty else {
                throw BrokerError(
                    .invalidValue, "\(place): words of \(key.rawValue) is empty; it takes a list of text.")
            }
            takes = .words(words)
        case .number, .level, .count:
            let least = try fields.number("least", atLeast: -Double.greatestFiniteMagnitude)
            takes = .range(
                least: least, most: try fields.number("most", atLeast: least),
                step: try fields.number("step", atLeast: Double.leastNormalMagnitude))
        case .point: takes = .point
        case .gains: takes = .gains(most: try fields.number("most", atLeast: 1))
        }
        guard let given = wire["usual"] else {
            throw BrokerError(.invalidValue, "\(place): usual is missing; it takes a value of \(key.rawValue).")
        }
        let usual: ConfigurationValue
        switch (key.kind, given.number) {
        // Something that is only a speed or a temperature above 0 in a batch may well be 0 where nobody has set it.
        case (.number, let number?) where number.isFinite: usual = .number(number)
        default: usual = try ConfigurationValue(wire: given, for: key)
        }
        self.init(key, takes, usual: usual)
    }
}

/// The typed fields of one dictionary, with errors that name the place.
private struct CapabilityFields {
    /// Wider than any sensor made, and small enough that products of two sides cannot overflow.
    static let sideMax = 65_536

    /// Faces, codes and the like: more sorts than anything is known to find.
    static let objectTypesMax = 32

    let place: String
    let wire: WireDictionary

    private func refusal(_ key: String, _ allowed: String) -> BrokerError {
        BrokerError(.invalidValue, "\(place): \(key) is \(wire[key]?.sentence ?? "missing"); it takes \(allowed).")
    }

    func text(_ key: String) throws(BrokerError) -> String {
        guard let text = wire[key]?.string, text.utf8.count <= ConfigurationValue.textBytesMax else {
            throw refusal(key, "text of at most \(ConfigurationValue.textBytesMax) bytes")
        }
        return text
    }

    func side(_ key: String) throws(BrokerError) -> Int {
        guard let side = wire[key]?.uint64.flatMap(Int.init(exactly:)), (1...Self.sideMax).contains(side) else {
            throw refusal(key, "pixels from 1 to \(Self.sideMax)")
        }
        return side
    }

    func number(_ key: String, atLeast least: Double, absent: Double? = nil) throws(BrokerError) -> Double {
        if wire[key] == nil, let absent { return absent }
        guard let number = wire[key]?.number, number.isFinite, number >= least else {
            throw refusal(key, "a finite number from \(least.shortDescription)")
        }
        return number
    }

    /// A place in a list; 0 where nothing is said.
    func index(_ key: String, below count: Int) throws(BrokerError) -> Int {
        guard has(key) else { return 0 }
        guard let index = wire[key]?.uint64.flatMap(Int.init(exactly:)), index < count else {
            throw refusal(key, "a place from 0 to \(count - 1)")
        }
        return index
    }

    func has(_ key: String) -> Bool { wire[key] != nil }

    /// Two numbers above 0 of which the first is not the greater one; nil where neither is there.
    func range(_ least: String, _ most: String) throws(BrokerError) -> CameraFormat.Optics.Range? {
        guard has(least) || has(most) else { return nil }
        let first = try number(least, atLeast: Double.leastNormalMagnitude)
        return CameraFormat.Optics.Range(least: first, most: try number(most, atLeast: first))
    }

    func word<Word: RawRepresentable<String> & CaseIterable>(_ key: String, absent: Word) throws(BrokerError) -> Word {
        guard has(key) else { return absent }
        guard let word = wire[key]?.string.flatMap(Word.init(rawValue:)) else {
            throw refusal(key, Word.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return word
    }

    /// Words that are not known here are passed over: a newer recorder may know of more.
    func words<Word: RawRepresentable<String>>(_ key: String) throws(BrokerError) -> [Word] {
        guard has(key) else { return [] }
        guard let elements = wire[key]?.elements else { throw refusal(key, "a list of texts") }
        return elements.compactMap { $0.string.flatMap(Word.init(rawValue:)) }
    }

    /// Words of the source's own, each once.
    func objectTypes(_ key: String) throws(BrokerError) -> [String] {
        guard has(key) else { return [] }
        guard let words = wire[key]?.strings, words.count <= Self.objectTypesMax,
            words.allSatisfy(MetadataTrack.isKind), Set(words).count == words.count
        else {
            throw refusal(
                key, "a list of at most \(Self.objectTypesMax) different words, each \(MetadataTrack.kindSentence)")
        }
        return words
    }

    func flag(_ key: String, absent: Bool) throws(BrokerError) -> Bool {
        if wire[key] == nil { return absent }
        guard let flag = wire[key]?.boolean else { throw refusal(key, "true or false") }
        return flag
    }
}
