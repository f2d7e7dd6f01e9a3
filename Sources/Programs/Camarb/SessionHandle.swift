public import ArbiterProtocol
import Synchronization

/// A capture session of this client.
///
/// The handle is the session: it cannot be copied, and when it is gone the session is closed. Its `deinit` only
/// posts the close; it neither waits nor throws. Methods may be called from any thread and several at once;
/// the broker takes them in the order in which they reach it.
public struct SessionHandle: ~Copyable, Sendable {
    let core: SessionCore

    init(_ core: SessionCore) { self.core = core }
    deinit { core.closeWithoutWaiting() }
    public var id: SessionID { core.id }

    /// What happens to the session, in order; the last event is `.ended`. Read it in one place:
    /// `events` and `notices` are two views of one queue.
    public var events: Notices<SessionEvent> {
        Notices { [core] in
            let (notice, isLast) = await core.inbox.next()
            return (notice.clientEvent, isLast)
        }
    }

    /// The same with sequence numbers and decision ids.
    public var notices: Notices<SessionNotice> { Notices { [core] in await core.inbox.next() } }

    /// What the camera sees, as long as the session runs; it goes on by itself when the session does.
    public var pictures: Pictures { Pictures(core: core) }

    /// Asks to run. Not an error while causes leave no access: the session is interrupted then, and runs by itself.
    /// - Throws: `.insideConfiguration` between begin and commit; `.refusedByPolicy` where the policy refuses losers.
    public func startRunning() async throws(BrokerError) { try await core.call("StartRunning") }

    /// Takes the start request back.
    /// - Throws: `.notRunning` when there is none.
    public func stopRunning() async throws(BrokerError) { try await core.call("StopRunning") }

    /// Opens a batch; nests at most 16 deep, and is closed by `commitConfiguration`.
    public func beginConfiguration() async throws(BrokerError) { try await core.call("BeginConfiguration") }

    /// Closes a batch; the outermost one applies it as a whole.
    /// - Throws: `.unsupportedConfiguration`, and nothing changed.
    public func commitConfiguration() async throws(BrokerError) { try await core.call("CommitConfiguration") }

    /// Sets keys as a whole or not at all; at once while the session may configure, else when it runs.
    /// - Throws: `.unsupportedConfiguration` naming key, value and what is allowed; `.microphoneBusy`.
    public func configure(_ batch: Configuration) async throws(BrokerError) {
        try await core.call("Configure", [.dictionary(batch.wire)])
    }

    /// Throws what `configure` would throw at this moment, and sets nothing.
    public func checkConfiguration(_ batch: Configuration) async throws(BrokerError) {
        try await core.call("CheckConfiguration", [.dictionary(batch.wire)])
    }

    /// The preview stream of the present grant: a `SOCK_SEQPACKET` socket that speaks `FrameRecord` and ends with the grant.
    /// `pictures` is what an app reads; this is for programs with a loop of their own.
    package func openStream() async throws(BrokerError) -> Int32 {
        var answer = try await core.ask("OpenStream")
        return try answer.fileDescriptor("stream")
    }

    /// Takes the next frame as a JPEG.
    /// - Parameter file: a regular file, open for writing; it stays the caller's and may be closed on return.
    /// - Returns: the photo's id; `photoCaptured` says when it is whole.
    /// - Throws: `.interrupted`, `.accessDenied`, `.unsuitableFile`.
    public func capturePhoto(to file: Int32) async throws(BrokerError) -> PhotoID {
        var answer = try await core.ask("CapturePhoto", [.fileDescriptor(file), .dictionary(WireDictionary())])
        return try answer.uint64("photo")
    }

    /// Takes consecutive frames as JPEGs, each with an exposure of its own.
    /// - Parameter files: one for each shot of the bracket, as of a photo, and each another one.
    /// - Returns: the photos' ids, in the order of the files; `photoCaptured` comes for each.
    /// - Throws: `.interrupted`, `.accessDenied`, `.unsuitableFile`, and `.invalidValue` naming what the camera does not take.
    public func capturePhotos(to files: [Int32], bracket: PhotoBracket) async throws(BrokerError) -> [PhotoID] {
        var answer = try await core.ask(
            "CapturePhotoBracket", [.array(type: "h", files.map { .fileDescriptor($0) }), .dictionary(bracket.wire)])
        return try answer.numbers("photos")
    }

    /// Records from the next frame on. An interruption finishes the recording, and it never resumes by itself.
    /// - Parameter file: an empty or overwritable regular file, open for writing, not for appending; it stays the
    ///   caller's and may be closed on return.
    /// - Returns: the recording's id; `recordingFinished` says when its file is whole.
    /// - Throws: `.interrupted`, `.accessDenied`, `.alreadyRecording`, `.unsuitableFile`, `.invalidValue`.
    public func startRecording(
        to file: Int32, options: RecordingOptions = RecordingOptions()
    ) async throws(BrokerError) -> RecordingID {
        var answer = try await core.ask("StartRecording", [.fileDescriptor(file), .dictionary(options.wire)])
        return try answer.uint64("recording")
    }

    /// Finishes the recording.
    /// - Throws: `.notRecording`.
    public func stopRecording() async throws(BrokerError) { try await core.call("StopRecording") }

    /// Answers `willBeInterrupted`: the camera may go before the deadline.
    public func ready(for interruption: InterruptionID) async throws(BrokerError) {
        try await core.call("Ready", [.uint64(interruption)])
    }

    /// Clears `sensitive-content-mitigation-activated`, and nothing else.
    public func `continue`() async throws(BrokerError) { try await core.call("Continue") }

    /// What is true of the session now. Events say when it changes.
    public func properties() async throws(BrokerError) -> SessionProperties {
        try SessionProperties(
            await core.client.properties(of: ObjectPath.session(core.id), InterfaceName.session), at: "Session1")
    }

    /// Ends the session and waits until the broker has freed what it held. Its events end.
    public consuming func close() async throws(BrokerError) { try await core.close() }
}

/// What a handle and its sequences of events share.
final class SessionCore: Sendable {
    let client: CameraClient
    let id: SessionID
    let inbox: SessionInbox
    private let isClosed = Atomic(false)

    init(client: CameraClient, id: SessionID, inbox: SessionInbox) {
        (self.client, self.id, self.inbox) = (client, id, inbox)
    }

    @discardableResult
    func call(_ member: String, _ arguments: [WireValue] = []) async throws(BrokerError) -> [WireValue] {
        try await client.call(ObjectPath.session(id), InterfaceName.session, member, arguments)
    }

    func ask(_ member: String, _ arguments: [WireValue] = []) async throws(BrokerError) -> WireReader {
        WireReader(member, try await call(member, arguments))
    }

    private func leave() -> Bool {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return false }
        if let inbox = client.state.withLock({ $0.closed(id) }) {
            inbox.close()
            return true
        }
        // The connection is over, or the session was given up and its close is posted.
        return false
    }

    func close() async throws(BrokerError) { if leave() { try await call("Close") } }
    func closeWithoutWaiting() { if leave() { client.postClose(id) } }
}

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

/// What arrives for one session of a client: its notices, for whoever reads them, and what they mean for its pictures.
final class SessionInbox: Sendable {
    private let notices = NoticeQueue<SessionNotice>()
    let pictures: PictureFeed

    init(pictures: PictureFeed) { self.pictures = pictures }

    /// - Returns: false when the notice found no place; the session cannot be followed any more then.
    func offer(_ signal: SessionSignal) -> Bool {
        pictures.take(signal.event)
        return notices.offer(.event(signal))
    }

    /// The session is over. Only the first reason counts.
    func finish(_ error: BrokerError) {
        pictures.end(error)
        notices.finish(.ended(error))
    }

    func close() {
        pictures.end(nil)
        notices.finish(.ended(BrokerError(.unknownSession, "The session was closed by its client.")))
    }

    /// The next notice, and whether it is the last one.
    func next() async -> (element: SessionNotice, isLast: Bool) {
        guard let notice = await notices.next() else { return (.ended(.waitCancelled), true) }
        if case .ended = notice { return (notice, true) }
        return (notice, false)
    }
}
