public import ArbiterProtocol
import CCamarb

/// A capture session of this client, for as long as its lease lasts: after that every call throws `.unknownSession`.
///
/// Methods may be called from any task and several at once; the broker takes them in the order in which they reach it.
public struct SessionHandle: Sendable {
    let core: SessionCore

    public var id: SessionID { core.id }

    /// The session's events, in order; the last one is `.ended`. Read them in one place:
    /// `events` and `notices` are two views of one queue.
    public var events: Notices<SessionEvent> {
        Notices { [core] in
            let (notice, isLast) = await core.next()
            return (notice.clientEvent, isLast)
        }
    }

    /// The same with sequence numbers and decision ids.
    public var notices: Notices<SessionNotice> { Notices { [core] in await core.next() } }

    /// The camera's pictures, as long as the session runs; it goes on by itself when the session does.
    public var pictures: Pictures { Pictures(core: core) }

    /// Asks to run. Not an error while causes leave no access: the session is interrupted then, and runs by itself.
    /// - Throws: `.insideConfiguration` between begin and commit; `.refusedByPolicy` where the policy refuses losers.
    public func startRunning() async throws(BrokerError) { try await core.ask { camarb_session_start($0) } }

    /// Takes the start request back.
    /// - Throws: `.notRunning` when there is none.
    public func stopRunning() async throws(BrokerError) { try await core.ask { camarb_session_stop($0) } }

    /// Opens a batch; nests at most 16 deep, and is closed by `commitConfiguration`.
    public func beginConfiguration() async throws(BrokerError) { try await core.ask { face_begin_batch($0) } }

    /// Closes a batch; the outermost one applies it as a whole.
    /// - Throws: `.unsupportedConfiguration`, and nothing changed.
    public func commitConfiguration() async throws(BrokerError) { try await core.ask { face_commit_batch($0) } }

    /// Sets keys as a whole or not at all; at once while the session may configure, else when it runs.
    /// - Throws: `.unsupportedConfiguration` naming key, value and what is allowed; `.microphoneBusy`.
    public func configure(_ batch: Configuration) async throws(BrokerError) {
        try await core.ask(with: batch.wire) { camarb_session_configure($0, $1) }
    }

    /// Throws what `configure` would throw at this moment, and sets nothing.
    public func checkConfiguration(_ batch: Configuration) async throws(BrokerError) {
        try await core.ask(with: batch.wire) { camarb_session_check_configuration($0, $1) }
    }

    /// The preview stream of the present grant: a `SOCK_SEQPACKET` socket that speaks `FrameRecord` and ends with the grant.
    /// `pictures` is what an app reads; this is for programs with a loop of their own.
    package func openStream() async throws(BrokerError) -> Int32 {
        var answer = WireReader("OpenStream", try await core.call(InterfaceName.session, "OpenStream"))
        return try answer.fileDescriptor("stream")
    }

    /// Takes the next frame as a JPEG.
    /// - Parameter file: a regular file, open for writing; it stays the caller's and may be closed on return.
    /// - Returns: the photo's id; `photoCaptured` says when it is whole.
    /// - Throws: `.interrupted`, `.accessDenied`, `.unsuitableFile`.
    public func capturePhoto(to file: Int32) async throws(BrokerError) -> PhotoID {
        try await core.ask { camarb_session_capture_photo($0, file, nil) }
    }

    /// Takes consecutive frames as JPEGs, each with an exposure of its own.
    /// - Parameter files: one for each shot of the bracket, as of a photo, and each another one.
    /// - Returns: the photos' ids, in the order of the files; `photoCaptured` comes for each.
    /// - Throws: `.interrupted`, `.accessDenied`, `.unsuitableFile`, and `.invalidValue` naming what the camera does not take.
    public func capturePhotos(to files: [Int32], bracket: PhotoBracket) async throws(BrokerError) -> [PhotoID] {
        let wire = bracket.wire
        func values(_ key: PhotoBracket.Key) throws(BrokerError) -> [Double]? {
            let values = wire[key.rawValue]?.numbers
            guard values == nil || values?.count == files.count else {
                throw BrokerError(
                    .invalidValue,
                    "A bracket has as many files as shots: \(bracket.shots.count), and not \(files.count).")
            }
            return values
        }
        let biases = try values(.exposureTargetBiases)
        let (durations, isos) = (try values(.exposureDurations), try values(.isos))
        let first = try await core.ask {
            camarb_session_capture_bracket($0, files, files.count, biases, durations, isos)
        }
        return (0..<UInt64(files.count)).map { first + $0 }
    }

    /// Records from the next frame on. An interruption finishes the recording, and it never resumes by itself.
    /// - Parameter file: an empty or overwritable regular file, open for writing, not for appending; it stays the
    ///   caller's and may be closed on return.
    /// - Returns: the recording's id; `recordingFinished` says when its file is whole.
    /// - Throws: `.interrupted`, `.accessDenied`, `.alreadyRecording`, `.unsuitableFile`, `.invalidValue`.
    public func startRecording(
        to file: Int32, options: RecordingOptions = RecordingOptions()
    ) async throws(BrokerError) -> RecordingID {
        try await core.ask(with: options.wire) { camarb_session_start_recording($0, file, $1) }
    }

    /// Finishes the recording.
    /// - Throws: `.notRecording`.
    public func stopRecording() async throws(BrokerError) { try await core.ask { camarb_session_stop_recording($0) } }

    /// Answers `willBeInterrupted`: the camera may go before the deadline.
    public func ready(for interruption: InterruptionID) async throws(BrokerError) {
        try await core.ask { camarb_session_ready($0, interruption) }
    }

    /// Clears `sensitive-content-mitigation-activated`, and nothing else.
    public func `continue`() async throws(BrokerError) { try await core.ask { camarb_session_continue($0) } }

    /// The session's present state. Events report its changes.
    public func properties() async throws(BrokerError) -> SessionProperties {
        var answer = WireReader(
            "GetAll", try await core.call("org.freedesktop.DBus.Properties", "GetAll", [.string(InterfaceName.session)])
        )
        return try SessionProperties(try answer.dictionary("properties"), at: "Session1")
    }
}

/// The life of a session: it cannot be copied, and when it is gone the session is closed. Its `deinit` only posts the close; it
/// neither waits nor throws.
public struct SessionLease: ~Copyable, Sendable {
    public let handle: SessionHandle

    init(_ core: SessionCore) { handle = SessionHandle(core: core) }
    deinit { handle.core.closeWithoutWaiting() }

    /// Ends the session and waits until the broker has freed what it held. Its events end.
    public consuming func close() async throws(BrokerError) { try await handle.core.close() }
}

/// A recording's sound and metadata, and its pauses.
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
        try await core.ask { camarb_session_attach_microphone($0, socket, format.sampleRate, format.channels) }
    }

    /// No frame gets into the file until `resumeRecording`; its times go on without a hole. `recordingPaused` says so. No
    /// interruption ever pauses a recording.
    /// - Throws: `.notRecording`, also where it is paused.
    public func pauseRecording() async throws(BrokerError) { try await core.ask { camarb_session_pause_recording($0) } }

    /// The file goes on with the next frame. `recordingResumed` says so.
    /// - Throws: `.notRecording`; `.alreadyRecording` where it is not paused.
    public func resumeRecording() async throws(BrokerError) {
        try await core.ask { camarb_session_resume_recording($0) }
    }

    /// Says what is true of a kind of timed metadata from a moment on, until the next group of its kind.
    /// - Parameters:
    ///   - kind: a kind of the client's own that the recording was started with.
    ///   - time: nanoseconds of CLOCK_MONOTONIC, not before the kind's last group, and within the recording.
    ///   - items: in the form of the kind's type, such as `+48.2082+016.3738/` for `iso6709`; none: nothing is, from then on.
    ///     At most 64 KiB together.
    /// - Throws: `.notRecording`; `.invalidValue` naming what is wrong; `.limitExceeded` beyond 64 KiB, or 100 groups a second.
    public func appendMetadata(kind: String, time: Int64, items: [String]) async throws(BrokerError) {
        try await core.ask { session in
            kind.withCString { kind in
                items.withCStrings { camarb_session_append_metadata(session, kind, time, $0, items.count) }
            }
        }
    }
}
