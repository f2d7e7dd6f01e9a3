package import ArbiterProtocol
import CLinux
import CMedia
import Glibc
import System

/// What happens to the device beside frames: it goes, others take it or change it, or its switch is on.
extension V4L2Camera {
    func takeControlNews() {
        while let (id, value) = device.news() {
            if id == camarb_cid_privacy {
                condition = value == 0 ? .usable : .privacyOn
            } else if let sentence = controlSet.changedOutside(id, value) {
                news.append(sentence)
            }
        }
    }

    package func takeNews() -> String? { news.isEmpty ? nil : news.removeFirst() }

    package func look() {
        do throws(VideoFault) {
            try device.open()
            defer { device.close() }
            _ = try device.identify()
            // Asking for buffers might take them from a program that is about to ask for its own: only where nothing else tells.
            switch device.hasBuffers() {
            case true?: throw VideoFault("look at it", EBUSY)
            case false?: break
            case nil: try requireUnused()
            }
            isGone = false
            condition = controlSet.isPrivate ? .privacyOn : .usable
        } catch { _ = loss(error) }
    }

    package func watchNode(in queue: Int32) throws(BrokerError) {
        do throws(VideoFault) { try device.watch(in: queue) } catch {
            throw BrokerError(.deviceFault, "\(capabilities.name): \(error.words).")
        }
    }

    package func opener() -> String? { device.otherHolder() }

    /// A program that has buffers has the device; asking for some shows whether another has, before anything is set.
    /// - Throws: `EBUSY` when one has.
    func requireUnused() throws(VideoFault) {
        _ = try device.request(buffers: 1)
        _ = try device.request(buffers: 0)
    }

    func attempt<R>(_ body: () throws(VideoFault) -> R) throws(BrokerError) -> R {
        do throws(VideoFault) { return try body() } catch {
            if let lost = loss(error) { throw lost }
            throw BrokerError(.deviceFault, "\(capabilities.name): \(error.words).")
        }
    }

    /// What a fault says about the device's condition; nil when nothing: it may be over when it is started again.
    func loss(_ fault: VideoFault) -> BrokerError? {
        switch fault.number {
        case ENODEV, ENXIO, ENOENT:
            condition = .disconnected("\(capabilities.name) is not plugged in any more.")
            isGone = fault.doing == "find it"
        case EBUSY: condition = .heldOutside(device.otherHolder() ?? "a program that cannot be seen from here")
        default: return nil
        }
        // At once: a driver waits for the last one to let go before the device may come back.
        stop()
        if case .heldOutside(let holder) = condition {
            return BrokerError(.deviceFault, "\(capabilities.name) is held outside the broker by \(holder).")
        }
        return BrokerError(.deviceFault, "\(capabilities.name) is not plugged in any more.")
    }
}

extension SystemFault {
    /// The kernel's words speak of a disk. What is full is the bus: its bandwidth is given to other cameras.
    var words: String { number == ENOSPC ? "cannot \(doing): \(DeviceFault.noRoomWords)" : description }
}

/// One grant's stream taken over by the next one.
extension V4L2Camera {
    package func goOn(_ settings: CaptureSettings, zoom: Double) throws(BrokerError) -> Bool {
        let format = settings.format
        takeControlNews()
        // By a clock that is not ours nobody can tell what was captured before this moment.
        guard queue != nil, selected?.native.format == format, selected?.frameRate == settings.frameRate,
            !clockIsForeign, condition == .usable
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
