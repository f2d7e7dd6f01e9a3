import ArbiterProtocol
import TomlFile

struct CameraReader {
    let top: TableReader
    let problems: ProblemList

    static let keys = [
        "name", "position", "sensor", "default", "flash", "flash-gain", "torch", "smooth-autofocus",
        "still-image-stabilization", "lens-stabilization", "assumed", "format",
    ]
    static let formatKeys = [
        "pixel-formats", "size", "frame-rates", "stills", "field-of-view", "max-zoom", "lossless-zoom", "reads",
        "binned", "autofocus", "iso", "exposure", "stabilization", "hdr", "assumed",
    ]

    /// The format's fields of each key; `reads` is the camera's alone.
    private static let fields: [String: [CameraFormat.FieldName]] = [
        "pixel-formats": [.pixelFormat], "size": [.width, .height], "frame-rates": [.minFrameRate, .maxFrameRate],
        "stills": [.highResolutionStillWidth, .highResolutionStillHeight], "field-of-view": [.fieldOfView],
        "max-zoom": [.videoMaxZoomFactor], "lossless-zoom": [.videoZoomFactorUpscaleThreshold], "binned": [.isBinned],
        "autofocus": [.autoFocusSystem], "iso": [.minISO, .maxISO],
        "exposure": [.minExposureDuration, .maxExposureDuration], "stabilization": [.videoStabilizationModes],
        "hdr": [.videoHDRSupported],
    ]

    init(_ root: TomlTable, _ problems: ProblemList) {
        self.problems = problems
        top = TableReader(root, owner: "", problems: problems)
    }

    /// `nil` where something is wrong. All keys are read before that is known: one run reports all problems.
    func model(id: String) -> CameraModel? {
        top.refuseUnknown(Self.keys)
        let name = required("name", top, Self.keys) { top.label("name") }
        let position = required("position", top, Self.keys) { top.choice("position", CameraPosition.self) }
        let sensor = required("sensor", top, Self.keys) { size("sensor", top) }
        let lights = CameraModel.Lights(
            flash: top.boolean("flash") ?? false, torch: top.boolean("torch") ?? false,
            flashGain: top.number("flash-gain", in: Limits.flashGain) ?? Limits.flashGainUsual)
        let hasLensStabilization = top.boolean("lens-stabilization") ?? false
        let hasStillImageStabilization = top.boolean("still-image-stabilization") ?? false
        let hasSmoothAutofocus = top.boolean("smooth-autofocus") ?? false
        let assumed = assumed(top, Self.keys)
        let formats = formats(of: sensor)
        let defaultIndex = required("default", top, Self.keys) { defaultFormat(formats.map(\.format.name)) }
        guard problems.isEmpty, let name, let position, let sensor, let defaultIndex else { return nil }
        return CameraModel(
            id: id, name: name, position: position, sensorWidth: sensor.width, sensorHeight: sensor.height,
            lights: lights, hasLensStabilization: hasLensStabilization,
            hasStillImageStabilization: hasStillImageStabilization, hasSmoothAutofocus: hasSmoothAutofocus,
            formats: formats, defaultFormatIndex: defaultIndex, assumed: assumed)
    }

    private func defaultFormat(_ names: [String]) -> Int? {
        guard let (name, place) = top.string("default") else { return nil }
        if let index = names.firstIndex(of: name) { return index }
        // A wrong format has no name yet, and `default` may well be right.
        guard problems.isEmpty else { return nil }
        return top.wrong(
            "default", "is \(Wording.quoted(name)), which no format is named", at: place,
            hint: Wording.didYouMean(name, among: names))
    }

    private func required<Value>(
        _ key: String, _ reader: TableReader, _ known: [String], _ read: () -> Value?
    ) -> Value? {
        if reader.entry(key) == nil {
            reader.missing(key, of: known, "there is no \"\(key)\"\(reader.owner.isEmpty ? "" : " \(reader.owner)")")
        }
        return read()
    }

    private func size(_ key: String, _ reader: TableReader) -> CameraFormat.Optics.Size? {
        guard let (width, height) = reader.pair(key, in: Limits.side, rising: false) else { return nil }
        guard width == width.rounded(), height == height.rounded() else {
            return reader.wrong(key, "has part of a pixel; it takes two whole numbers")
        }
        // Chroma has one sample for two pixels, along each side.
        guard Int(width) % 2 == 0, Int(height) % 2 == 0 else {
            return reader.wrong(key, "has an odd side; it takes two even numbers")
        }
        return CameraFormat.Optics.Size(width: Int(width), height: Int(height))
    }

    /// Keys in the file whose values nobody published.
    private func assumed(_ reader: TableReader, _ keys: [String]) -> [String] {
        let names = keys.filter { $0 != "assumed" && $0 != "format" }
        let assumed = reader.choices("assumed", names.map { ($0, $0) }) ?? []
        for name in assumed where reader.entry(name) == nil {
            reader.complain(
                "assumed", "has \(Wording.quoted(name)) in it, a key that is not there",
                hint: "leave it out, or write what is assumed")
        }
        return assumed
    }

    // MARK: Formats

    private func formats(of sensor: CameraFormat.Optics.Size?) -> [CameraModel.Format] {
        let tables = top.tables("format", countMax: Limits.formatsMax)
        if case .array(let nodes)? = top.entry("format")?.node.value ?? .array([]), nodes.isEmpty {
            top.missing("format", of: Self.keys, "the camera has no formats", hint: "add [[format]]")
        }
        var all: [CameraModel.Format] = []
        for (number, table) in tables.enumerated() {
            let reader = TableReader(table, owner: "in format \(number + 1)", problems: problems)
            for format in formats(reader, sensor: sensor) {
                // `activeFormat` chooses by name.
                if all.contains(where: { $0.format.name == format.format.name }) {
                    problems.add(
                        "format \(number + 1) is a second \(Wording.quoted(format.format.name)); "
                            + "size, highest rate and binning tell formats apart", at: table.place)
                } else {
                    all.append(format)
                }
            }
        }
        return all
    }

    /// A format for each pixel format of one `[[format]]`.
    private func formats(_ reader: TableReader, sensor: CameraFormat.Optics.Size?) -> [CameraModel.Format] {
        let keys = Self.formatKeys
        reader.refuseUnknown(keys)
        let pixelFormats = required("pixel-formats", reader, keys) { self.pixelFormats(reader) }
        let size = required("size", reader, keys) { self.size("size", reader) }
        let rates = required("frame-rates", reader, keys) {
            reader.pair("frame-rates", in: Limits.frameRate, rising: true)
        }
        let reads = required("reads", reader, keys) { self.reads(reader, size, sensor) }
        let maxZoom = required("max-zoom", reader, keys) { reader.number("max-zoom", in: Limits.zoom) }
        let view = required("field-of-view", reader, keys) { reader.number("field-of-view", in: Limits.view) }
        let lossless = reader.number("lossless-zoom", in: Limits.zoom) ?? 1
        if let maxZoom, lossless > maxZoom {
            reader.complain(
                "lossless-zoom",
                "is \(TomlText.number(lossless)); it takes a number from 1 to max-zoom, which "
                    + "is \(TomlText.number(maxZoom))")
        }
        let isBinned = reader.boolean("binned") ?? false
        let optics = optics(reader, of: size, sensor)
        let assumed = assumed(reader, keys)
        guard let pixelFormats, let size, let rates, let reads, let maxZoom, let view else { return [] }
        return pixelFormats.map { pixelFormat in
            CameraModel.Format(
                format: CameraFormat(
                    pixelFormat: pixelFormat, width: size.width, height: size.height, minFrameRate: rates.0,
                    maxFrameRate: rates.1, videoMaxZoomFactor: maxZoom, videoZoomFactorUpscaleThreshold: lossless,
                    isBinned: isBinned, fieldOfView: view, optics: optics,
                    assumed: assumed.flatMap { Self.fields[$0] ?? [] }), readWidth: reads, assumed: assumed)
        }
    }

    private func pixelFormats(_ reader: TableReader) -> [String]? {
        let names = ["420v", "420f"]
        guard let found = reader.choices("pixel-formats", names.map { ($0, $0) }) else { return nil }
        if found.isEmpty, case .array(let nodes)? = reader.entry("pixel-formats")?.node.value, nodes.isEmpty {
            reader.complain("pixel-formats", "is empty; it takes a list of \(Wording.list(names, "and"))")
        }
        // A repeated one was reported, and is no second format.
        return names.filter(found.contains).count == found.count ? found : nil
    }

    /// Pixels across, at most those of the sensor; likewise the rows that follow from the format's shape.
    private func reads(
        _ reader: TableReader, _ size: CameraFormat.Optics.Size?, _ sensor: CameraFormat.Optics.Size?
    ) -> Int? {
        guard let reads = reader.integer("reads", in: 2...(sensor?.width ?? Int(Limits.side.upperBound))) else {
            return nil
        }
        if let size, let sensor, reads * size.height / size.width > sensor.height {
            reader.complain(
                "reads",
                "is \(reads), which at \(size.width)x\(size.height) is "
                    + "\(reads * size.height / size.width) rows; the sensor has \(sensor.height)")
        }
        return reads
    }

    private func optics(
        _ reader: TableReader, of size: CameraFormat.Optics.Size?, _ sensor: CameraFormat.Optics.Size?
    ) -> CameraFormat.Optics {
        var optics = CameraFormat.Optics.usual
        optics.highResolutionStill = reader.entry("stills") == nil ? nil : self.size("stills", reader)
        if let still = optics.highResolutionStill, let sensor,
            still.width > sensor.width || still.height > sensor.height
        {
            reader.complain(
                "stills",
                "is \(still.width)x\(still.height), more than the sensor's "
                    + "\(sensor.width)x\(sensor.height)")
        } else if let still = optics.highResolutionStill, let size {
            // A still keeps its stream's shape, to a row or two of a sensor whose sides are even.
            let rows = Double(still.width) * Double(size.height) / Double(size.width)
            if abs(rows - Double(still.height)) > Limits.rowsOff {
                reader.complain(
                    "stills", "has another shape than the format's \(size.width)x\(size.height)",
                    hint: "at this width it has \(Int((rows / 2).rounded()) * 2) rows")
            }
        }
        optics.autoFocusSystem = reader.choice("autofocus", CameraFormat.AutoFocusSystem.self) ?? .none
        optics.iso = reader.pair("iso", in: Limits.iso, rising: true).map(CameraFormat.Optics.Range.init)
        optics.exposureDuration =
            reader.pair("exposure", in: Limits.exposure, rising: true).map(CameraFormat.Optics.Range.init)
        optics.videoStabilizationModes =
            reader.choices("stabilization", CameraFormat.VideoStabilizationMode.allCases.map { ($0.rawValue, $0) })
            ?? []
        if !optics.videoStabilizationModes.isEmpty, let size, !CameraFormat.isWidescreen(size.width, size.height) {
            reader.complain(
                "stabilization", "is for formats of 16:9, and this one has \(size.width)x\(size.height)",
                hint: "write []")
        }
        optics.isVideoHDRSupported = reader.boolean("hdr") ?? false
        return optics
    }
}

extension CameraFormat.Optics.Range {
    fileprivate init(_ pair: (Double, Double)) { self.init(least: pair.0, most: pair.1) }
}

private enum Limits {
    /// More than any sensor of a phone; a simulated one is drawn whole, at a byte for each of its pixels.
    static let side = 2.0...16_384
    static let frameRate = 0.1...1000.0
    /// No lens sees more than half a sphere.
    static let view = 1.0...180.0
    /// From the whole picture to one pixel of a large sensor.
    static let zoom = 1.0...65_536
    static let iso = 1.0...1_000_000.0
    /// Seconds: from a millionth to a minute.
    static let exposure = 0.000_001...60.0
    static let flashGain = 1.0...100.0
    /// The least flash that anybody notices doubles the light.
    static let flashGainUsual = 2.0
    /// Apple's longest list has some thirty.
    static let formatsMax = 128
    static let rowsOff = 4.0
}
