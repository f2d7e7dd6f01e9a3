public struct CameraDescription: Hashable, Sendable, Described {
    public var camera = CameraID("")
    public var name = ""
    public var position = CameraPosition.external
    public var generation: UInt64 = 0
    public var isPresent = false
    public var holder: Interrupter?
    /// Of the sensor 0, and empty lists, until its recorder core has described it.
    public var sensorWidth = 0
    public var sensorHeight = 0
    public var formats: [CameraFormat] = []
    public var defaultFormatIndex = 0
    public var availableMetadataObjectTypes: [String] = []
    public var controls: [CameraControl] = []

    package init() {}

    package static let fields: [Field<Self>] = [
        Field("Id", \.camera, "The stable identity.").changing(.never),
        Field("Name", \.name, "What a person calls it.").changing(.named),
        Field("Position", \.position, "front, back or external.").changing(.named),
        Field("Generation", \.generation, "Grows each time it appears."),
        Field("Present", \.isPresent, "Whether it is plugged in."),
        Field(
            "Holder", \.holder,
            "The holder's app, \"another user's app\", \"outside: \" and the name of a program that did not ask, or \"\"."
        ),
        Field("SensorWidth", \.sensorWidth, since: "SensorWidth", "Pixels of its sensor; 0: not known.").changing(
            .named),
        Field("SensorHeight", \.sensorHeight, since: "SensorHeight", "The same, upwards.").changing(.named),
        Field("Formats", \.formats, "Its formats, in the order in which the camera lists them.").changing(.named),
        Field(
            "DefaultFormatIndex", \.defaultFormatIndex, since: "DefaultFormatIndex",
            "Which of `Formats` a session has that asks for none, counted from 0."
        ).changing(.named),
        Field(
            "AvailableMetadataObjectTypes", \.availableMetadataObjectTypes, since: "AvailableMetadataObjectTypes",
            "What it finds in its pictures, for a recording's metadata kind `objects`. Empty: nothing."
        ).changing(.named),
        Field(
            "Controls", \.controls,
            """
            What else can be set on it: `key` s, its `usual` value, and `least`, `most`, `step` d of a number or the `words` as \
            of a mode.
            """
        ).changing(.named),
    ]

    package init(_ wire: WireDictionary) throws(BrokerError) {
        try self.init(wire, at: "Camera1")
        if !formats.indices.contains(defaultFormatIndex) { defaultFormatIndex = 0 }
    }
}
