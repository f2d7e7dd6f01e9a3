public import ArbiterProtocol

/// What goes into a recording beside its pictures, and when it goes on.
extension SessionHandle {
    /// Sound for the recordings that begin from now on, while the session holds its camera and has `usesAudio`.
    ///
    /// The other end of the socket is written to, a packet at a time: the moment of its first frame (`Int64`, nanoseconds of
    /// CLOCK_MONOTONIC), how many frames it has (`UInt32`, 1 to 65,536 and at most a second's), a `UInt32` of 0, all
    /// little-endian, and so many frames of interleaved signed 16-bit samples. Nothing is ever read there but the end of the
    /// connection: when the camera goes, or when another microphone comes. A packet that is wrong is passed over; the first one
    /// is told as a `runtimeError` with the code `microphone`. A microphone stays where the session keeps its camera over a
    /// restart of the broker, and has to be attached anew after every other end.
    ///
    /// A recording begins with its first picture, whether sound has come or not: sound that comes later has silence before it.
    /// - Parameters:
    ///   - socket: one end of a connected pair of AF_UNIX SOCK_SEQPACKET sockets; it stays the caller's and is best closed on
    ///     return.
    ///   - format: what the packets have, for as long as the microphone is attached.
    /// - Throws: `.notRunning`, `.interrupted`, `.accessDenied`, `.unsuitableFile` naming what was passed, `.invalidValue`,
    ///   `.limitExceeded`; `.unsupportedConfiguration` without `usesAudio`.
    public func attachMicrophone(_ socket: Int32, format: MicrophoneFormat) async throws(BrokerError) {
        try await core.call("AttachMicrophone", [.fileDescriptor(socket), .dictionary(format.wire)])
    }

    /// No frame gets into the file until `resumeRecording`; its times go on without a hole. `recordingPaused` says so. No
    /// interruption ever pauses a recording.
    /// - Throws: `.notRecording`, also where it is paused.
    public func pauseRecording() async throws(BrokerError) { try await core.call("PauseRecording") }

    /// The file goes on with the next frame. `recordingResumed` says so.
    /// - Throws: `.notRecording`; `.alreadyRecording` where it is not paused.
    public func resumeRecording() async throws(BrokerError) { try await core.call("ResumeRecording") }

    /// Says what is true of a kind of timed metadata from a moment on, until the next group of its kind.
    /// - Parameters:
    ///   - kind: a kind of the client's own that the recording was started with.
    ///   - time: nanoseconds of CLOCK_MONOTONIC, not before the kind's last group, and within the recording.
    ///   - items: in the form of the kind's type, such as `+48.2082+016.3738/` for `iso6709`; none: nothing is, from then on.
    ///     At most 64 KiB together.
    /// - Throws: `.notRecording`; `.invalidValue` naming what is wrong; `.limitExceeded` beyond 64 KiB, or 100 groups a second.
    public func appendMetadata(kind: String, time: Int64, items: [String]) async throws(BrokerError) {
        try await core.call("AppendMetadata", [.string(kind), .int64(time), .strings(items)])
    }
}
