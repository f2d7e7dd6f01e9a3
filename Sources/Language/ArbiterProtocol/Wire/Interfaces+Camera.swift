extension Interface {
    package static let camera = Interface(
        name: InterfaceName.camera, summary: "A camera, at /org/camarb/camera/NAME.", methods: [], signals: [],
        properties: [
            Property("Id", "s", changes: .never, "The stable identity."),
            Property("Name", "s", changes: .named, "What a person calls it."),
            Property("Position", "s", changes: .named, "front, back or external."),
            Property("Generation", "t", "Grows each time it appears."),
            Property("Present", "b", "Whether it is plugged in."),
            Property(
                "Holder", "s",
                "The holder's app, \"another user's app\", \"outside: \" and the name of a program that did not ask, or \"\"."
            ), Property("SensorWidth", "u", changes: .named, "Pixels of its sensor; 0: not known."),
            Property("SensorHeight", "u", changes: .named, "The same, upwards."),
            Property("Formats", "aa{sv}", changes: .named, "Its formats, in the order in which the camera lists them."),
            Property(
                "DefaultFormatIndex", "u", changes: .named,
                "Which of `Formats` a session has that asks for none, counted from 0."),
            Property(
                "AvailableMetadataObjectTypes", "as", changes: .named,
                "What it finds in its pictures, for a recording's metadata kind `objects`. Empty: nothing."),
            Property(
                "Controls", "aa{sv}", changes: .named,
                """
                What else can be set on it: `key` s, its `usual` value, and `least`, `most`, `step` d of a number or the \
                `words` as of a mode.
                """),
        ])
}
