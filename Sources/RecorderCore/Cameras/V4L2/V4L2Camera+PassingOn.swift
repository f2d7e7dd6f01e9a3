package import ArbiterProtocol
import CLinux
package import CaptureModel

/// One grant's stream taken over by the next one.
extension V4L2Camera {
    package func goOn(_ settings: CaptureSettings, zoom: Double) throws(BrokerError) -> Bool {
        let format = settings.format
        takeControlNews()
        // By a clock that is not ours nobody can tell what was captured before this moment.
        guard queue != nil, selected?.native.format == format, selected?.frameRate == settings.frameRate,
            !clockIsForeign,
            condition == .usable
        else { return false }
        letFrameGo()
        controlSet.beginAnew()
        try set(settings)
        self.zoom = zoom
        let magnified = zoomer.set(zoom)
        guard !zoomer.isLeftOver else { return false }
        crop = magnified > 1 ? Self.window(format, zoom: magnified) : nil
        isTakenOver = true
        countsFrom = camarb_monotonic_ns()
        return true
    }
}
