package import Vocabulary

/// Leases as a walk sees them that does not count what is left of them. Nothing here decides.
extension Arbiter {
    /// The cameras whose holders' leases run, in the order of their ids.
    package var leasedCameras: [CameraID] {
        state.cameraOrder.filter { state.cameras[$0]?.tenancy.held?.leaseUntil != nil }
    }

    /// The earliest deadline that is not a lease's end.
    package var deadlineBesidesLeases: Moment? { earliestDeadline(leases: false) }

    /// When the last of the times is over that nobody has to be woken for: min-holds, but for those of the holders of
    /// some cameras, and the minute in which a fault counts.
    package func lastUnwatchedTime(besides cameras: [CameraID]) -> Moment {
        var last = state.now
        for id in state.cameraOrder {
            guard let camera = state.cameras[id] else { continue }
            if let fault = camera.faults.last { last = max(last, fault + Bound.faultWindow) }
            if !cameras.contains(id), let until = camera.tenancy.held?.minHoldUntil { last = max(last, until) }
        }
        return last
    }

    /// Takes so much of the lease of a camera's holder to be used up that it ends then.
    package mutating func endLease(on camera: CameraID, at moment: Moment) {
        guard state.cameras[camera]?.tenancy.held?.leaseUntil != nil else { return }
        state.cameras[camera]?.tenancy.update { $0.leaseUntil = moment }
    }
}
