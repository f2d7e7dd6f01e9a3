public import Vocabulary

extension PhotoMetadata: Described {
    package static let fields: [Field<Self>] = [
        .ifAny(
            "exposureDuration", \.exposureDuration, "Seconds; left out where the camera does not say.",
            takes: "a number above 0", where: { $0 > 0 }),
        .ifAny(
            "iso", \.iso, "ISO 12232 sensitivity; left out where the camera does not say.", takes: "a number above 0",
            where: { $0 > 0 }),
        .ifAny(
            "exposureTargetBias", \.exposureTargetBias,
            "Exposure values beside what the automatic exposure found; left out where there is none.",
            takes: "a number"),
        Field(
            "videoZoomFactor", \.videoZoomFactor, since: "videoZoomFactor",
            "The zoom of the moment: on a ramp, how far it had come.", takes: "a number from 1", where: { $0 >= 1 }),
        Field(
            "orientation", \.orientation, since: "orientation", "Which side of the picture is up, as Exif counts.",
            takes: "1 to 8", where: { (1...8).contains($0) }),
        Field(
            "stillImageStabilizationUsed", \.stillImageStabilizationUsed, since: "stillImageStabilizationUsed",
            "It was made of several exposures: from 1/30 s on, without the flash."),
        Field(
            "lensStabilizationUsed", \.lensStabilizationUsed, since: "lensStabilizationUsed",
            """
            The lens was moved against shaking: from 1/30 s on. Beside a bracket only with the other, in the whole sensor's \
            format.
            """), Field("flashFired", \.flashFired, since: "flashFired", "It was lit."),
    ]

    /// Keys of a later broker are passed over.
    /// - Throws: `.invalidArguments`, naming the key, the value and what it takes.
    public init(wire: WireDictionary) throws(BrokerError) {
        try self.init(checking: wire, "A photo's ", as: .invalidArguments)
    }
}

/// An empty dictionary on the wire stands for none.
extension PhotoMetadata: WireOptional {
    package static let none = WireValue.dictionary(WireDictionary())
    package static func readAny(_ wire: WireValue, _: WirePlace) throws(BrokerError) -> PhotoMetadata?? {
        guard let wire = wire.dictionary else { return nil }
        return .some(wire.isEmpty ? nil : try PhotoMetadata(wire: wire))
    }
}
