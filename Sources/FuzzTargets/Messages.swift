import ArbiterProtocol

/// What comes as records and as arguments of messages.
extension FuzzTarget {
    /// What was decoded encodes as the same.
    static func frameRecord(_ bytes: [UInt8]) {
        for start in stride(from: 0, to: bytes.count, by: FrameRecord.encodedBytes) {
            let part = bytes[start..<min(bytes.count, start + FrameRecord.encodedBytes)]
            guard let record = FrameRecord(decoding: part) else { continue }
            precondition(
                FrameRecord(decoding: record.encode()) == record, "A frame record encodes as another one: \(record)")
        }
    }

    /// Capabilities that were taken describe a camera that can be used, and read back as the same.
    static func recorderAnswer(_ bytes: [UInt8]) {
        var seed = WireSeed(bytes)
        let wire = seed.dictionary()
        if let capabilities = try? CameraCapabilities(wire: wire) {
            precondition(!capabilities.formats.isEmpty, "A camera without formats was taken.")
            do throws(BrokerError) {
                let again = try CameraCapabilities(wire: capabilities.wire)
                precondition(again == capabilities, "A camera reads back as another one: \(capabilities)")
            } catch {
                preconditionFailure("A camera that was taken does not read back: \(error.message)")
            }
        }
        _ = try? Configuration(wire: wire)
        var reader = WireReader("PhotoCaptured", seed.arguments())
        _ = try? PhotoCaptured(reading: &reader)
    }
}

/// Arguments out of bytes, with the names that are looked for, so that the deep places are reached.
struct WireSeed {
    private var bytes: ArraySlice<UInt8>

    private static let keys = [
        "name", "position", "sensorWidth", "sensorHeight", "formats", "controls", "key", "usual", "words", "least",
        "most", "step", "width", "height", "pixelFormat", "frameRates", "minFrameRate", "maxFrameRate",
        "videoMaxZoomFactor", "videoZoomFactorUpscaleThreshold", "isBinned", "fieldOfView", "activeFormat", "frameRate",
        "videoZoomFactor", "focusMode", "exposureMode", "torchMode", "camera", "back", "front", "420v", "auto",
    ]
    /// Deeper than any value of ours.
    private static let depthMax = 4
    private static let elementsMax = 16

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    private mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    private mutating func number() -> UInt64 {
        (0..<8).reduce(UInt64(0)) { value, _ in value << 8 | UInt64(byte()) }
    }

    private mutating func text() -> String {
        let length = Int(byte())
        // The upper half are the known words.
        if length >= 128 { return Self.keys[length % Self.keys.count] }
        let part = bytes.prefix(length)
        bytes = bytes.dropFirst(length)
        return String(decoding: part, as: UTF8.self)
    }

    mutating func dictionary(_ depth: Int = 0) -> WireDictionary {
        var dictionary = WireDictionary()
        for _ in 0..<min(Self.elementsMax, Int(byte())) {
            let key = text()
            dictionary[key] = value(depth + 1)
        }
        return dictionary
    }

    mutating func arguments() -> [WireValue] { (0..<min(Self.elementsMax, Int(byte()))).map { _ in value(1) } }

    private mutating func value(_ depth: Int) -> WireValue {
        let kind = byte() % 11
        if depth >= Self.depthMax && kind >= 9 { return .boolean(false) }
        switch kind {
        case 0: return .boolean(byte() & 1 == 1)
        case 1: return .int32(Int32(truncatingIfNeeded: number()))
        case 2: return .uint32(UInt32(truncatingIfNeeded: number()))
        case 3: return .int64(Int64(bitPattern: number()))
        case 4: return .uint64(number())
        case 5: return .double(Double(bitPattern: number()))
        case 6: return .double(Double(Int8(bitPattern: byte())))
        case 7: return .string(text())
        case 8: return .strings((0..<min(Self.elementsMax, Int(byte()))).map { _ in text() })
        case 9: return .dictionary(dictionary(depth))
        default: return .dictionaries((0..<min(Self.elementsMax, Int(byte()))).map { _ in dictionary(depth) })
        }
    }
}
