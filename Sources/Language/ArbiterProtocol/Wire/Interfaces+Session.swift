extension Interface {
    /// A capture session, at /org/camarb/session/N. Every signal begins with the session's sequence
    /// number (from 1, without gaps) and the decision it came from.
    package static let session = Interface(
        name: InterfaceName.session, summary: "A capture session.",
        methods: [
            Method(
                "StartRunning",
                """
                Asks to run. Interrupted at once, and not an error, while causes leave no access; `AccessDenied` without a \
                right to the camera.
                """),
            Method(
                "Reclaim", takes: "secret s",
                """
                In place of `StartRunning`, on a session that was just created at another broker: goes on with the camera \
                that the secret was given for. `StaleGrant` where that is over; the secret is used up unless it \
                was another client's.
                """),
            Method(
                "GetReclaimSecret", gives: "secret s",
                """
                While it holds a camera that streams: 32 hexadecimal digits for `Reclaim`, once, by the same user and \
                app. The one before is void.
                """), Method("StopRunning", "Takes the start request back."),
            Method("BeginConfiguration", "Opens a batch; nests at most 16 deep."),
            Method("CommitConfiguration", "Closes a batch; the outermost one applies it as a whole."),
            Method(
                "Configure", takes: "batch a{sv}",
                """
                Sets keys as a whole or not at all: camera, activeFormat, frameRate, videoZoomFactor, … The answer says that the \
                batch was taken. While the session runs it is in force, and in `Configuration`, with `ConfigurationApplied`, which \
                may come later.
                """),
            Method(
                "CheckConfiguration", takes: "batch a{sv}",
                "Answers as `Configure` would at this moment, refusal and sentence alike, and sets nothing."),
            Method(
                "OpenStream", gives: "stream h",
                "The preview stream of the present grant, a SOCK_SEQPACKET socket. It ends with the grant."),
            Method(
                "CapturePhoto", takes: "file h, options a{sv}", gives: "photo t",
                "Writes one JPEG to a regular file; `PhotoCaptured` says when it is whole."),
            Method(
                "CapturePhotoBracket", takes: "files ah, options a{sv}", gives: "photos at",
                """
                Writes 1 to 8 JPEGs of consecutive frames, each with an exposure of its own and into a file of its own: all or \
                none is ordered. `PhotoCaptured` comes for each, as each file is whole, in no promised order; \
                their numbers follow each other, as the files do.
                """),
            Method(
                "AttachMicrophone", takes: "microphone h, options a{sv}",
                """
                Brings the sound of the client's own microphone, while the session runs, may record and has `usesAudio`: the other \
                end of a SOCK_SEQPACKET socket pair, on which the client writes packets of samples from then on. It ends with the \
                grant, with `usesAudio` false, and when another one is attached.
                """),
            Method(
                "StartRecording", takes: "file h, options a{sv}", gives: "recording t",
                """
                Records to an empty or overwritable regular file, open for writing and not for appending; with the sound of the \
                microphone that is attached. Refused with `usesAudio` and no microphone.
                """),
            Method("StopRecording", "Finishes the recording; `RecordingFinished` says when its file is whole."),
            Method(
                "PauseRecording",
                "No frame and no sound gets into the file until `ResumeRecording`; in the file, times run on without a hole."
            ), Method("ResumeRecording", "The paused recording goes on, in the same file."),
            Method(
                "AppendMetadata", takes: "kind s, time x, items as",
                """
                Adds items to a kind of metadata that `StartRecording` declared, in the form of its type: `iso6709` such as \
                `+48.2082+016.3738/`, `number` a decimal number, `text` any. They count from a moment of the recording (nanoseconds of \
                CLOCK_MONOTONIC), not before the last one, until the next; no items: none from here on. At most 64 KiB at a time, and \
                100 times a second.
                """),
            Method(
                "Ready", takes: "interruption t",
                "Answers `WillBeInterrupted`: the camera may go before the deadline."),
            Method("Continue", "Clears sensitive-content-mitigation-activated, and nothing else."),
            Method("Close", "Ends the session. Its path answers no more."),
        ], signals: NoticeDescription.all.map(\.signal),
        properties: SessionProperties.properties)
}
