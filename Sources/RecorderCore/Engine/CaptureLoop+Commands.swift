import ArbiterProtocol
import CLinux
import CaptureModel
import FrameStream
import Glibc

extension CaptureLoop {
    func carryOut(_ command: Capture.Command) {
        switch command {
        case .describe(let reply):
            stopPassingOn()
            // A device may have been plugged out and in since it was asked last.
            if grant == nil, let source, source.descriptor != nil, !source.condition.isHeldOutside { self.source = nil }
            reply(Result { () throws(BrokerError) in try camera().capabilities })
        case .open(let id, let configuration, let reply):
            if faults.contains(.openHangs) { hang() }
            if keepsTooMuch {
                stopPassingOn()
                return emit(.spent)
            }
            open(id, configuration, reply)
        case .configure(let id, let batch, let reply):
            reply(Result { () throws(BrokerError) in try configure(id, batch) })
        case .openStream(let id, let session, let reply):
            reply(Result { () throws(BrokerError) in try openStream(id, session) })
        case .closeStreams(let id, let session, let reply):
            reply(Result { () throws(BrokerError) in try closeStreams(id, session) })
        case .photo(let id, let session, let photo, let file, let reply):
            reply(Result { () throws(BrokerError) in try takePhotos(id, session, [(photo, nil)], [file]) })
        case .bracket(let id, let session, let photos, let files, let bracket, let reply):
            reply(Result { () throws(BrokerError) in try takeBracket(id, session, photos, files, bracket) })
        case .startRecording(let id, let recording, let file, let options, let reply):
            reply(Result { () throws(BrokerError) in try startRecording(id, recording, file, options) })
        case .stopRecording(let recording, let why, _, let reply):
            if let ticket = grant?.recording, ticket.id == recording {
                grant?.recording = nil
                writer.post(.finish(ticket, why))
            }
            reply(.success(()))
        case .attachMicrophone(_, let socket, _, let reply):
            close(socket)
            reply(.failure(Self.notYet("take a microphone")))
        case .detachMicrophone(let id, let reply):
            reply(Result { () throws(BrokerError) in _ = try granted(id) })
        case .pauseRecording(_, let reply), .resumeRecording(_, let reply):
            reply(.failure(Self.notYet("pause a recording")))
        case .appendMetadata(_, _, _, _, let reply): reply(.failure(Self.notYet("take metadata")))
        case .setSlate(_, _, _, let reply): reply(.failure(Self.notYet("show a slate")))
        case .cut(let id, let why, _, let passesOn, let reply):
            if faults.contains(.cutHangs) { hang() }
            reply(Result { () throws(BrokerError) in try cut(id, why, passesOn: passesOn) })
        case .watchNode(let queue, let reply):
            defer { close(queue) }
            reply(Result { () throws(BrokerError) in try camera().watchNode(in: queue) })
        case .look(let reply): reply(Result { () throws(BrokerError) in try lookNow() })
        case .completionBegan: writing += 1
        case .resume(let id, let before, let now, let reply):
            reply(Result { () throws(BrokerError) in try resume(id, from: before, to: now) })
        case .writerDone: writing -= 1
        case .stop: stop()
        }
    }

    private static func notYet(_ what: String) -> BrokerError {
        BrokerError(.recorderFault, "This recorder core cannot \(what) yet.")
    }

    func camera() throws(BrokerError) -> any CameraSource {
        if let source {
            guard case .disconnected = source.condition, grant == nil else { return source }
            // What is plugged in again may be able to do other things.
        }
        let made = try makeSource()
        // Nobody has a grant yet, so the device is let go until somebody has.
        made.stop()
        source = made
        return made
    }

    /// Clients keep so many buffers of earlier grants that there may be no memory for another.
    private var keepsTooMuch: Bool {
        guard grant == nil, keptBytesMost > Self.keptBytesMax else { return false }
        // No more can be kept than the whole machine has.
        keptBytesMost = min(keptBytesMost, camarb_shared_memory_bytes())
        return keptBytesMost > Self.keptBytesMax
    }

    func granted(_ id: GrantID) throws(BrokerError) -> OpenGrant {
        guard let grant, grant.id == id else {
            let present = grant.map { "grant \($0.id.rawValue) is open" } ?? "no grant is open"
            throw BrokerError(.staleGrant, "Grant \(id.rawValue) is over or never was: \(present).")
        }
        return grant
    }

    /// Answers when the first frame is there.
    private func open(_ id: GrantID, _ configuration: Configuration, _ reply: @escaping Capture.Reply<Configuration>) {
        do throws(BrokerError) {
            grant = try prepared(id, configuration)
        } catch {
            stopPassingOn()
            // The reason comes before the failure that it explains.
            tellCondition()
            return reply(.failure(error))
        }
        newestGrant = id
        grant?.opening = reply
        if !goOn() { begin() }
    }

    private func prepared(_ id: GrantID, _ configuration: Configuration) throws(BrokerError) -> OpenGrant {
        if let grant {
            throw BrokerError(
                .staleGrant, "Grant \(grant.id.rawValue) is still open; cut it before grant \(id.rawValue) is opened.")
        }
        guard id > newestGrant else {
            throw BrokerError(
                .staleGrant, "Grant \(id.rawValue) is not newer than \(newestGrant.rawValue), which was open before.")
        }
        if faults.contains(.openFails) {
            throw BrokerError(.deviceFault, "The device did not open, as it was told to.")
        }
        return OpenGrant(
            id: id, settings: try settings(after: configuration, over: Configuration(), isRecording: false))
    }

    /// - Throws: `.unsupportedConfiguration`, with the key, the value and what is allowed.
    private func settings(
        after batch: Configuration, over wanted: Configuration, isRecording: Bool
    ) throws(BrokerError) -> CaptureSettings {
        let check = ConfigurationCheck(capabilities: try camera().capabilities)
        if let problem = check.problem(batch, over: wanted, isRecording: isRecording) {
            throw BrokerError(.unsupportedConfiguration, "\(problem) Nothing changed.")
        }
        guard let settings = check.settings(check.merged(batch, into: wanted).lasting) else {
            preconditionFailure("What has no problem can be set.")
        }
        return settings
    }

    private func configure(_ id: GrantID, _ batch: Configuration) throws(BrokerError) -> Configuration {
        var open = try granted(id)
        let source = try camera()
        let isRecording = open.recording.map { !$0.isOver } ?? false
        var wanted = open.settings.wanted
        // A ramp that is ended stays where the zoom is by now.
        if batch[.cancelVideoZoomRamp] == .flag(true), open.ramp != nil {
            wanted[.videoZoomFactor] = .number(open.zoom)
        }
        let before = open.settings
        let next = try settings(after: batch, over: wanted, isRecording: isRecording)
        let changesFormat = next.format != open.settings.format
        let now = clock.now
        let movement = movement(batch, from: open, to: next, at: now)
        let zoom = movement?.zoom ?? open.zoom
        // A device that is just being started again takes all of it when it is.
        let isRunning = open.due != nil
        let setsControls = isRunning && !next.hasControls(of: open.settings)
        if setsControls { try source.set(next) }
        if isRunning, changesFormat || zoom != open.zoom || next.frameInterval != open.settings.frameInterval {
            do throws(BrokerError) {
                try source.select(format: next.format, zoom: zoom, frameRate: next.frameRate)
            } catch {
                if setsControls { try source.set(open.settings) }
                throw error
            }
            open.due = try source.nextDue(after: open.due, interval: next.frameInterval, now: now)
        }
        open.settings = next
        open.zoom = zoom
        if let movement { open.ramp = movement.ramp }
        open.configurationChanged = true
        if isRunning, next.rebuildsPipeline(of: before), source.rebuildPipeline() { open.pipelineRebuilds += 1 }
        if changesFormat {
            open.layout = OpenGrant.layout(next.format)
            for stream in open.streams { replaceBuffers(of: stream, open.layout, open.memory) }
            open.streams.removeAll { !$0.sender.isOpen }
        }
        let whole = inForce(open)
        open.telling.answered(whole)
        grant = open
        return whole
    }

    /// What becomes of the zoom: a ramp begins where it is now; without one it jumps, or stays where a ramp is ended.
    /// - Returns: nil where nothing does.
    private func movement(
        _ batch: Configuration, from open: OpenGrant, to next: CaptureSettings, at now: Int64
    ) -> (zoom: Double, ramp: ZoomRamp?)? {
        let changesFormat = next.format != open.settings.format
        guard
            changesFormat || batch[.videoZoomFactor] != nil || next.videoZoomFactor != open.settings.videoZoomFactor
                || batch[.cancelVideoZoomRamp] == .flag(true)
        else { return nil }
        if case .number(let rate)? = batch[.videoZoomRampRate] {
            let begin = min(open.zoom, next.format.videoMaxZoomFactor)
            return (begin, ZoomRamp(from: begin, to: next.videoZoomFactor, rate: rate, began: now))
        }
        return (next.videoZoomFactor, nil)
    }

    private func replaceBuffers(of stream: OpenGrant.Stream, _ layout: PictureLayout, _ memory: StreamMemory) {
        do throws(BrokerError) {
            stream.sender.replaceBuffers(by: try memory.pool(layout, for: stream.session))
        } catch {
            // The configuration stands; a stream that cannot have buffers of the new size ends.
            stream.sender.close()
            emit(
                .runtimeError(
                    code: "stream", message: "A stream of session \(stream.session.rawValue) ended: \(error.message)"))
        }
    }

    private func openStream(_ id: GrantID, _ session: SessionID) throws(BrokerError) -> Int32 {
        // One that its client has closed by now is over, and its buffers are free, whether it was noticed yet or not.
        for stream in grant?.streams ?? [] { _ = stream.sender.takeReleases() }
        grant?.streams.removeAll { !$0.sender.isOpen }
        var open = try granted(id)
        guard open.streams.count < Self.streamsMax else {
            throw BrokerError(
                .limitExceeded, "The grant has \(open.streams.count) streams, which is the most; close one first.")
        }
        let own = open.streams.count { $0.session == session }
        guard own < Self.streamsOfASessionMax else {
            throw BrokerError(.limitExceeded, "The session has \(own) streams, which is the most; close one first.")
        }
        try open.memory.countOpening(of: session, at: clock.now)
        let (sender, clientEnd) = try stream(open, session)
        sender.onPoolFree = { [memory = open.memory] pool in memory.giveBack(pool, of: session) }
        if sender.isLent, let source { open.lent = OpenGrant.Lent(session: session, begun: source.buffersBegun) }
        open.streams.append(OpenGrant.Stream(session: session, sender: sender))
        grant = open
        return clientEnd
    }

    /// With the device's own buffers for the first stream, where that can be; the others get copies.
    private func stream(_ open: OpenGrant, _ session: SessionID) throws(BrokerError) -> (FrameSender, Int32) {
        guard let source, open.lent?.begun != source.buffersBegun, let lent = source.lendBuffers(open.layout) else {
            let pool = try open.memory.pool(open.layout, for: session)
            do throws(FrameStreamFault) { return try FrameSender.open(pool) } catch {
                open.memory.giveBack(pool, of: session)
                throw BrokerError(.outOfResources, "There is no room for another stream: \(error.description).")
            }
        }
        let (sender, clientEnd): (FrameSender, Int32)
        do throws(FrameStreamFault) {
            (sender, clientEnd) = try FrameSender.open(layout: open.layout, lent: lent)
        } catch {
            throw BrokerError(.outOfResources, "There is no room for another stream: \(error.description).")
        }
        let begun = source.buffersBegun
        sender.onReturn = { [unowned self] buffer in
            // A device that fails here fails at its next frame, too, and is started again then.
            if self.source?.buffersBegun == begun { try? self.source?.takeBack(buffer) }
        }
        return (sender, clientEnd)
    }

    func closeStreams(_ id: GrantID, _ session: SessionID) throws(BrokerError) {
        let open = try granted(id)
        for stream in open.streams where stream.session == session { stream.sender.close() }
        grant?.streams.removeAll { $0.session == session }
        if let source, let lent = open.lent, lent.session == session, lent.begun == source.buffersBegun {
            // The device goes on for others, and not in buffers that this session may still have mapped.
            do throws(BrokerError) { try source.renewBuffers() } catch { beginAgain(after: error) }
        }
        giveUp(
            open.photos.filter { $0.session == session },
            "The session lost the picture before a frame was captured for the photo.")
        grant?.photos.removeAll { $0.session == session }
    }

    private func startRecording(
        _ id: GrantID, _ recording: RecordingID, _ file: Int32, _ options: RecordingOptions
    ) throws(BrokerError) {
        do throws(BrokerError) {
            let open = try granted(id)
            if let running = open.recording, !running.isOver {
                throw BrokerError(
                    .alreadyRecording, "Recording \(running.id) runs; stop it before another one is started.")
            }
            let ticket = RecordingTicket(recording)
            grant?.recording = ticket
            writing += 1
            writer.post(
                .begin(ticket, file: file, layout: open.layout, frameRate: open.settings.frameRate, options))
        } catch {
            close(file)
            throw error
        }
    }

    private func cut(_ id: GrantID, _ why: RecordingEnd, passesOn: Bool) throws(BrokerError) -> Int64 {
        _ = try granted(id)
        return endGrant(id, why, passesOn: passesOn)
    }

    /// Streams first, so that nobody sees anything later than the answer; then the recording, whose frames up to
    /// here are in the writer's queue already.
    func endGrant(_ id: GrantID, _ why: RecordingEnd, passesOn: Bool = false) -> Int64 {
        guard let open = grant, open.id == id else { return 0 }
        open.memory.end()
        keptBytesMost += UInt64(open.memory.bytesMade)
        for stream in open.streams { stream.sender.close() }
        if let recording = open.recording { writer.post(.finish(recording, why)) }
        giveUp(open.photos, "The grant ended before a frame was captured for the photo.")
        if !passesOn || !passOn(open) {
            source?.halt()
            isHalted = true
        }
        grant = nil
        open.opening?(.failure(BrokerError(.staleGrant, "Grant \(id.rawValue) was cut before its first frame.")))
        return open.lastCapture
    }

    func giveUp(_ photos: [OpenGrant.PendingPhoto], _ sentence: String) {
        for photo in photos {
            close(photo.file)
            writing -= 1
            emit(
                .photoCaptured(PhotoCaptured(photo: photo.id, width: 0, height: 0, bytes: 0, error: sentence)))
        }
    }
}
