/// A camera's abilities, by its recorder core's last description.
public struct CameraCapabilities: Hashable, Sendable, Codable {
    public var name: String
    public var position: CameraPosition
    /// Pixels of the sensor.
    public var sensorWidth: Int
    public var sensorHeight: Int
    /// Never empty for a camera that can run. In the camera's order: Apple's begin with the smallest.
    public var formats: [CameraFormat]
    /// The index of the format without a configuration.
    public var defaultFormatIndex: Int
    /// Further settings, in the order of the keys' declaration; may be empty.
    public var controls: [CameraControl]
    /// The types of objects that the source finds in its pictures, for the metadata kind `objects`; may be empty.
    public var availableMetadataObjectTypes: [String]

    public init(
        name: String, position: CameraPosition, sensorWidth: Int, sensorHeight: Int, formats: [CameraFormat],
        controls: [CameraControl] = [], defaultFormatIndex: Int = 0, availableMetadataObjectTypes: [String] = []
    ) {
        (self.availableMetadataObjectTypes, self.controls) = (availableMetadataObjectTypes, controls)
        (self.defaultFormatIndex, self.name) = (defaultFormatIndex, name)
        (self.position, self.sensorWidth) = (position, sensorWidth)
        (self.sensorHeight, self.formats) = (sensorHeight, formats)
    }

    /// `nil` for a camera without formats.
    public var defaultFormat: CameraFormat? {
        formats.indices.contains(defaultFormatIndex) ? formats[defaultFormatIndex] : formats.first
    }

    /// States in traces of 0.1 have no index, and no types of objects.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func read<Value: Decodable>(_ key: CodingKeys) throws -> Value { try members.decode(Value.self, forKey: key) }
        self.init(
            name: try read(.name), position: try read(.position), sensorWidth: try read(.sensorWidth),
            sensorHeight: try read(.sensorHeight), formats: try read(.formats), controls: try read(.controls),
            defaultFormatIndex: try members.decodeIfPresent(Int.self, forKey: .defaultFormatIndex) ?? 0,
            availableMetadataObjectTypes: try members.decodeIfPresent(
                [String].self, forKey: .availableMetadataObjectTypes) ?? [])
    }
}
