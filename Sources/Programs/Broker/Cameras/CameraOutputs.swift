import Arbiter
import ArbiterProtocol
import Bus
import Glibc
import System

/// What a camera's recorder core gives out: preview streams, photos, recordings.
///
/// Every photo and recording that was begun here ends here, by the recorder core's word or, when its process has ended,
/// by the next one's (`Completions`) or without. A session has a bounded number of calls under way: its client can keep
/// the recorder core only so busy.
class CameraOutputs {
    unowned let link: CameraLink
    private var recordings: [RecordingID: Running] = [:]
    private var photos: [PhotoID: SessionID] = [:]
    /// Calls of each session that the recorder core has not answered yet.
    private var underWay: [SessionID: Int] = [:]
    private lazy var completions = Completions(link)
    /// The grant's microphone, for as long as its recorder core may have it, and those before it.
    private var microphone: ClientMicrophone?
    private lazy var left = LeftMicrophones(on: link.broker.loop)
    /// What its packets have; nil: none is attached. One that was attached under the broker before this one has this alone.
    private(set) var microphoneFormat: MicrophoneFormat?
    private var metadataBytes = 0

    private struct Running {
        var file: ClientFile.Identity
        var since: Moment
        var isPaused = false
        /// For the next recorder core, should this one be lost; nil where this broker never had it.
        var kept: ClientFile?
    }

    /// Calls that one session may have under way. With more, a recorder core would come to the next cut so late that it
    /// would be killed, under all other sessions that share the camera.
    static let underWayMax = 8
    /// Photos of one session that are not taken yet: as many as a recorder core keeps for all.
    static let photosMax = 16

    /// Bytes of timed metadata under way to a recorder core, where they are of more than one group: a message's worth. What
    /// is queued for it beyond `BusConnection.queuedBytesMax` would end its connection.
    static let metadataBytesMax = BusConnection.messageBytesMax

    private static let tooMany = BrokerError(
        .limitExceeded, "The session has more calls or photos under way than it may; wait for one.")

    init(_ link: CameraLink) { self.link = link }
    private func mayCall(_ session: SessionID) -> Bool { underWay[session, default: 0] < Self.underWayMax }

    func requireRoom(for session: SessionID) throws(BrokerError) { if !mayCall(session) { throw Self.tooMany } }

    private func begin(_ session: SessionID) { underWay[session, default: 0] += 1 }
    private func end(_ session: SessionID) {
        let left = underWay[session, default: 1] - 1
        underWay[session] = left > 0 ? left : nil
    }

    // MARK: Orders of the core

    private static func refuse(_ message: BusMessage?) { message?.answer(tooMany) }

    func openStream(_ granted: GrantID, _ session: SessionID, for message: BusMessage?) {
        guard mayCall(session) else { return Self.refuse(message) }
        begin(session)
        link.recorder.call("OpenStream", [.uint64(granted.rawValue), .uint64(session.rawValue)]) { [self] result in
            end(session)
            switch result {
            case .success(let answer):
                guard let stream = try? answer.firstDescriptor() else {
                    message?.answer(BrokerError(.recorderFault, "The recorder core gave no stream."))
                    return
                }
                message?.answer([.fileDescriptor(stream)])
                close(stream)
            case .failure(let error): self.answer(message, .failure(error))
            }
        }
    }

    func closeStreams(_ granted: GrantID, _ session: SessionID) {
        link.recorder.call("CloseStreams", [.uint64(granted.rawValue), .uint64(session.rawValue)]) { [self] result in
            switch result {
            case .success: link.broker.step(.recorderClosedStreams(link.camera, granted, session))
            case .failure(let error):
                // Nothing is captured for a grant that is over, nor by a process that is gone. One that says neither
                // yes nor no is killed at the core's deadline.
                if error.kind == .staleGrant { link.broker.step(.recorderClosedStreams(link.camera, granted, session)) }
            }
        }
    }

    func capturePhoto(
        _ granted: GrantID, _ session: SessionID, _ photo: PhotoID, _ file: ClientFile, _ options: WireDictionary
    ) {
        photos[photo] = session
        guard mayCall(session), photos.values.count(where: { $0 == session }) <= Self.photosMax else {
            // Not while the order is being given.
            return link.broker.loop.defer { [self] in failed(photo, Self.tooMany.message) }
        }
        begin(session)
        link.recorder.call(
            "CapturePhoto",
            [
                .uint64(granted.rawValue), .uint64(session.rawValue), .uint64(photo),
                .fileDescriptor(file.envelope), .dictionary(options),
            ]
        ) { [self] result in
            end(session)
            // The call has its own duplicate by now, and the file is let go with this closure.
            _ = file
            if case .failure(let error) = result, error.kind != .disconnected { failed(photo, error.message) }
        }
    }

    /// All of them in one call, so that they are of consecutive frames.
    func capturePhotoBracket(
        _ granted: GrantID, _ session: SessionID, first: PhotoID, _ files: [ClientFile], _ bracket: PhotoBracket
    ) {
        let ids = files.indices.map { first + PhotoID($0) }
        for id in ids { photos[id] = session }
        guard mayCall(session), photos.values.count(where: { $0 == session }) <= Self.photosMax else {
            return link.broker.loop.defer { [self] in for id in ids { failed(id, Self.tooMany.message) } }
        }
        begin(session)
        link.recorder.call(
            "CapturePhotoBracket",
            [
                .uint64(granted.rawValue), .uint64(session.rawValue), .array(type: "t", ids.map { .uint64($0) }),
                .array(type: "h", files.map { .fileDescriptor($0.envelope) }), .dictionary(bracket.wire),
            ]
        ) { [self] result in
            end(session)
            _ = files
            guard case .failure(let error) = result, error.kind != .disconnected else { return }
            for id in ids { failed(id, error.message) }
        }
    }

    private func failed(_ photo: PhotoID, _ message: String) {
        guard photos.removeValue(forKey: photo) != nil else { return }
        link.broker.step(.photoCaptured(PhotoCaptured(photo: photo, width: 0, height: 0, bytes: 0, error: message)))
    }

    func startRecording(_ granted: GrantID, _ recording: RecordingID, _ file: ClientFile, _ options: WireDictionary) {
        recordings[recording] = Running(file: file.identity, since: Broker.now(), kept: file)
        link.recordingBegan(recording, file.identity)
        link.recorder.call(
            "StartRecording",
            [.uint64(granted.rawValue), .uint64(recording), .fileDescriptor(file.envelope), .dictionary(options)]
        ) { [self] result in
            // The recorder core has its own of it by now; this one is for the next, should that one be lost.
            file.keep()
            guard case .failure(let error) = result, error.kind != .disconnected,
                recordings.removeValue(forKey: recording) != nil
            else { return }
            link.recordingEnded(recording)
            link.broker.step(.recorderTrouble(link.camera, code: "recording-failed", message: error.message))
            // Cut before it began: that is an interruption, not a fault.
            let why: RecordingEnd = error.kind == .staleGrant ? .interrupted : .writeError
            link.broker.step(.recordingFinished(recording, why: why, frames: 0, duration: .zero, bytes: 0))
        }
    }

    func stopRecording(_ recording: RecordingID, _ why: RecordingEnd, _ reason: RecordingReason) {
        link.recorder.call(
            "StopRecording", [.uint64(recording), .string(why.rawValue), .dictionary(reason.wire)]
        ) { _ in }
    }

    func setPaused(_ recording: RecordingID, _ isPaused: Bool) {
        recordings[recording]?.isPaused = isPaused
        link.recordingPaused(recording, isPaused)
        link.recorder.call(isPaused ? "PauseRecording" : "ResumeRecording", [.uint64(recording)]) { _ in }
    }

    /// The recorder core judges it, and its answer is the client's.
    func appendMetadata(
        _ recording: RecordingID, _ group: MetadataGroup, of session: SessionID, for message: BusMessage?
    ) {
        let bytes = group.messageBytes
        guard mayCall(session), metadataBytes == 0 || metadataBytes + bytes <= Self.metadataBytesMax else {
            return Self.refuse(message)
        }
        begin(session)
        metadataBytes += bytes
        link.recorder.call(
            "AppendMetadata", [.uint64(recording), .string(group.kind), .int64(group.time), .strings(group.items)]
        ) { [self] result in
            end(session)
            metadataBytes -= bytes
            answer(message, result)
        }
    }

    private func answer(_ message: BusMessage?, _ result: Result<BusMessage, BrokerError>) {
        switch result {
        case .success: message?.answer()
        case .failure(let error) where error.kind == .disconnected:
            message?.answer(BrokerError(.recorderFault, "The recorder core ended; the session runs again by itself."))
        case .failure(let error): message?.answer(error)
        }
    }

    // MARK: The microphone

    /// It takes the place of another one, which the recorder core closes.
    func attachMicrophone(
        _ granted: GrantID, _ session: SessionID, _ microphone: ClientMicrophone, _ format: MicrophoneFormat,
        for message: BusMessage?
    ) {
        guard mayCall(session) else { return Self.refuse(message) }
        begin(session)
        let before = self.microphone
        self.microphone = microphone
        link.recorder.call(
            "AttachMicrophone",
            [.uint64(granted.rawValue), .fileDescriptor(microphone.envelope), .dictionary(format.wire)]
        ) { [self] result in
            end(session)
            // It is kept for as long as it is attached.
            microphone.keep()
            let isAttached = if case .success = result { true } else { false }
            if isAttached || self.microphone !== microphone {
                letGo(before)
                if self.microphone === microphone { attached(format) }
            } else {
                self.microphone = before
                letGo(microphone)
            }
            answer(message, result)
        }
    }

    private func attached(_ format: MicrophoneFormat?) {
        microphoneFormat = format
        link.microphoneChanged(to: format)
    }

    func tookUp(microphone format: MicrophoneFormat?) { microphoneFormat = format }

    func detachMicrophone(_ granted: GrantID) {
        let closed = takeMicrophone()
        attached(nil)
        link.recorder.call("DetachMicrophone", [.uint64(granted.rawValue)]) { [self] _ in letGo(closed) }
    }

    /// The microphone of a grant that is over: for whoever waits until the recorder core has closed its own.
    func takeMicrophone() -> ClientMicrophone? {
        defer { (microphone, microphoneFormat) = (nil, nil) }
        return microphone
    }

    /// The recorder core has closed its own, or is about to.
    func letGo(_ microphone: ClientMicrophone?) { if let microphone { left.add(microphone) } }

    func setSlate(_ granted: GrantID, _ session: SessionID, _ slate: Bool) {
        link.recorder.call("SetSlate", [.uint64(granted.rawValue), .uint64(session.rawValue), .boolean(slate)]) { _ in }
    }

    /// A recording that began under the broker before this one.
    func goesOn(_ recording: StoredHolder.Recording) {
        recordings[recording.id] = Running(
            file: ClientFile.Identity(device: recording.device, inode: recording.inode), since: Broker.now(),
            isPaused: recording.isPaused)
    }

    // MARK: What the recorder core says

    func finished(_ recording: RecordingID, _ why: RecordingEnd, _ file: RecorderNews.Contents) -> Bool {
        guard recordings.removeValue(forKey: recording) != nil else { return false }
        let end = file.end(of: recording, why)
        if link.keepsForSurvivor(recording, end) { return true }
        link.broker.step(end)
        // The client first: one that hears it twice can tell, one that never hears it cannot.
        link.recordingEnded(recording)
        return true
    }

    func captured(_ photo: PhotoCaptured) -> Bool {
        guard photos.removeValue(forKey: photo.photo) != nil else { return false }
        link.broker.step(.photoCaptured(photo))
        return true
    }

    /// Recordings and photos that their recorder core has left. A recording's file is as the last frame left it, and goes
    /// to the next one to be completed; nobody finishes a photo any more.
    func abandon() {
        _ = takeMicrophone()
        let now = Broker.now()
        for (recording, running) in recordings.sorted(by: { $0.key < $1.key }) {
            recordings[recording] = nil
            completions.complete(recording, running.kept, ran: now - running.since)
        }
        for photo in photos.keys.sorted() { failed(photo, "The recorder core ended before the photo was taken.") }
    }

    // MARK: Facts

    var hasFiles: Bool { !recordings.isEmpty || !photos.isEmpty || !completions.isEmpty }

    func file(of recording: RecordingID) -> ClientFile.Identity? { recordings[recording]?.file }

    func isPaused(_ recording: RecordingID) -> Bool { recordings[recording]?.isPaused == true }

    func isRecording(to identity: ClientFile.Identity) -> Bool {
        recordings.values.contains { $0.file == identity } || completions.areWriting(to: identity)
    }
}
