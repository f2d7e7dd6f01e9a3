package import ArbiterProtocol
import FrameStream
import Glibc

/// The device under a grant: started, started again when it fails, and watched while it cannot be used.
extension CaptureLoop {
    func begin() {
        guard let open = grant, let source else { return }
        sayThatDeviceStarts()
        open.restartAt = nil
        do throws(BrokerError) {
            try source.start()
            try source.set(open.settings)
            try source.select(format: open.settings.format, zoom: open.zoom, frameRate: open.settings.frameRate)
            open.previousDue = nil
            open.due = try source.nextDue(after: nil, interval: open.settings.frameInterval, now: clock.now)
        } catch { recover(open, from: error) }
        failOpening()
    }

    /// A device that cannot be started has no grant.
    func failOpening() {
        guard let open = grant, let reply = open.opening, let failure = open.failure else { return }
        tellCondition()
        open.opening = nil
        _ = endGrant(open.id, .interrupted)
        reply(.failure(failure))
    }

    /// Emits `.deviceStarts` once until the next beat is answered. Not while a grant is being opened: the broker waits for that.
    func sayThatDeviceStarts() {
        guard grant?.opening == nil, !hasSaidThatDeviceStarts else { return }
        hasSaidThatDeviceStarts = true
        emit(.deviceStarts)
    }

    func tellNews(_ source: any CameraSource) {
        while let news = source.takeNews() { emit(.runtimeError(code: "control-changed", message: news)) }
    }

    func tellCondition() {
        guard let condition = source?.condition, condition != told else { return }
        let before = told
        told = condition
        lookPause = Self.lookPauses.lowerBound
        lookAt = condition == .usable ? nil : clock.now + lookPause
        let (state, message) =
            switch condition {
            case .usable where before == .privacyOn: ("privacy-off", "The camera's privacy switch is off again.")
            case .usable: ("ok", "The camera can be used again.")
            case .disconnected(let message): ("disconnected", message)
            case .heldOutside(let holder): ("held-outside", holder)
            case .privacyOn: ("privacy-on", "The camera's privacy switch is on.")
            }
        emit(.deviceChanged(state: state, message: message))
    }

    /// Looks at an unusable device while there is no grant: under a grant it reports by itself.
    func lookAgain() {
        let now = clock.now
        guard grant == nil, let source, let at = lookAt, at <= now else { return }
        source.look()
        lookPause = min(lookPause * 2, Self.lookPauses.upperBound)
        lookAt = source.condition == .usable || source.isGone ? nil : now + lookPause
    }

    /// Looks whether a program outside the broker has the device, and answers with the program that has its node open, as far
    /// as that can be seen (else ""); `.deviceChanged` comes before the answer. During a grant the device is left alone.
    package func lookNow() throws(BrokerError) -> String {
        let source = try camera()
        if grant == nil {
            // The look must not find the node open by this process itself.
            stopPassingOn()
            source.look()
            tellCondition()
        }
        return source.opener() ?? ""
    }

    /// Has the camera's node watched in an inotify queue; a fault where it has none, or this process may not read it.
    /// - Parameter queue: this function's, also when it throws.
    func watchNode(_ queue: Int32) throws(BrokerError) {
        defer { close(queue) }
        try camera().watchNode(in: queue)
    }

    /// The broker's heartbeat. The thread replies at once, unless it hangs, or starts a device (`.deviceStarts`).
    func beat() { hasSaidThatDeviceStarts = false }

    /// Starts a failing device again, a bounded number of times; then reports the error and waits for the cut.
    func recover(_ open: OpenGrant, from error: BrokerError) {
        open.restarts += 1
        open.due = nil
        sayThatDeviceStarts()
        source?.stop()
        if open.restarts <= Self.restartsMax, source?.condition == .usable {
            // Not at once: a device that fails at once would keep the thread busy.
            open.restartAt = clock.now + Self.restartPause << Int64(open.restarts - 1)
            return
        }
        open.failure = error
        // A condition other than usable explains more than the failure.
        guard open.opening == nil, source?.condition == .usable else { return }
        emit(.deviceChanged(state: "error", message: error.message))
    }

    func renewDeviceBuffers(_ open: OpenGrant) {
        do throws(BrokerError) { try source?.renewBuffers() } catch { recover(open, from: error) }
    }

    /// Where a picture has to be made, or the device has other buffers, the stream that had its buffers gets copies; so does one whose
    /// session's picture is the camera's no more.
    func stopLending(_ open: OpenGrant) {
        guard let source, let stream = open.streams.first(where: { $0.sender.isLent }),
            source.frameBuffer == nil || !open.lends(source) || !open.hasCamerasPicture(stream.session)
        else { return }
        renewBuffers(of: stream, open)
    }

    func lend(_ open: OpenGrant, at now: Int64) {
        guard let source, let buffer = source.frameBuffer, let stream = open.streams.first(where: { $0.sender.isLent })
        else { return }
        let isOut = stream.sender.lend(
            buffer, sequence: open.framesCaptured, timestamp: now,
            flags: stream.isFlagged ? .configurationChanged : [])
        stream.isFlagged = false
        if isOut { source.keepOut() }
    }
}

/// The device between two grants, where the second one follows at once: it goes on, and nobody has its frames.
///
///     granted ──cut, another session follows──▶ passing ──open, same format──▶ granted
///                                                 │  └────open, other format──▶ stopped and started for that grant
///                                                 └──no grant came in time, or it failed──▶ stopped
///
/// To stop a USB camera and to start it again takes a good part of a second, and its light flickers meanwhile. The contract of
/// a cut holds: the last grant's streams are closed and blank before the cut is answered, and the next grant gets only frames
/// that were captured after everything was set for it.
extension CaptureLoop {
    struct Passing {
        let format: CameraFormat
        let frameRate: Double
        /// Of CLOCK_MONOTONIC, in nanoseconds.
        let until: Int64
    }

    /// How long the device goes on for a grant that is to follow. The broker orders it a turn of its loop after the answer to
    /// the cut; this is time for a busy machine. Longer, and the light would be on although the next app has gone.
    static let passingMax = Duration.milliseconds(250)

    /// Has the device go on beyond a grant.
    /// - Returns: false where it must stop: it does not run, or a client has its very buffers.
    func passOn(_ open: OpenGrant) -> Bool {
        guard let source, source.condition == .usable, open.due != nil, !open.lends(source) else { return false }
        passing = Passing(
            format: open.settings.format, frameRate: open.settings.frameRate, until: clock.now + passingLimit)
        return true
    }

    /// Drops a frame, so that the device has buffers to go on with; and stops the device when time is up.
    func passOver(at now: Int64) {
        guard let passing, let source else { return }
        guard now < passing.until else { return stopPassingOn() }
        guard isReady else { return }
        do throws(BrokerError) {
            if try source.takeFrame(interval: 0, now: now) != nil { try source.frameIsDone() }
            // Its privacy switch is on: the next grant finds that out by starting it.
            if source.condition != .usable { stopPassingOn() }
        } catch { stopPassingOn() }
    }

    func stopPassingOn() {
        guard passing != nil else { return }
        passing = nil
        source?.stop()
    }

    /// The grant that was just opened takes the device over as it runs.
    /// - Returns: false where it has to be started: it does not run, runs in another format, or cannot be set as it runs.
    func goOn() -> Bool {
        guard let passing, let open = grant, let source else { return false }
        do throws(BrokerError) {
            if passing.format == open.settings.format, passing.frameRate == open.settings.frameRate,
                try source.goOn(open.settings, zoom: open.zoom)
            {
                open.due = try source.nextDue(after: nil, interval: open.settings.frameInterval, now: clock.now)
                self.passing = nil
                return true
            }
        } catch {
            // A fault shows again when the device is started, and is reported then.
        }
        stopPassingOn()
        return false
    }
}
