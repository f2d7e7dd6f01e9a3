package import ArbiterProtocol
import CLinux
import FrameStream
import Glibc

extension CaptureLoop {
    package func describe() throws(BrokerError) -> CameraCapabilities {
        stopPassingOn()
        // A device may have been plugged out and in since the last call.
        if grant == nil, let source, source.descriptor != nil, !source.condition.isHeldOutside { self.source = nil }
        return try camera().capabilities
    }

    func camera() throws(BrokerError) -> any CameraSource {
        if let source {
            guard case .disconnected = source.condition, grant == nil else { return source }
            // The device that is plugged in again may have other capabilities.
        }
        let made = try makeSource()
        // The device is released until there is a grant.
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
        if let grant, grant.id == id { return grant }
        let present = grant.map { "grant \($0.id.rawValue) is open" } ?? "no grant is open"
        throw BrokerError(.staleGrant, "Grant \(id.rawValue) is over or never was: \(present).")
    }

    /// Starts the camera for a grant; answers with the configuration in force when the first frame is there.
    package func open(_ id: GrantID, _ configuration: Configuration, _ reply: @escaping Capture.Reply<Configuration>) {
        if faults.contains(.openHangs) { hang() }
        if keepsTooMuch {
            stopPassingOn()
            return emit(.spent)
        }
        do throws(BrokerError) { grant = try prepared(id, configuration) } catch {
            stopPassingOn()
            // The reason comes before the failure that it explains.
            tellCondition()
            return reply(.failure(error))
        }
        newestGrant = id
        grant?.opening = reply
        hasSaidThatDeviceStarts = false
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
        let settings = try settings(after: configuration, over: Configuration(), isRecording: false)
        let largest = try camera().capabilities.formats.map { PictureLayout($0).bytes }.max() ?? 0
        return OpenGrant(id: id, settings: settings, memory: StreamMemory(pictureBytesMax: largest))
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

    /// Applies a batch between two frames, as a whole or not at all; answers with the whole configuration in force.
    package func configure(_ id: GrantID, _ batch: Configuration) throws(BrokerError) -> Configuration {
        let open = try granted(id)
        let source = try camera()
        var wanted = open.settings.wanted
        // A ramp that is ended stays where the zoom is by now.
        if batch[.cancelVideoZoomRamp] == .flag(true), open.ramp != nil {
            wanted[.videoZoomFactor] = .number(open.zoom)
        }
        let isRecording = open.recordings.contains { !$0.ticket.isOver }
        let next = try settings(after: batch, over: wanted, isRecording: isRecording)
        let changesFormat = next.format != open.settings.format
        let movement = movement(batch, from: open, to: next, at: clock.now)
        let zoom = movement?.zoom ?? open.zoom
        // A device that is being started again takes all of it then.
        let isRunning = open.due != nil
        let setsControls = isRunning && !next.hasControls(of: open.settings)
        let changesRate = next.frameInterval != open.settings.frameInterval
        let selects = isRunning && (changesFormat || changesRate || zoom != open.zoom)
        let rebuilds = isRunning && next.rebuildsPipeline(of: open.settings)
        if setsControls || selects || rebuilds { sayThatDeviceStarts() }
        if setsControls { try source.set(next) }
        if selects {
            let begun = source.buffersBegun
            do throws(BrokerError) {
                try source.select(format: next.format, zoom: zoom, frameRate: next.frameRate)
            } catch {
                if setsControls { try source.set(open.settings) }
                throw error
            }
            if let due = open.due, changesRate || source.buffersBegun != begun {
                open.due = source.due(due, after: open.previousDue, interval: next.frameInterval, now: clock.now)
            }
        }
        (open.settings, open.zoom) = (next, zoom)
        for stream in open.streams { stream.isFlagged = true }
        if let movement { open.ramp = movement.ramp }
        if rebuilds, source.rebuildPipeline() { open.pipelineRebuilds += 1 }
        if changesFormat {
            open.layout = PictureLayout(next.format)
            // A session with a picture of its own keeps it, but not in the device's buffers, which went with the format.
            for stream in open.streams where open.pictures[stream.session] == nil || stream.sender.isLent {
                renewBuffers(of: stream, open)
            }
            open.streams.removeAll { !$0.sender.isOpen }
        }
        return answer(open)
    }

    /// A ramp begins at the present zoom; without one the zoom jumps, or stays where a ramp is ended.
    /// - Returns: `nil` where the zoom stays as it is.
    private func movement(
        _ batch: Configuration, from open: OpenGrant, to next: CaptureSettings, at now: Int64
    ) -> (zoom: Double, ramp: ZoomRamp?)? {
        guard
            next.format != open.settings.format || next.videoZoomFactor != open.settings.videoZoomFactor
                || batch[.videoZoomFactor] != nil || batch[.cancelVideoZoomRamp] == .flag(true)
        else { return nil }
        guard case .number(let rate)? = batch[.videoZoomRampRate] else { return (next.videoZoomFactor, nil) }
        let begin = min(open.zoom, next.format.videoMaxZoomFactor)
        return (begin, ZoomRamp(from: begin, to: next.videoZoomFactor, rate: rate, began: now))
    }

    /// Ends a grant; answers with the capture time of its last frame (0: none). Recordings are finished afterwards.
    /// - Parameter passesOn: another grant is opened right after the answer. Until then the device goes on where it can, for
    ///   a quarter of a second at most, and nobody gets its frames.
    package func cut(
        _ id: GrantID, _ why: RecordingEnd, _ reason: RecordingReason, passesOn: Bool
    ) throws(BrokerError) -> Int64 {
        if faults.contains(.cutHangs) { hang() }
        _ = try granted(id)
        return endGrant(id, why, reason, passesOn: passesOn)
    }

    /// Streams first, so that nobody sees anything later than the answer; then the recordings, whose frames up to
    /// here are in their threads' queues already.
    func endGrant(
        _ id: GrantID, _ why: RecordingEnd, _ reason: RecordingReason = .none, passesOn: Bool = false
    ) -> Int64 {
        guard let open = grant, open.id == id else { return 0 }
        open.memory.end()
        keptBytesMost += UInt64(open.memory.bytesMade)
        for stream in open.streams { stream.sender.close() }
        // The socket's end notifies the client; sound up to here is still its recording's.
        open.microphone?.close()
        for recording in open.recordings { recording.finish(why, reason) }
        giveUp(open.photos, "The grant ended before a frame was captured for the photo.")
        if !passesOn || !passOn(open) {
            source?.halt()
            isHalted = true
        }
        grant = nil
        open.opening?(.failure(BrokerError(.staleGrant, "Grant \(id.rawValue) was cut before its first frame.")))
        return open.lastCapture
    }

    /// Goes on with a grant that outlived its broker, for a session with another number: its streams, its recording and its picture
    /// go on without a gap. Those of other sessions end. Answers with the configuration in force.
    func resume(_ id: GrantID, from before: SessionID, to now: SessionID) throws(BrokerError) -> Configuration {
        let open = try granted(id)
        // Sessions that watched beside the holder are admitted anew, and a photo's number means nothing to another broker.
        for session in Set(open.streams.map(\.session)) where session != before { try closeStreams(id, session) }
        giveUp(open.photos, "The broker ended before a frame was captured for the photo.")
        open.photos = []
        open.memory.keepOnly(before, as: now)
        open.keepPicture(of: before, as: now)
        resumeRecordings(open, from: before, to: now)
        for stream in open.streams {
            stream.session = now
            stream.sender.onPoolFree = { [memory = open.memory] pool in memory.giveBack(pool, of: now) }
        }
        if open.lent?.session == before { open.lent?.session = now }
        // The notice went to the broker before.
        hasSaidThatDeviceStarts = false
        return answer(open)
    }
}
