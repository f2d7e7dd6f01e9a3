extension Described {
    static var properties: [Interface.Property] {
        fields.map { Interface.Property(name: $0.name, type: $0.type, changes: $0.changes, summary: $0.meaning) }
    }
}

package struct BrokerProperties: Hashable, Sendable, Described {
    package var version = ""
    package var policyName = ""
    package var policyHash = ""
    package var degraded = ""
    package var isPresenceKnown = false

    package init() {}

    package static let fields: [Field<Self>] = [
        Field("Version", \.version, "camarbd's version.").changing(.never),
        Field("PolicyName", \.policyName, "The policy in force."),
        Field(
            "PolicyHash", \.policyHash, "Its hash: 32 hexadecimal digits over all of it that can decide (policy.md)."),
        Field("Degraded", \.degraded, "Why the broker runs without what it was told to use; empty when all is well."),
        Field("PresenceKnown", \.isPresenceKnown, "False: no presence source, so every client counts as foreground."),
    ]
}

public struct SessionProperties: Hashable, Sendable, Described {
    public var camera = CameraID("")
    public var isRunning = false
    public var isInterrupted = false
    public var access = Access.none
    public var causes = CauseSet()
    public var configuration = Configuration()

    package init() {}

    package static let fields: [Field<Self>] = [
        Field("Camera", \.camera, json: "camera", "The camera's id."),
        Field("Running", \.isRunning, json: "running", "Whether frames flow."),
        Field("Interrupted", \.isInterrupted, json: "interrupted", "Whether causes leave nothing."),
        Field("Access", \.access, json: "access", "What it may do now."),
        Field("Causes", \.causes, json: "causes", "Every live cause, the reason first."),
        Field(
            "Configuration", \.configuration, json: "configuration",
            """
            While it runs, the whole of what is in force on its camera, and `usesAudio`, `sharingMode` and `captureMode` where \
            it set them; otherwise what it asked for, which is set when it runs.
            """),
    ]
}

extension Interface {
    package static let camera = Interface(
        name: InterfaceName.camera, summary: "A camera, at /org/camarb/camera/NAME.",
        properties: CameraDescription.properties)
}
