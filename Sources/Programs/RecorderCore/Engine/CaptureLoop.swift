import ArbiterProtocol
import CLinux
import FrameStream
import Glibc

/// The capture thread: takes commands between two frames, so that each is atomic, captures due frames, and hands
/// every frame to the streams, the photos and the recordings that want it.
package final class CaptureLoop {
    let makeSource: @Sendable () throws(BrokerError) -> any CameraSource
    let commands: Mailbox<CaptureLoop>
    let recorders: RecordingThreads
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
    /// Recordings and photos that are being written, and recordings with the completer.
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
        _ commands: Mailbox<CaptureLoop>, _ recorders: RecordingThreads, _ lab: Mailbox<PhotoLab>, idleLimit: Duration?,
        passingLimit: Duration, clock: CaptureClock, faults: Set<Capture.Fault>,
        emit: @escaping @Sendable (RecorderEvent) -> Void
    ) {
        (self.makeSource, self.commands, self.recorders) = (makeSource, commands, recorders)
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
        recorders.shutDown()
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
