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
    public var events: Notices<ClientEvent> {
        Notices { [core] in
            let (notice, isLast) = await core.inbox.next()
            return (notice.clientEvent, isLast)
        }
    }

    /// The same with sequence numbers and decision ids.
    public var notices: Notices<SessionNotice> {
        Notices { [core] in await core.inbox.next() }
    }

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

    /// The preview stream of the present grant: a `SOCK_SEQPACKET` socket that speaks `FrameRecord` and ends with
    /// the grant.
    /// `pictures` is what an app reads; this is for programs with a loop of their own.
    /// - Returns: a descriptor that the caller closes.
    /// - Throws: `.notRunning`, `.interrupted`.
    package func openStream() async throws(BrokerError) -> Int32 {
        var reader = WireReader("OpenStream", try await core.call("OpenStream"))
        return try reader.fileDescriptor("stream")
    }

    /// Takes the next frame as a JPEG.
    /// - Parameter file: a regular file, open for writing; it stays the caller's and may be closed on return.
    /// - Returns: the photo's id; `photoCaptured` says when it is whole.
    /// - Throws: `.interrupted`, `.accessDenied`, `.unsuitableFile`.
    public func capturePhoto(to file: Int32) async throws(BrokerError) -> PhotoID {
        let answer = try await core.call("CapturePhoto", [.fileDescriptor(file), .dictionary(WireDictionary())])
        var reader = WireReader("CapturePhoto", answer)
        return try reader.uint64("photo")
    }

    /// Takes consecutive frames as JPEGs, each with an exposure of its own.
    /// - Parameter files: one for each shot of the bracket, as of a photo, and each another one.
    /// - Returns: the photos' ids, in the order of the files; `photoCaptured` comes for each.
    /// - Throws: `.interrupted`, `.accessDenied`, `.unsuitableFile`, and `.invalidValue` naming what the camera does not take.
    public func capturePhotos(to files: [Int32], bracket: PhotoBracket) async throws(BrokerError) -> [PhotoID] {
        let answer = try await core.call(
            "CapturePhotoBracket",
            [.array(type: "h", files.map { .fileDescriptor($0) }), .dictionary(bracket.wire)])
        var reader = WireReader("CapturePhotoBracket", answer)
        return try reader.numbers("photos")
    }

    /// Records from the next frame on. An interruption finishes the recording, and it never resumes by itself.
    /// - Parameter file: an empty or overwritable regular file, open for writing, not for appending; it stays the
    ///   caller's and may be closed on return.
    /// - Returns: the recording's id; `recordingFinished` says when its file is whole.
    /// - Throws: `.interrupted`, `.accessDenied`, `.alreadyRecording`, `.unsuitableFile`, `.invalidValue`.
    public func startRecording(
        to file: Int32, options: RecordingOptions = RecordingOptions()
    ) async throws(BrokerError) -> RecordingID {
        let answer = try await core.call("StartRecording", [.fileDescriptor(file), .dictionary(options.wire)])
        var reader = WireReader("StartRecording", answer)
        return try reader.uint64("recording")
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
            wire: await core.client.properties(
                of: ObjectPath.session(core.id), InterfaceName.session))
    }

    /// Ends the session and waits until the broker has freed what it held. Its events end.
    public consuming func close() async throws(BrokerError) { try await core.close() }
}

/// The properties of `org.camarb.Session1`.
public struct SessionProperties: Hashable, Sendable {
    public var camera: CameraID
    public var isRunning: Bool
    public var isInterrupted: Bool
    public var access: Access
    public var causes: CauseSet
    /// What is in force, or will be when it runs.
    public var configuration: Configuration

    init(wire: WireDictionary) throws(BrokerError) {
        let fields = WireFields("Session1", wire)
        camera = CameraID(try fields.string("Camera"))
        isRunning = try fields.boolean("Running")
        isInterrupted = try fields.boolean("Interrupted")
        access = try fields.access("Access")
        causes = try fields.causes("Causes")
        configuration = try Configuration(wire: fields.dictionary("Configuration"))
    }
}

/// What a handle and its sequences of events share.
final class SessionCore: Sendable {
    let client: CameraClient
    let id: SessionID
    let inbox: SessionInbox
    private let isClosed = Atomic(false)

    init(client: CameraClient, id: SessionID, inbox: SessionInbox) {
        self.client = client
        self.id = id
        self.inbox = inbox
    }

    @discardableResult
    func call(_ member: String, _ arguments: [WireValue] = []) async throws(BrokerError) -> [WireValue] {
        try await client.call(ObjectPath.session(id), InterfaceName.session, member, arguments)
    }

    /// True for the first caller.
    private func leave() -> Bool {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return false }
        if let inbox = client.state.withLock({ $0.closed(id) }) {
            inbox.close()
            return true
        }
        // The connection is over, or the session was given up and its close is posted.
        return false
    }

    func close() async throws(BrokerError) {
        if leave() { try await call("Close") }
    }

    func closeWithoutWaiting() {
        if leave() { client.postClose(id) }
    }
}
