import ArbiterProtocol
import TomlFile

/// Reads one camera's file, and reports everything that is wrong with it.
struct CameraReader {
    let top: TableReader
    let problems: ProblemList

    static let keys = [
        "name", "position", "sensor", "default", "flash", "flash-gain", "torch", "smooth-autofocus",
        "still-image-stabilization",
        "lens-stabilization", "assumed", "format",
    ]
    static let formatKeys = [
        "pixel-formats", "size", "frame-rates", "stills", "field-of-view", "max-zoom", "lossless-zoom", "reads",
        "binned",
        "autofocus", "iso", "exposure", "stabilization", "hdr", "assumed",
    ]

    init(_ root: TomlTable, _ problems: ProblemList) {
        self.problems = problems
        top = TableReader(root, owner: "", problems: problems)
    }

    /// Nil where something is wrong, which `problems` has then.
    func model(id: String) -> CameraModel? {
        top.refuseUnknown(Self.keys)
        let name = required("name", top, Self.keys) { top.label("name") }
        let position = required("position", top, Self.keys) { top.choice("position", CameraPosition.self) }
        let sensor = required("sensor", top, Self.keys) { size("sensor", top) }
        let lights = CameraModel.Lights(
            flash: top.boolean("flash") ?? false, torch: top.boolean("torch") ?? false,
            flashGain: top.number("flash-gain", in: Limits.flashGain) ?? Limits.flashGainUsual)
        let assumed = assumed(top, Self.keys)
        let tables = top.tables("format", countMax: Limits.formatsMax)
        if top.entry("format") == nil {
            top.missing("format", of: Self.keys, "the camera has no formats", hint: "add [[format]]")
        }
        let formats = tables.enumerated().flatMap { self.formats($1, number: $0, sensor: sensor) }
        refuseTwins(formats, tables)
        let defaultIndex = defaultFormat(formats.map(\.format.name))
        guard problems.isEmpty, let name, let position, let sensor else { return nil }
        return CameraModel(
            id: id, name: name, position: position, sensorWidth: sensor.width, sensorHeight: sensor.height,
            lights: lights,
            hasLensStabilization: top.boolean("lens-stabilization") ?? false,
            hasStillImageStabilization: top.boolean("still-image-stabilization") ?? false,
            hasSmoothAutofocus: top.boolean("smooth-autofocus") ?? false, formats: formats,
            defaultFormatIndex: defaultIndex, assumed: assumed)
    }

    /// The place of the format that `default` names; the first where it names none.
    private func defaultFormat(_ names: [String]) -> Int {
        guard let (name, place) = top.string("default") else { return 0 }
        if let index = names.firstIndex(of: name) { return index }
        problems.add(
            "\(top.subject("default")) is \(Wording.quoted(name)), which no format is named", at: place,
            hint: Wording.didYouMean(name, among: names))
        return 0
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
        guard width == width.rounded(), height == height.rounded(), let entry = reader.entry(key) else {
            if let entry = reader.entry(key) {
                problems.add(
                    "\(reader.subject(key)) has part of a pixel; it takes two whole numbers", at: entry.node.place)
            }
            return nil
        }
        // Chroma has one sample for two pixels, along each side.
        guard Int(width) % 2 == 0, Int(height) % 2 == 0 else {
            problems.add("\(reader.subject(key)) has an odd side; it takes two even numbers", at: entry.node.place)
            return nil
        }
        return CameraFormat.Optics.Size(width: Int(width), height: Int(height))
    }

    private func assumed(_ reader: TableReader, _ keys: [String]) -> [String] {
        reader.choices("assumed", keys.filter { $0 != "assumed" && $0 != "format" }.map { ($0, $0) }) ?? []
    }

    // MARK: Formats

    /// One `[[format]]`: a format for each of its pixel formats.
    private func formats(
        _ table: TomlTable, number: Int, sensor: CameraFormat.Optics.Size?
    ) -> [CameraModel.Format] {
        let reader = TableReader(table, owner: "in format \(number + 1)", problems: problems)
        reader.refuseUnknown(Self.formatKeys)
        let keys = Self.formatKeys
        let pixelFormats = required("pixel-formats", reader, keys) {
            reader.choices("pixel-formats", ["420v", "420f"].map { ($0, $0) })
        }
        let size = required("size", reader, keys) { self.size("size", reader) }
        let rates = required("frame-rates", reader, keys) {
            reader.pair("frame-rates", in: Limits.frameRate, rising: true)
        }
        let reads = required("reads", reader, keys) {
            reader.integer("reads", in: 2...(sensor?.width ?? Int(Limits.side.upperBound)))
        }
        let maxZoom = required("max-zoom", reader, keys) { reader.number("max-zoom", in: Limits.zoom) }
        let view = required("field-of-view", reader, keys) { reader.number("field-of-view", in: Limits.view) }
        let lossless = reader.number("lossless-zoom", in: Limits.zoom) ?? 1
        if let maxZoom, lossless > maxZoom, let entry = reader.entry("lossless-zoom") {
            problems.add(
                "\(reader.subject("lossless-zoom")) is \(TomlText.number(lossless)), more than max-zoom, which is "
                    + TomlText.number(maxZoom), at: entry.node.place)
        }
        let optics = optics(reader, of: size)
        let assumed = assumed(reader, keys)
        guard let pixelFormats, let size, let rates, let reads, let maxZoom, let view else { return [] }
        return pixelFormats.map { pixelFormat in
            CameraModel.Format(
                format: CameraFormat(
                    pixelFormat: pixelFormat, width: size.width, height: size.height, minFrameRate: rates.0,
                    maxFrameRate: rates.1, videoMaxZoomFactor: maxZoom, videoZoomFactorUpscaleThreshold: lossless,
                    isBinned: reader.boolean("binned") ?? false, fieldOfView: view, optics: optics),
                readWidth: reads, assumed: assumed)
        }
    }

    private func optics(_ reader: TableReader, of size: CameraFormat.Optics.Size?) -> CameraFormat.Optics {
        var optics = CameraFormat.Optics.usual
        optics.highResolutionStill = reader.entry("stills") == nil ? nil : self.size("stills", reader)
        if let still = optics.highResolutionStill, let size, let entry = reader.entry("stills") {
            // A still keeps its stream's shape, to a row or two of a sensor whose sides are even.
            let rows = Double(still.width) * Double(size.height) / Double(size.width)
            if abs(rows - Double(still.height)) > Limits.rowsOff {
                problems.add(
                    "\(reader.subject("stills")) has another shape than the format's \(size.width)x\(size.height)",
                    at: entry.node.place, hint: "at this width it has \(Int((rows / 2).rounded()) * 2) rows")
            }
        }
        optics.autoFocusSystem = reader.choice("autofocus", CameraFormat.AutoFocusSystem.self) ?? .none
        optics.iso = reader.pair("iso", in: Limits.iso, rising: true).map(CameraFormat.Optics.Range.init)
        optics.exposureDuration =
            reader.pair("exposure", in: Limits.exposure, rising: true).map(CameraFormat.Optics.Range.init)
        optics.videoStabilizationModes =
            reader.choices("stabilization", CameraFormat.VideoStabilizationMode.allCases.map { ($0.rawValue, $0) })
            ?? []
        if !optics.videoStabilizationModes.isEmpty, let size, size.width * 9 != size.height * 16,
            let entry = reader.entry("stabilization")
        {
            problems.add(
                "\(reader.subject("stabilization")) is for formats of 16:9, and this one has \(size.width)x\(size.height)",
                at: entry.node.place, hint: "write []")
        }
        optics.isVideoHDRSupported = reader.boolean("hdr") ?? false
        return optics
    }

    /// `activeFormat` chooses by name.
    private func refuseTwins(_ formats: [CameraModel.Format], _ tables: [TomlTable]) {
        var names: Set<String> = []
        for format in formats where !names.insert(format.format.name).inserted {
            problems.add(
                "two formats are named \(Wording.quoted(format.format.name)); size, highest rate and binning tell them apart",
                at: tables.first?.place ?? top.table.place)
        }
    }
}

extension CameraFormat.Optics.Range {
    fileprivate init(_ pair: (Double, Double)) { self.init(least: pair.0, most: pair.1) }
}

/// What a camera's numbers can be.
private enum Limits {
    /// Wider than any sensor made.
    static let side = 2.0...65_536
    static let frameRate = 0.1...1000.0
    /// No lens sees more than half a sphere.
    static let view = 1.0...180.0
    /// From the whole picture to one pixel of a large sensor.
    static let zoom = 1.0...65_536
    static let iso = 1.0...1_000_000.0
    /// Seconds: from a millionth to a minute.
    static let exposure = 0.000_001...60.0
    static let flashGain = 1.0...100.0
    /// A flash that doubles the light is the least that anybody notices.
    static let flashGainUsual = 2.0
    /// Apple's longest list has some thirty.
    static let formatsMax = 128
    static let rowsOff = 4.0
}
