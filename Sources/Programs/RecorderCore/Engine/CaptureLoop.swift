import ArbiterProtocol
import CLinux
import FrameStream
import Glibc

/// The capture thread: takes commands between two frames, so that each is atomic, captures due frames, and hands
/// every frame to the streams, the photos and the recording that want it.
package final class CaptureLoop {
    let makeSource: @Sendable () throws(BrokerError) -> any CameraSource
    let commands: Mailbox<CaptureLoop>
    let writer: Mailbox<WriterLoop>
    let lab: Mailbox<PhotoLab>
    let emit: @Sendable (RecorderEvent) -> Void
    let faults: Set<Capture.Fault>
    let idleLimit: Int64?
    let passingLimit: Int64
    let clock: CaptureClock

    var source: (any CameraSource)?
    var grant: OpenGrant?
    /// The highest grant ever opened: an order for a lower one came too late.
    var newestGrant = GrantID(0)
    /// Bytes of buffers of earlier grants, which clients may keep mapped for as long as they like.
    var keptBytesMost: UInt64 = 0
    /// Recordings and photos with the writer, and recordings with the completer.
    var writing = 0
    let pictures = PicturePool()
    private var idleSince: Int64
    private var isStopping = false
    /// A grant has ended, and its device is still to be stopped: the answer to the cut does not wait for that.
    var isHalted = false
    /// A grant was cut for another one, and the device goes on until that is opened.
    var passing: Passing?
    var hasSaidThatDeviceStarts = false
    /// The device's descriptor is readable.
    var isReady = false
    /// The device's condition in the last notice.
    var told = DeviceCondition.usable
    /// When an unusable device is looked at again, and how long after that.
    var lookAt: Int64?
    var lookPause = lookPauses.lowerBound

    /// Nanoseconds between two looks at an unusable device: growing, since opening a device costs power.
    static let lookPauses: ClosedRange<Int64> = 500_000_000...8_000_000_000
    /// Nanoseconds before a failing device is started again; doubled each time.
    static let restartPause: Int64 = 50_000_000
    /// With more than this kept of earlier grants, the process ends before it opens the next one: together with
    /// `StreamMemory.bytesMax` three quarters of what files in memory leave to the camera (`CAMARB_CAMERA_MEMORY`).
    static let keptBytesMax: UInt64 = 256 << 20
    /// Preview streams of one grant: more is a client that forgets to close them.
    static let streamsMax = 64
    /// Of these, one session's: a watcher must not take all of them.
    static let streamsOfASessionMax = 8
    /// Photos of one session that wait for one frame.
    static let photosMax = 16
    /// Restarts of a failing device within one grant, before it is in error.
    static let restartsMax = 3

    init(
        _ makeSource: @escaping @Sendable () throws(BrokerError) -> any CameraSource,
        _ commands: Mailbox<CaptureLoop>, _ writer: Mailbox<WriterLoop>, _ lab: Mailbox<PhotoLab>, idleLimit: Duration?,
        passingLimit: Duration, clock: CaptureClock, faults: Set<Capture.Fault>,
        emit: @escaping @Sendable (RecorderEvent) -> Void
    ) {
        (self.makeSource, self.commands, self.writer) = (makeSource, commands, writer)
        (self.lab, self.emit, self.faults, self.clock) = (lab, emit, faults, clock)
        self.idleLimit = idleLimit?.wholeNanoseconds
        self.passingLimit = passingLimit.wholeNanoseconds
        idleSince = clock.now
    }

    func run() {
        while !isStopping {
            // A caller that asked once may ask again: describing a slow device takes longer than the limit.
            if commands.runAll(on: self) { idleSince = clock.now }
            if isStopping { break }
            let now = clock.now
            if let at = grant?.restartAt, at <= now { begin() }
            if let due = grant?.due, isReady || due <= now { captureFrame() }
            if passing != nil { passOver(at: now) }
            isReady = false
            if isHalted, grant == nil { source?.stop() }
            isHalted = false
            lookAgain()
            tellCondition()
            noteIdle()
            wait()
        }
        if let id = grant?.id { _ = endGrant(id, .sessionEnded) }
        source?.stop()
        // The writer ends after its photos.
        lab.post { $0.stop() }
    }

    func stop() { isStopping = true }

    /// Stands still for ever, as a thread inside a wedged driver does.
    func hang() { while true { _ = camarb_poll(nil, 0, -1) } }

    private func noteIdle() {
        let now = clock.now
        // A device that another program has is watched until it is free: nothing else reports that to waiting apps.
        if grant != nil || passing != nil || writing > 0 || lookAt != nil {
            idleSince = now
        } else if let idleLimit, now - idleSince >= idleLimit {
            // Again after as long: the broker may have a call on its way that kept the process.
            idleSince = now
            emit(.idle)
        }
    }

    /// Sleeps until a frame is due, a command comes, or a client returns a buffer.
    private func wait() {
        let now = clock.now
        var limit: Int64 = -1
        if let next = grant == nil ? passing?.until ?? lookAt : grant?.due ?? grant?.restartAt {
            limit = max(0, next - now)
        } else if let idleLimit, grant == nil, writing == 0 {
            limit = max(0, idleSince + idleLimit - now)
        }
        let streams = grant?.streams ?? []
        let device = grant?.due == nil && passing == nil ? nil : source?.descriptor
        var descriptors = ([commands.descriptor] + streams.map(\.sender.descriptor)).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        // poll(2) passes over descriptors below 0.
        descriptors.append(pollfd(fd: device ?? -1, events: Int16(POLLIN | POLLPRI), revents: 0))
        guard clock.wait(for: &descriptors, limit: limit) > 0 else { return }
        isReady = descriptors.removeLast().revents != 0
        for (stream, polled) in zip(streams, descriptors.dropFirst()) where polled.revents != 0 {
            _ = stream.sender.takeReleases()
        }
        grant?.streams.removeAll { !$0.sender.isOpen }
    }

    // MARK: Frames

    private func captureFrame() {
        guard let open = grant, let source else { return }
        let now = clock.now
        do throws(BrokerError) {
            if source.descriptor != nil, !isReady {
                throw BrokerError(.deviceFault, "\(source.capabilities.name) gave no frame for too long.")
            }
            let taken = try source.takeFrame(interval: open.settings.frameInterval, now: now)
            tellState(open, source, at: now)
            guard let time = taken else {
                // A source that goes by the clock has no descriptor that becomes readable with the next one.
                if source.descriptor == nil { try setNextDue(open, source) }
                return tellNews(source)
            }
            try capture(open, at: time)
            try source.frameIsDone()
            try setNextDue(open, source)
        } catch { recover(open, from: error) }
        guard let reply = open.opening, open.framesCaptured > 0, open.due != nil else { return failOpening() }
        open.opening = nil
        reply(.success(answer(open)))
    }

    private func setNextDue(_ open: OpenGrant, _ source: any CameraSource) throws(BrokerError) {
        let previous = open.due
        open.due = try source.nextDue(after: previous, interval: open.settings.frameInterval, now: clock.now)
        open.previousDue = previous
    }

    /// Takes one frame for all that want it. The first of them is drawn into, the others get copies.
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
        let mark = BurntInMark(captureTime: now, frameNumber: UInt32(truncatingIfNeeded: open.framesCaptured))

        let records = recordingTakes(open, at: now)
        // The first frame of a grant is always drawn: it proves that the device works.
        let isKept = records || !open.photos.isEmpty || open.framesCaptured == 1
        let kept = isKept ? try newPicture(for: open, at: now) : nil
        var drawn: UnsafeMutableRawBufferPointer?
        func draw(into memory: UnsafeMutableRawBufferPointer) throws(BrokerError) {
            if let drawn {
                memory.copyMemory(from: UnsafeRawBufferPointer(drawn))
                return
            }
            try source.render(into: memory, layout: open.layout)
            if source.isMarked { mark.burnIn(memory, open.layout, text: source.showsText) }
            drawn = memory
        }
        if let kept { try draw(into: kept.memory) }
        stopLending(open)
        let late = makeUpFor(open)
        // All are drawn before any is sent: sending ends a stream whose client is gone, and its memory is gone with it.
        var filled: [(sender: FrameSender, index: Int, flags: FrameRecord.Flags)] = []
        do throws(BrokerError) {
            for stream in open.streams where !stream.sender.isLent && stream.sender.layout == open.layout {
                guard let index = stream.sender.writable() else { continue }
                let isSlated = open.slated.contains(stream.session)
                var flags: FrameRecord.Flags = isSlated ? .slate : []
                if open.configurationChanged || late.contains(ObjectIdentifier(stream.sender)) {
                    flags.insert(.configurationChanged)
                }
                filled.append((stream.sender, index, flags))
                let memory = stream.sender.memory(index)
                if isSlated { Self.drawSlate(into: memory, open.layout) } else { try draw(into: memory) }
            }
        } catch {
            for (sender, index, _) in filled { sender.discard(index) }
            throw error
        }
        for (sender, index, flags) in filled {
            sender.deliver(index, sequence: open.framesCaptured, timestamp: now, flags: flags)
        }
        lend(open, at: now)
        open.configurationChanged = false
        if let kept { handOver(kept, open, source, records: records, mark) }
        open.restarts = 0
    }

    /// Frames for which the source was too slow are a gap in the frames' numbers, are missing in the recording, and are
    /// reported once.
    private func noteMissed(of source: any CameraSource, _ open: OpenGrant, at now: Int64) {
        guard let missed = source.takeMissed() else { return }
        open.framesCaptured += UInt64(missed.count)
        if let running = open.recording, running.hasBegun, !running.isPaused { running.ticket.leaveOut(missed.count) }
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

    private func newPicture(for open: OpenGrant, at now: Int64) throws(BrokerError) -> KeptPicture {
        if let picture = KeptPicture(layout: open.layout, captured: now, pool: pictures) { return picture }
        throw BrokerError(.outOfResources, "There is no memory for a frame of \(open.settings.format.name).")
    }

    private func handOver(
        _ picture: KeptPicture, _ open: OpenGrant, _ source: any CameraSource, records: Bool, _ mark: BurntInMark
    ) {
        if records, let ticket = open.recording?.ticket {
            let facts = FrameFacts(orientation: orientation(open), objects: ticket.wantsObjects ? source.objects : [])
            let interval = open.settings.frameInterval
            writer.post { $0.take(picture, interval: interval, facts, for: ticket) }
        }
        handOnPhotos(picture, open, source, mark)
    }

    // MARK: State

    /// The configuration in force, whole, as an answer to the client contains it. Where the camera is still on its way to a
    /// value, a notice follows.
    func answer(_ open: OpenGrant) -> Configuration {
        var whole = open.settings.configuration
        if let source {
            whole.merge(source.controls)
            whole.merge(state(open, source).keeping { open.settings.controls[$0] == nil })
        }
        open.telling.answered(whole)
        return whole
    }

    private func tellState(_ open: OpenGrant, _ source: any CameraSource, at now: Int64) {
        let ended = source.takeEndedModes()
        if !ended.isEmpty {
            // The same mode, asked for again, is to be carried out again; a batch of other keys must not begin it anew.
            var wanted = open.settings.wanted
            wanted.merge(ended)
            let check = ConfigurationCheck(capabilities: source.capabilities)
            if let settings = check.settings(wanted) { open.settings = settings }
            open.telling.note(ended)
        }
        // The answer to the opening contains all of it.
        guard open.opening == nil, open.telling.isDue(at: now) else { return }
        open.telling.note(state(open, source))
        if let changed = open.telling.take(at: now) { emit(.cameraStateChanged(grant: open.id, changed)) }
    }

    private func state(_ open: OpenGrant, _ source: any CameraSource) -> Configuration {
        var state = source.state
        if open.pipelineRebuilds > 0 { state[.pipelineRebuilds] = .number(Double(open.pipelineRebuilds)) }
        return state
    }
}
