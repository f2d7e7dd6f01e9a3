import ArbiterProtocol
import FrameStream
import Glibc

/// A frame, from the camera to all who want it.
extension CaptureLoop {
    /// - Parameter now: when it was captured.
    func capture(_ open: OpenGrant, at now: Int64) throws(BrokerError) {
        guard let source else { throw BrokerError(.deviceFault, "The camera is not open.") }
        if faults.contains(.deviceFails), open.framesCaptured >= 9 {
            throw BrokerError(.deviceFault, "The device failed, as it was told to.")
        }
        if faults.contains(.captureHangs), open.framesCaptured >= 9 { hang() }
        try advanceRamp(of: open, source, at: now)
        noteMissed(of: source, open, at: now)
        open.framesCaptured += 1
        open.lastCapture = now
        open.count(frameAt: now)
        let mark = BurntInMark(captureTime: now, frameNumber: UInt32(truncatingIfNeeded: open.framesCaptured))
        var frame = FrameInHand(source, open.layout, mark, open.scalers, pictures)
        stopLending(open)
        makeUpFor(open)
        // All are drawn before any is sent: sending ends a stream whose client is gone, and its memory is gone with it.
        let recorded = recordingsThatTake(open, at: now)
        var filled: [Filled] = []
        do throws(BrokerError) {
            // The first frame of a grant is always drawn: it proves that the device works.
            if open.framesCaptured == 1 { try frame.keep(open.layout) }
            for recording in recorded { try frame.keep(recording.layout) }
            for photo in open.photos { try frame.keep(frameLayout(of: photo, open)) }
            filled = fill(open, &frame)
            try frame.draw()
        } catch {
            for one in filled {
                one.stream.sender.discard(one.index)
                if one.flags.contains(.configurationChanged) { one.stream.isFlagged = true }
            }
            for recording in recorded { recording.ticket.taken(recording.layout.bytes) }
            throw error
        }
        for one in filled {
            one.stream.sender.deliver(one.index, sequence: open.framesCaptured, timestamp: now, flags: one.flags)
        }
        lend(open, at: now)
        for recording in recorded { handOver(frame, to: recording, open, source) }
        handOnPhotos(frame, open, source, mark)
        open.restarts = 0
    }

    /// A buffer of a stream's with a frame on its way.
    private struct Filled {
        let stream: OpenGrant.Stream
        let index: Int
        let flags: FrameRecord.Flags
    }

    /// Gets a buffer of each stream that the frame is for, and has it drawn there; slates are drawn at once.
    private func fill(_ open: OpenGrant, _ frame: inout FrameInHand) -> [Filled] {
        var filled: [Filled] = []
        for stream in open.streams where !stream.sender.isLent && open.takes(open.pictures[stream.session]) {
            let layout = open.layout(of: stream.session)
            guard stream.sender.layout == layout, let index = stream.sender.writable() else { continue }
            let isSlated = open.slated.contains(stream.session)
            var flags: FrameRecord.Flags = isSlated ? .slate : []
            if stream.isFlagged { flags.insert(.configurationChanged) }
            stream.isFlagged = false
            filled.append(Filled(stream: stream, index: index, flags: flags))
            let memory = stream.sender.memory(index)
            if isSlated { Self.drawSlate(into: memory, layout) } else { frame.add(memory, layout) }
        }
        return filled
    }

    /// Frames for which the source was too slow are a gap in the frames' numbers, are missing in the recordings, and are
    /// reported once.
    private func noteMissed(of source: any CameraSource, _ open: OpenGrant, at now: Int64) {
        guard let missed = source.takeMissed() else { return }
        open.framesCaptured += UInt64(missed.count)
        for running in open.recordings where running.hasBegun && !running.isPaused {
            // Of a recording with a lower rate fewer frames are missing.
            let share = Double(open.settings.frameInterval) / Double(open.interval(open.picture(of: running)))
            running.ticket.leaveOut(Int((Double(missed.count) * share).rounded()))
        }
        if open.slowness.note(at: now) { emit(.runtimeError(code: "camera-slow", message: missed.sentence)) }
    }

    private func advanceRamp(of open: OpenGrant, _ source: any CameraSource, at now: Int64) throws(BrokerError) {
        guard let ramp = open.ramp else { return }
        let (factor, hasArrived) = ramp.factor(at: now)
        if factor != open.zoom {
            try source.select(format: open.settings.format, zoom: factor, frameRate: open.settings.frameRate)
        }
        open.zoom = factor
        if hasArrived {
            open.ramp = nil
            emit(.rampFinished(grant: open.id, videoZoomFactor: factor))
        }
    }

    private func handOver(
        _ frame: FrameInHand, to recording: RecordingUnderWay, _ open: OpenGrant, _ source: any CameraSource
    ) {
        guard let picture = frame.kept[recording.layout] else { return }
        let ticket = recording.ticket
        var facts = FrameFacts(orientation: orientation(open), objects: ticket.wantsObjects ? source.objects : [])
        if recording.layout != open.layout {
            let middle = SensorWindow.Crop.middle(of: open.layout, shapedAs: recording.layout)
            facts.objects = facts.objects.compactMap { $0.inside(middle, of: open.layout) }
        }
        let interval = open.interval(open.picture(of: recording))
        recording.post { [facts] in $0.take(picture, interval: interval, facts, for: ticket) }
    }
}
