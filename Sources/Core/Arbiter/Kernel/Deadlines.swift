import Vocabulary

/// Deadlines that are due.
extension Arbiter {
    /// Meets all due deadlines in a fixed order: cameras by id, then timers without a camera, then sources.
    mutating func meetDeadlines() {
        endReservations()
        meetTimers([.backoff, .noRoom])
        for camera in state.cameraOrder { meetDeadlines(of: camera) }
        meetTimers([.closing, .resuming])
        meetTimers([.coolDown, .formatKept, .pause, .leaseUsed, .falling, .question])
        for source in state.sources.indices {
            if let until = state.sources[source].state.until, until <= state.now { thaw(source) }
        }
    }

    private mutating func meetDeadlines(of camera: Slot<Camera>) {
        let tenancy = state.cameras[camera].tenancy
        if let cut = tenancy.cut, cut.until <= state.now { meetDeadline(of: cut, on: camera) }
        if case .starting(_, let until) = tenancy, until <= state.now { return killRecorder(camera, .device) }
        if let contest = state.cameras[camera].contest, contest.due <= state.now { notes.touch(camera) }
        _ = expireUsedUp(on: camera)
    }

    private mutating func meetDeadline(of cut: Cut, on camera: Slot<Camera>) {
        let until = cut.isKilled ? .distantFuture : state.now + Bound.kill
        state.cameras[camera].tenancy.update(cut: Cut(until: until, isKilled: true))
        guard cut.isKilled else { return notes.effects.append(.killRecorder(state.cameraNames[camera])) }
        // Not even SIGKILL ended the process: the driver holds it. Nobody gets this camera until the process is gone.
        state.cameras[camera].isStuck = true
        notes.touch(camera)
    }

    private mutating func takeDue(_ kinds: [TimedFact.Kind]) -> [TimedFact] {
        let now = state.now
        let due = state.timers.filter { $0.due <= now && kinds.contains($0.kind) }
        if !due.isEmpty { state.timers.removeAll { $0.due <= now && kinds.contains($0.kind) } }
        return due
    }

    private mutating func meetTimers(_ kinds: [TimedFact.Kind]) {
        for timer in takeDue(kinds) {
            switch timer.kind {
            case .backoff, .noRoom, .coolDown, .formatKept: if let camera = timer.camera { notes.touch(camera) }
            case .closing, .resuming: if let camera = timer.camera { killRecorder(camera, .recorder) }
            // A refused start is not kept, so that nothing follows the end of a pause.
            case .leaseUsed, .pause, .reservation: break
            case .question: if let app = timer.app { questionIsLate(app) }
            case .falling:
                // Under another policy's time a lower level may be due first: the pressure has been no higher since.
                state.world.pressureLevel = min(state.world.pressureLevel, UInt8(timer.amount))
                state.timers.removeAll { $0.kind == .falling && $0.amount >= timer.amount }
                touchAll()
            }
            if let app = timer.app { state.release(app.slot) }
        }
    }

    /// A session that did not come back for its camera in time asks for it like any other.
    private mutating func endReservations() {
        let over = takeDue([.reservation])
        if over.isEmpty { return }
        // A session that started while the camera was kept is neither a newcomer against a returned session, nor newer.
        var returned: [(granted: Ordinal, camera: Slot<Camera>)] = []
        for camera in state.cameraOrder {
            guard let app = over.first(where: { $0.camera == camera })?.app else { continue }
            endSurvivor(camera)
            notes.touch(camera)
            if let held = state.cameras[camera].tenancy.held, state.app(of: held.session).slot == app.slot {
                returned.append((held.granted, camera))
            }
        }
        // Of two bids the earlier is stronger, as far as the order list reads the age.
        let prefersOldest = state.policy.contention.order.first { $0 == .newest || $0 == .oldest } == .oldest
        for (_, camera) in returned.sorted(by: { $0.granted < $1.granted }) {
            let granted = state.nextOrdinal()
            state.cameras[camera].tenancy.update { $0.granted = granted }
            guard !prefersOldest, let holder = state.cameras[camera].tenancy.holder else { continue }
            let started = state.nextOrdinal()
            state.sessions[holder].request?.started = started
        }
        for timer in over { if let app = timer.app { state.release(app.slot) } }
    }
}
