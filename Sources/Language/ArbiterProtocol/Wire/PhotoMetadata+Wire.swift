extension PhotoMetadata {
    /// `a{sv}`; what the camera does not say is left out.
    public var wire: WireDictionary {
        var wire = WireDictionary()
        func add(_ key: Key, _ value: WireValue) { wire.append(key.rawValue, value) }
        if let exposureDuration { add(.exposureDuration, .double(exposureDuration)) }
        if let iso { add(.iso, .double(iso)) }
        if let exposureTargetBias { add(.exposureTargetBias, .double(exposureTargetBias)) }
        add(.videoZoomFactor, .double(videoZoomFactor))
        add(.orientation, .uint32(UInt32(orientation)))
        add(.stillImageStabilizationUsed, .boolean(stillImageStabilizationUsed))
        add(.lensStabilizationUsed, .boolean(lensStabilizationUsed))
        add(.flashFired, .boolean(flashFired))
        return wire
    }

    /// Reads it. Keys that this library does not know are a later broker's, and passed over.
    /// - Throws: `.invalidArguments`, naming the key, the value and what it takes.
    public init(wire: WireDictionary) throws(BrokerError) {
        self.init()
        for entry in wire.entries {
            guard let key = Key(rawValue: entry.key) else { continue }
            let value = entry.value
            switch key {
            case .exposureDuration: exposureDuration = try Self.number(value, key) { $0 > 0 }
            case .iso: iso = try Self.number(value, key) { $0 > 0 }
            case .exposureTargetBias: exposureTargetBias = try Self.number(value, key) { _ in true }
            case .videoZoomFactor: videoZoomFactor = try Self.number(value, key) { $0 >= 1 }
            case .orientation:
                orientation = UInt8(try Self.number(value, key) { $0 >= 1 && $0 <= 8 && $0 == $0.rounded() })
            case .stillImageStabilizationUsed: stillImageStabilizationUsed = try Self.flag(value, key)
            case .lensStabilizationUsed: lensStabilizationUsed = try Self.flag(value, key)
            case .flashFired: flashFired = try Self.flag(value, key)
            }
        }
    }

    private static func number(
        _ value: WireValue, _ key: Key, where isAllowed: (Double) -> Bool
    ) throws(BrokerError) -> Double {
        guard let number = value.number, number.isFinite, isAllowed(number) else { throw wrong(value, key) }
        return number
    }

    private static func flag(_ value: WireValue, _ key: Key) throws(BrokerError) -> Bool {
        guard let flag = value.boolean else { throw wrong(value, key) }
        return flag
    }

    private static func wrong(_ value: WireValue, _ key: Key) -> BrokerError {
        BrokerError(.invalidArguments, "A photo's \(key.rawValue) is \(value.sentence); it takes \(key.allowed).")
    }
}

extension PhotoMetadata.Key {
    package var wireType: String {
        switch self {
        case .exposureDuration, .iso, .exposureTargetBias, .videoZoomFactor: "d"
        case .orientation: "u"
        case .stillImageStabilizationUsed, .lensStabilizationUsed, .flashFired: "b"
        }
    }

    package var allowed: String {
        switch self {
        case .exposureDuration, .iso: "a number above 0"
        case .exposureTargetBias: "a number"
        case .videoZoomFactor: "a number from 1"
        case .orientation: "1 to 8"
        case .stillImageStabilizationUsed, .lensStabilizationUsed, .flashFired: "true or false"
        }
    }

    /// For the document of the wire.
    package var summary: String {
        switch self {
        case .exposureDuration: "Seconds; left out where the camera does not say."
        case .iso: "ISO 12232 sensitivity; left out where the camera does not say."
        case .exposureTargetBias:
            "Exposure values beside what the automatic exposure found; left out where there is none."
        case .videoZoomFactor: "The zoom of the moment: on a ramp, how far it had come."
        case .orientation: "Which side of the picture is up, as Exif counts."
        case .stillImageStabilizationUsed: "It was made of several exposures: from 1/30 s on, without the flash."
        case .lensStabilizationUsed:
            "The lens was moved against shaking: from 1/30 s on. Beside a bracket only with the other, in the whole sensor's format."
        case .flashFired: "It was lit."
        }
    }
}

extension NoticeField where Value == PhotoMetadata? {
    /// Empty on the wire: it is not known. Missing there: a recorder core of an earlier version.
    static var photoMetadata: NoticeField {
        NoticeField(
            "metadata", "a{sv}", wire: { .dictionary($0?.wire ?? WireDictionary()) },
            read: { (reader, name) throws(BrokerError) in
                if reader.isAtEnd { return nil }
                let wire = try reader.dictionary(name)
                return wire.isEmpty ? nil : try PhotoMetadata(wire: wire)
            })
    }
}
