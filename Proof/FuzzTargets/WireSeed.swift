import ArbiterProtocol

/// Arguments from bytes, with known names, so that deep places are reached.
struct WireSeed {
    private var bytes: ArraySlice<UInt8>

    private static let keys = [
        "name", "position", "sensorWidth", "sensorHeight", "formats", "controls", "key", "usual", "words", "least",
        "most", "step", "width", "height", "pixelFormat", "frameRates", "minFrameRate", "maxFrameRate",
        "videoMaxZoomFactor", "videoZoomFactorUpscaleThreshold", "isBinned", "fieldOfView", "activeFormat", "frameRate",
        "videoZoomFactor", "focusMode", "exposureMode", "torchMode", "camera", "back", "front", "420v", "auto",
        "app", "kind", "multitasking", "requiresFullScreen", "reestablished", "sharingMode", "exclusiveControl",
        "sharedReadOnly", "when-busy", "interrupt", "microphone", "fullscreen", "background", "split", "slide-over",
        "picture-in-picture", "shell", "agent", "presence", "focused", "org.camarb.Session1", "org.camarb.Broker1",
        "critical", "nominal", "photos", "notes", "", "1920x1080", "420v 1920x1080",
    ]
    private static let depthMax = 4
    private static let elementsMax = 16

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    var isEmpty: Bool { bytes.isEmpty }
    mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    mutating func part(_ count: Int) -> [UInt8] {
        let part = Array(bytes.prefix(count))
        bytes = bytes.dropFirst(count)
        return part
    }

    private mutating func number() -> UInt64 { (0..<8).reduce(UInt64(0)) { value, _ in value << 8 | UInt64(byte()) } }

    private mutating func text() -> String {
        let length = Int(byte())
        // The upper half are known words.
        if length >= 128 { return Self.keys[length % Self.keys.count] }
        return String(decoding: part(length), as: UTF8.self)
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

    /// Values of these types, as far as camarb's methods and signals have them.
    mutating func values(_ signature: String) -> [WireValue] {
        var types = signature[...]
        var values: [WireValue] = []
        while let type = types.popFirst() {
            switch type {
            case "b": values.append(.boolean(byte() & 1 == 1))
            // Small numbers exist.
            case "t": values.append(.uint64(byte() < 128 ? UInt64(byte()) : number()))
            case "u": values.append(.uint32(byte() < 128 ? UInt32(byte()) : UInt32(truncatingIfNeeded: number())))
            case "x": values.append(.int64(Int64(bitPattern: number())))
            case "d": values.append(.double(Double(bitPattern: number())))
            case "h": values.append(.fileDescriptor(0))
            case "s": values.append(.string(text().asSent))
            case "a" where types.hasPrefix("s"):
                types = types.dropFirst()
                values.append(.strings((0..<min(Self.elementsMax, Int(byte()))).map { _ in text().asSent }))
            case "a" where types.hasPrefix("h"):
                types = types.dropFirst()
                values.append(
                    .array(type: "h", Array(repeating: .fileDescriptor(0), count: Int(byte()) % (2 * Self.elementsMax)))
                )
            case "a":
                let isDictionary = types.hasPrefix("{sv}")
                types = types.dropFirst(isDictionary ? 4 : "a{sv}".count)
                values.append(
                    isDictionary
                        ? .dictionary(dictionary().asSent)
                        : .dictionaries((0..<min(Self.elementsMax, Int(byte()))).map { _ in dictionary().asSent }))
            default: preconditionFailure("Nothing of ours has a \(type).")
            }
        }
        return values
    }

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

/// Answers from bytes, and zeros after their end, so that every input ends.
struct Answers {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: some Collection<UInt8>) { self.bytes = Array(bytes)[...] }

    var isEmpty: Bool { bytes.isEmpty }
    mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    mutating func part(_ count: Int) -> [UInt8] {
        let part = Array(bytes.prefix(count))
        bytes = bytes.dropFirst(count)
        return part + repeatElement(0, count: count - part.count)
    }

    /// Once in so many times, and never after the end of the bytes.
    mutating func isOnce(in count: UInt8) -> Bool { byte() % count == count - 1 }

    /// A usual number, a bound, or any number.
    mutating func number() -> Int64 {
        switch byte() {
        case 0..<160: Int64(Int8(bitPattern: byte()))
        case 160..<192: Int64(UInt16(byte()) << 8 | UInt16(byte()))
        case 192: .max
        case 193: .min
        case 194: Int64(UInt32.max)
        case 195: Int64(Int32.min)
        case 196: .max - 1
        default: part(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        }
    }

    mutating func word() -> UInt32 { UInt32(truncatingIfNeeded: number()) }
}

/// Bytes with cuts: their number, each as a 256th of the whole, and the bytes.
struct CutBytes {
    static let cutsMax = 7
    var bytes: [UInt8]
    var cuts: [Int]

    init(_ input: [UInt8]) {
        let count = Int(input.first ?? 0) % (Self.cutsMax + 1)
        bytes = Array(input.dropFirst(1 + count))
        let length = bytes.count
        cuts = input.dropFirst().prefix(count).map { Int($0) * length / 256 }.sorted()
    }

    var pieces: [[UInt8]] { zip([0] + cuts, cuts + [bytes.count]).map { Array(bytes[$0..<$1]) } }
    var singly: [[UInt8]] { bytes.map { [$0] } }
}
