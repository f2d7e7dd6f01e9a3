import ArbiterProtocol

/// The device between two grants, where the second one follows at once: it goes on, and nobody has its frames.
///
///     granted ──cut, somebody follows──▶ passing ──open, same format──▶ granted
///                                           │  └────open, another one──▶ stopped and started for that grant
///                                           └──nobody came in time, or it failed──▶ stopped
///
/// To stop a USB camera and to start it again takes a good part of a second, and its light flickers meanwhile. Whatever the
/// contract says of a cut holds: the last grant's streams are closed and blank before the cut is answered, and what the
/// next one gets was captured after everything was set for it.
extension CaptureLoop {
    /// What the device captures in while it goes on, and until when.
    struct Passing {
        var format: CameraFormat
        var frameRate: Double
        /// Of CLOCK_MONOTONIC, in nanoseconds.
        var until: Int64
    }

    /// How long the device goes on for a grant that is to follow. The broker orders it when it has heard of the cut, a turn of
    /// its loop later; this is time for a busy machine. Longer, and the light would be on although the next app has gone.
    static let passingMax = Duration.milliseconds(250)

    /// Has the device go on beyond a grant.
    /// - Returns: false where it must stop: it does not run, or a client has its very buffers.
    func passOn(_ open: OpenGrant) -> Bool {
        guard let source, source.condition == .usable, open.due != nil, open.lent?.begun != source.buffersBegun else {
            return false
        }
        passing = Passing(
            format: open.settings.format, frameRate: open.settings.frameRate, until: clock.now + passingLimit)
        return true
    }

    /// Takes what was captured for nobody, so that the device has buffers to go on with; and ends it when it is time.
    func passOver(at now: Int64) {
        guard let passing, let source else { return }
        guard now < passing.until else { return stopPassingOn() }
        guard isReady else { return }
        do throws(BrokerError) {
            if try source.takeFrame(interval: 0, now: now) != nil { try source.frameIsDone() }
            // Its switch is on: whoever follows finds that out by starting it.
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
        guard let passing, var open = grant, let source else { return false }
        do throws(BrokerError) {
            if passing.format == open.settings.format, passing.frameRate == open.settings.frameRate,
                try source.goOn(open.settings, zoom: open.zoom)
            {
                open.due = try source.nextDue(after: nil, interval: open.settings.frameInterval, now: clock.now)
                grant = open
                self.passing = nil
                return true
            }
        } catch {
            // A fault shows again when the device is started, and is told then.
        }
        stopPassingOn()
        return false
    }
}
