package import ArbiterProtocol
import FrameStream
import Glibc

/// The device under a grant: started, started again when it fails, watched while it cannot be used, and its own buffers.
extension CaptureLoop {
    func begin() {
        guard var open = grant, let source else { return }
        sayThatDeviceStarts()
        open.restartAt = nil
        do throws(BrokerError) {
            try source.start()
            try source.set(open.settings)
            try source.select(format: open.settings.format, zoom: open.zoom, frameRate: open.settings.frameRate)
            open.previousDue = nil
            open.due = try source.nextDue(after: nil, interval: open.settings.frameInterval, now: clock.now)
        } catch { recover(&open, from: error) }
        grant = open
        failOpening()
    }

    /// A device that cannot be started has no grant.
    func failOpening() {
        guard let open = grant, let reply = open.opening, let failure = open.failure else { return }
        tellCondition()
        grant?.opening = nil
        _ = endGrant(open.id, .interrupted)
        reply(.failure(failure))
    }

    /// Once until the next beat is answered: how often it is said is then the caller's affair. Not of a grant that is being
    /// opened: whoever opens it waits for that.
    func sayThatDeviceStarts() {
        guard grant?.opening == nil, !hasSaidThatDeviceStarts else { return }
        hasSaidThatDeviceStarts = true
        emit(.deviceStarts)
    }

    func tellNews(_ source: any CameraSource) {
        while let news = source.takeNews() { emit(.runtimeError(code: "control-changed", message: news)) }
    }

    /// Says what has changed about it since it was last told.
    func tellCondition() {
        guard let condition = source?.condition, condition != told else { return }
        let before = told
        told = condition
        if condition.isWatched {
            lookPause = Self.lookPauses.lowerBound
            lookAt = clock.now + lookPause
        } else {
            lookAt = nil
        }
        switch condition {
        case .usable where before == .privacyOn:
            emit(.deviceChanged(state: "privacy-off", message: "The camera's privacy switch is off again."))
        case .usable: emit(.deviceChanged(state: "ok", message: "The camera can be used again."))
        case .disconnected(let message): emit(.deviceChanged(state: "disconnected", message: message))
        case .heldOutside(let holder): emit(.deviceChanged(state: "held-outside", message: holder))
        case .privacyOn: emit(.deviceChanged(state: "privacy-on", message: "The camera's privacy switch is on."))
        }
    }

    /// While nobody has the device: with a grant it says so itself.
    func lookAgain() {
        let now = clock.now
        guard grant == nil, let source, let at = lookAt, at <= now else { return }
        source.look()
        lookPause = min(lookPause * 2, Self.lookPauses.upperBound)
        lookAt = source.condition.isWatched && !source.isGone ? now + lookPause : nil
    }

    /// Looks whether a program outside the broker has the device, and answers with the one that has its node open, as far as
    /// that can be seen ("": it cannot); `.deviceChanged` comes before the answer. During a grant the device is left alone.
    package func lookNow() throws(BrokerError) -> String {
        let source = try camera()
        if grant == nil {
            // What the look finds open is then somebody else's.
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

    /// At once, unless the thread hangs, or has said `.deviceStarts`.
    func beat() { hasSaidThatDeviceStarts = false }

    /// Starts a failing device again, a bounded number of times; then says that it is in error and waits for the cut.
    func recover(_ open: inout OpenGrant, from error: BrokerError) {
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
        // Why it cannot be used says more than that it failed.
        guard open.opening == nil, source?.condition == .usable else { return }
        emit(.deviceChanged(state: "error", message: error.message))
    }

    func beginAgain(after error: BrokerError) {
        guard var open = grant else { return }
        recover(&open, from: error)
        grant = open
    }

    /// Where a picture has to be made, or the device has other buffers, the stream that had its buffers gets copies.
    func stopLending(_ open: OpenGrant) {
        guard let source, let stream = open.streams.first(where: { $0.sender.isLent }),
            source.frameBuffer == nil || open.lent?.begun != source.buffersBegun
        else { return }
        renewBuffers(of: stream, open)
    }

    func lend(_ open: OpenGrant, at now: Int64) {
        guard let source, let buffer = source.frameBuffer, let stream = open.streams.first(where: { $0.sender.isLent })
        else { return }
        let isOut = stream.sender.lend(
            buffer, sequence: open.framesCaptured, timestamp: now,
            flags: open.configurationChanged ? .configurationChanged : [])
        if isOut { source.keepOut() }
    }
}
