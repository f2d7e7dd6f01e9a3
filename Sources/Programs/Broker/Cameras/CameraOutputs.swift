import Arbiter
import ArbiterProtocol
import Bus
import Glibc
import System

/// A camera's preview streams, photos and recordings, which its recorder core makes.
///
/// Every photo and recording that was begun here ends here, by the recorder core's message or, when its process has ended,
/// by the next one's (`Completions`) or without. A session has a bounded number of calls under way: its client can keep
/// the recorder core only so busy.
final class CameraOutputs {
    private unowned let link: CameraLink
    private var recordings: [RecordingID: Running] = [:]
    private var photos: [PhotoID: SessionID] = [:]
    /// Each session's calls without an answer of the recorder core.
    private var underWay: [SessionID: Int] = [:]
    private lazy var completions = Completions(link)
    /// The grant's microphone, for as long as its recorder core may have it, and those before it.
    private var microphone: ClientMicrophone?
    private lazy var left = LeftMicrophones(on: link.broker.loop)
    /// Of the microphone that is attached, be it since the broker before this one.
    var microphoneFormat: MicrophoneFormat?
    private var metadataBytes = 0

    private struct Running {
        var file: ClientFile.Identity
        var since = Broker.now()
        var isPaused = false
        /// For the next recorder core, should this one be lost; `nil` where this broker never had it.
        var kept: ClientFile?
    }

    /// Calls of one session under way. With more, a recorder core would come to the next cut so late that it
    /// would be killed, under all other sessions that share the camera.
    private static let underWayMax = 8
    /// Photos of one session that are not taken yet: as many as a recorder core keeps for all.
    private static let photosMax = 16

    /// Bytes of timed metadata under way to a recorder core, where they are of more than one group: a message's worth. More than
    /// `BusConnection.queuedBytesMax` would end its connection.
    private static let metadataBytesMax = BusConnection.messageBytesMax

    private static let tooMany = BrokerError(
        .limitExceeded, "The session has more calls or photos under way than it may; wait for one.")

    init(_ link: CameraLink) { self.link = link }

    private func mayCall(_ session: SessionID) -> Bool { underWay[session, default: 0] < Self.underWayMax }

    private func refuse(_ message: BusMessage?) { message?.answer(Self.tooMany) }

    func requireRoom(for session: SessionID) throws(BrokerError) { if !mayCall(session) { throw Self.tooMany } }

    private func call(
        _ member: String, _ arguments: [WireValue], for session: SessionID,
        _ done: @escaping (Result<BusMessage, BrokerError>) -> Void
    ) {
        underWay[session, default: 0] += 1
        link.recorder.call(member, arguments) { [self] result in
            let left = underWay[session, default: 1] - 1
            underWay[session] = left > 0 ? left : nil
            done(result)
        }
    }

    // MARK: Orders of the core

    func carryOut(_ effect: Effect, _ request: Request?) {
        switch effect {
        case .openStream(_, let grant, let session):
            request?.answerLater()
            openStream(grant, session, for: request?.message)
        case .closeStreams(_, let grant, let session): closeStreams(grant, session)
        case .capturePhoto(_, let grant, let session, let photo):
            guard let file = request?.files.first else { return }
            capture("CapturePhoto", session, [photo], [file]) { [options = request?.options ?? [:]] in
                [
                    .uint64(grant.rawValue), .uint64(session.rawValue), .uint64(photo), .fileDescriptor(file.envelope),
                    .dictionary(options),
                ]
            }
        // All of them in one call, so that they are of consecutive frames.
        case .capturePhotoBracket(_, let grant, let session, let first, let bracket):
            guard let files = request?.files, files.count == bracket.shots.count else { return }
            let photos = files.indices.map { first + PhotoID($0) }
            capture("CapturePhotoBracket", session, photos, files) {
                [
                    .uint64(grant.rawValue), .uint64(session.rawValue),
                    .array(type: "t", photos.map { .uint64($0) }),
                    .array(type: "h", files.map { .fileDescriptor($0.envelope) }), .dictionary(bracket.wire),
                ]
            }
        case .startRecording(_, let grant, let session, let recording):
            guard let file = request?.files.first else { return }
            actFor(grant, session)
            link.recordingBegan(recording, of: session, file.identity)
            startRecording(grant, recording, file, request?.options ?? [:])
        case .stopRecording(_, let recording, let why, let reason): stopRecording(recording, why, reason)
        case .pauseRecording(_, let recording): setPaused(recording, true)
        case .resumeRecording(_, let recording): setPaused(recording, false)
        case .attachMicrophone(_, let grant, let session, let format):
            guard let microphone = request?.microphone else { return }
            request?.answerLater()
            attachMicrophone(grant, session, microphone, format, for: request?.message)
        case .detachMicrophone(_, let grant):
            let closed = takeMicrophone()
            microphoneChanged(to: nil)
            link.recorder.call("DetachMicrophone", [.uint64(grant.rawValue)]) { [self] _ in letGo(closed) }
        case .appendMetadata(_, let recording):
            guard let (group, session) = request?.metadata else { return }
            request?.answerLater()
            appendMetadata(recording, group, of: session, for: request?.message)
        case .setSlate(_, let grant, let session, let slate):
            link.recorder.call(
                "SetSlate", [.uint64(grant.rawValue), .uint64(session.rawValue), .boolean(slate)]
            ) { _ in }
        case .setPicture(_, let grant, let session, let picture):
            // A recorder core without this call goes on with one picture for all.
            link.recorder.call(
                "SetPicture", [.uint64(grant.rawValue), .uint64(session.rawValue), .dictionary(picture.wire)]
            ) { _ in }
        default: break
        }
    }

    private func openStream(_ granted: GrantID, _ session: SessionID, for message: BusMessage?) {
        if !mayCall(session) { return refuse(message) }
        call("OpenStream", [.uint64(granted.rawValue), .uint64(session.rawValue)], for: session) { [self] result in
            guard case .success(let answer) = result else { return self.answer(message, result) }
            guard let stream = try? answer.firstDescriptor() else {
                message?.answer(BrokerError(.recorderFault, "The recorder core gave no stream."))
                return
            }
            message?.answer([.fileDescriptor(stream)])
            close(stream)
        }
    }

    private func closeStreams(_ granted: GrantID, _ session: SessionID) {
        link.recorder.call("CloseStreams", [.uint64(granted.rawValue), .uint64(session.rawValue)]) { [self] result in
            // Nothing is captured for a grant that is over, nor by a process that is gone. A recorder core with another answer is
            // killed at the core's deadline.
            if case .failure(let error) = result, error.kind != .staleGrant { return }
            link.broker.step(.recorderClosedStreams(link.camera, granted, session))
        }
    }

    private func capture(
        _ member: String, _ session: SessionID, _ ids: [PhotoID], _ files: [ClientFile],
        _ arguments: () -> [WireValue]
    ) {
        for id in ids { photos[id] = session }
        guard mayCall(session), photos.values.count(where: { $0 == session }) <= Self.photosMax else {
            // Not while the order is being given.
            return link.broker.loop.defer { [self] in for id in ids { failed(id, Self.tooMany.message) } }
        }
        call(member, arguments(), for: session) { [self] result in
            // The call has its own duplicates by now, and the files are let go with this closure.
            _ = files
            guard case .failure(let error) = result, error.kind != .disconnected else { return }
            for id in ids { failed(id, error.message) }
        }
    }

    private func failed(_ photo: PhotoID, _ message: String) {
        guard photos.removeValue(forKey: photo) != nil else { return }
        link.broker.step(.photoCaptured(PhotoCaptured(photo: photo, width: 0, height: 0, bytes: 0, error: message)))
    }

    /// Whose the next recording or microphone is. A recorder core without this call has one recording, the holder's.
    private func actFor(_ granted: GrantID, _ session: SessionID) {
        link.recorder.call("ActFor", [.uint64(granted.rawValue), .uint64(session.rawValue)]) { _ in }
    }

    private func startRecording(
        _ granted: GrantID, _ recording: RecordingID, _ file: ClientFile, _ options: WireDictionary
    ) {
        recordings[recording] = Running(file: file.identity, kept: file)
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
            link.broker.step(
                .recorderTrouble(
                    link.camera, code: "recording-failed", message: error.message, recording: recording))
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

    private func setPaused(_ recording: RecordingID, _ isPaused: Bool) {
        recordings[recording]?.isPaused = isPaused
        link.recordingPaused(recording, isPaused)
        link.recorder.call(isPaused ? "PauseRecording" : "ResumeRecording", [.uint64(recording)]) { _ in }
    }

    /// The recorder core's answer is the client's.
    private func appendMetadata(
        _ recording: RecordingID, _ group: MetadataGroup, of session: SessionID, for message: BusMessage?
    ) {
        let bytes = group.messageBytes
        guard mayCall(session), metadataBytes == 0 || metadataBytes + bytes <= Self.metadataBytesMax else {
            return refuse(message)
        }
        metadataBytes += bytes
        call(
            "AppendMetadata", [.uint64(recording), .string(group.kind), .int64(group.time), .strings(group.items)],
            for: session
        ) { [self] result in
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

    /// It replaces the one before it, which the recorder core closes.
    private func attachMicrophone(
        _ granted: GrantID, _ session: SessionID, _ microphone: ClientMicrophone, _ format: MicrophoneFormat,
        for message: BusMessage?
    ) {
        if !mayCall(session) { return refuse(message) }
        let before = self.microphone
        self.microphone = microphone
        actFor(granted, session)
        call(
            "AttachMicrophone",
            [.uint64(granted.rawValue), .fileDescriptor(microphone.envelope), .dictionary(format.wire)], for: session
        ) { [self] result in
            // It is kept for as long as it is attached.
            microphone.keep()
            let isAttached = if case .success = result { true } else { false }
            if isAttached || self.microphone !== microphone {
                letGo(before)
                if self.microphone === microphone { microphoneChanged(to: format) }
            } else {
                self.microphone = before
                letGo(microphone)
            }
            answer(message, result)
        }
    }

    private func microphoneChanged(to format: MicrophoneFormat?) {
        microphoneFormat = format
        link.microphoneChanged(to: format)
    }

    /// The microphone of a grant that is over, to be let go once the recorder core has closed its own.
    func takeMicrophone() -> ClientMicrophone? {
        defer { (microphone, microphoneFormat) = (nil, nil) }
        return microphone
    }

    func letGo(_ microphone: ClientMicrophone?) { if let microphone { left.add(microphone) } }

    // MARK: Signals of the recorder core

    func finished(_ recording: RecordingID, _ why: RecordingEnd, _ file: RecorderNews.Contents) -> Bool {
        guard recordings.removeValue(forKey: recording) != nil else { return false }
        let end = file.end(of: recording, why)
        if link.keepsForSurvivor(recording, end) { return true }
        link.broker.step(end)
        // The client first: a second notice can be told apart, a missing one cannot.
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

    func stored(_ recording: RecordingID) -> StoredHolder.Recording? {
        recordings[recording].map {
            StoredHolder.Recording(
                id: recording, device: $0.file.device, inode: $0.file.inode, isPaused: $0.isPaused)
        }
    }

    /// A recording that began under the broker before this one.
    func goesOn(_ recording: StoredHolder.Recording) {
        recordings[recording.id] = Running(
            file: ClientFile.Identity(device: recording.device, inode: recording.inode), isPaused: recording.isPaused)
    }

    func isRecording(to identity: ClientFile.Identity) -> Bool {
        recordings.values.contains { $0.file == identity } || completions.areWriting(to: identity)
    }
}
