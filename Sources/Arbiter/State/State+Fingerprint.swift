public import Vocabulary

// Every stored property of a state is written here, or follows from others and is named in a comment. A test holds
// fingerprints against `canonical` on long walks. What only a whole view writes is behind `isWhole`; the rest of a
// folded view is in State+Fold.swift.

extension Arbiter {
    /// What exploration remembers of a state: the same for two arbiters when their `key`s are, and not otherwise.
    ///
    /// It is taken from the state as it lies, and costs a tenth of a key.
    public func fingerprint() -> Fingerprint { fingerprint { _ in } }

    /// The same, of a state that is more than the arbiter: the rest is written by the caller.
    public func fingerprint(with rest: (inout FingerprintWriter) -> Void) -> Fingerprint {
        var writer = FingerprintWriter(now: state.now, ordinals: state.ordinals(), cameras: state.cameraOrder)
        state.write(into: &writer)
        rest(&writer)
        return writer.finished()
    }
}

extension State {
    /// All places in the order of what happened that can still turn a decision, sorted.
    func ordinals() -> [Ordinal] {
        var ordinals: [Ordinal] = []
        for session in requesting {
            guard let request = sessions[session]?.request else { continue }
            ordinals.append(request.started)
            if let claimed = request.claimed { ordinals.append(claimed) }
        }
        for camera in cameraOrder {
            if let held = cameras[camera]?.tenancy.held { ordinals.append(held.granted) }
        }
        ordinals.sort()
        return ordinals
    }

    /// `apps`, `requesting` and each camera's `requests` follow from the clients and sessions.
    fileprivate func write(into writer: inout FingerprintWriter) {
        writer.combine(sharedPolicy.stamp)
        writer.unordered(clients) { writer, entry in entry.value.write(into: &writer) }
        writer.unordered(sessions) { writer, entry in entry.value.write(into: &writer) }
        writer.combine(cameraOrder.count)
        for id in cameraOrder {
            writer.combine(id.name)
            writer.combine(cameras[id]) { writer, camera in camera.write(into: &writer) }
        }
        world.write(into: &writer)
    }
}

extension Client {
    func write(into writer: inout FingerprintWriter) {
        if writer.isWhole {
            writer.combine(id)
            writer.combine(app)
            writer.ordered(sessions) { $0.combine($1) }
        }
        writer.combine(
            isVerified, attributes.multitasking, attributes.requiresFullScreen, attributes.kind == .picker,
            attributes.kind == .voip, attributes.claimedApp != nil, loginSession != nil, loweredTo != nil,
            loweredAttributes.isEmpty)
        if let claimed = attributes.claimedApp { writer.combine(claimed) }
        if let loginSession { writer.combine(loginSession.name) }
        if let loweredTo { writer.combine(loweredTo) }
        if !loweredAttributes.isEmpty { loweredAttributes.write(into: &writer) }
    }
}

extension AttributeValues {
    func write(into writer: inout FingerprintWriter) {
        writer.ordered(pairs) { writer, pair in
            writer.combine(pair.name)
            writer.combine(pair.value)
        }
    }
}

extension Session {
    /// Its app is its client's.
    func write(into writer: inout FingerprintWriter) {
        if writer.isWhole {
            writer.combine(id)
            writer.combine(client)
        }
        writer.combine(camera)
        writer.combine(
            isSensitive, isReestablished, isRecording, isSwitched, request != nil, waits != nil, open != nil,
            confirmed == configuration)
        if let request {
            switch writer.view {
            case .whole:
                writer.combine(request.started)
                writer.combine(request.claimed) { $0.combine($1) }
                writer.combine(request.hasHeld)
            case .folded(let readsClaims, _): if readsClaims { writer.combine(request.hasHeld) }
            }
            if writer.countsLeases { writer.combine(request.leaseLeft) { $0.combine($1) } }
        }
        if let waits {
            if writer.isWhole {
                writer.combine(waits.interrupter) { $0.combine($1) }
                writer.combine(waits.rule)
            }
            // Whether another app keeps the camera from it, a statement may ask.
            writer.combine(waits.isSharing, waits.interrupter.map { $0 != app } ?? false)
        }
        switch shown {
        case .stopped: writer.combine(0)
        case .pending: writer.combine(1)
        case .running(let access): writer.combine(2 + UInt64(access.rawValue) << 8)
        case .interrupted(let causes): writer.combine(3 + UInt64(causes.bits) << 8)
        }
        configuration.write(into: &writer)
        if confirmed != configuration { confirmed.write(into: &writer) }
        if let open {
            writer.combine(open.depth)
            open.batch.write(into: &writer)
        }
    }
}

extension Configuration {
    public func write(into writer: inout FingerprintWriter) {
        writer.combine(count)
        guard !isEmpty else { return }
        for (key, value) in ordered {
            writer.combine(key.rawValue)
            switch value {
            case .text(let text):
                writer.combine(0)
                writer.combine(text)
            case .number(let number):
                writer.combine(1)
                // Zero has two patterns, and is equal to itself.
                writer.combine(number == 0 ? 0 : number.bitPattern)
            case .flag(let flag): writer.combine(flag ? 2 : 3)
            }
        }
    }
}

extension Camera {
    func write(into writer: inout FingerprintWriter) {
        // A fold compares states of one world, whose cameras stay what they are.
        if writer.isWhole { capabilities.write(into: &writer) }
        writer.combine(
            isPresent, isPrivate, isHeldOutside, isStuck, restartAt != nil, reservation != nil, promise != nil)
        tenancy.write(into: &writer)
        if writer.isWhole {
            writer.ordered(closing) { writer, closing in
                writer.combine(closing.session)
                writer.combine(distanceTo: closing.until)
            }
        }
        // Ages, not distances: a fault counts for a minute after it happened.
        writer.ordered(faults) { $0.combine(ageOf: $1) }
        if let restartAt { writer.combine(distanceTo: restartAt) }
        if let reservation {
            if writer.isWhole { writer.combine(reservation.app) }
            writer.combine(distanceTo: reservation.until)
        }
        if writer.isWhole, let promise {
            writer.combine(promise.session)
            writer.combine(promise.rule)
        }
    }
}

extension CameraCapabilities {
    fileprivate func write(into writer: inout FingerprintWriter) {
        writer.combine(name)
        writer.combine(position.rawValue)
        writer.combine(sensorWidth)
        writer.combine(sensorHeight)
        writer.combine(formats.count)
        for format in formats {
            writer.combine(format.pixelFormat)
            writer.combine(format.width)
            writer.combine(format.height)
            writer.combine(format.minFrameRate.bitPattern)
            writer.combine(format.maxFrameRate.bitPattern)
            writer.combine(format.videoMaxZoomFactor.bitPattern)
            writer.combine(format.videoZoomFactorUpscaleThreshold.bitPattern)
            writer.combine(format.isBinned)
            writer.combine(format.fieldOfView.bitPattern)
        }
        writer.combine(controls.count)
        for control in controls { control.write(into: &writer) }
    }
}

extension CameraControl {
    fileprivate func write(into writer: inout FingerprintWriter) {
        writer.combine(key.rawValue)
        // Which of the three it is, follows from the key.
        switch takes {
        case .flag: break
        case .words(let words):
            writer.combine(words.count)
            for word in words { writer.combine(word) }
        case .range(let least, let most, let step):
            writer.combine(least.bitPattern)
            writer.combine(most.bitPattern)
            writer.combine(step.bitPattern)
        }
        writer.combine(usual.description)
    }
}

extension Tenancy {
    fileprivate func write(into writer: inout FingerprintWriter) {
        switch self {
        case .free: writer.combine(0)
        case .starting(let held):
            writer.combine(1)
            held.write(into: &writer)
        case .streaming(let held):
            writer.combine(2)
            held.write(into: &writer)
        case .resetting(let held, let cause, let cut):
            writer.combine(3 + UInt64(cause.rawValue) << 8)
            held.write(into: &writer)
            writer.combine(cut) { $1.write(into: &$0) }
        case .revoking(let cut):
            writer.combine(4)
            cut.write(into: &writer)
        }
    }
}

extension Cut {
    fileprivate func write(into writer: inout FingerprintWriter) {
        writer.combine(distanceTo: until)
        writer.combine(isKilled)
    }
}

extension Held {
    /// `since` is history, as it is for the key.
    fileprivate func write(into writer: inout FingerprintWriter) {
        if writer.isWhole {
            writer.combine(session)
            writer.combine(granted)
            writer.combine(rule)
        }
        writer.combine(isVacant)
        inForce.write(into: &writer)
        // A min-hold that is over is none.
        writer.combine(minHoldUntil.flatMap { $0 > writer.now ? $0 : nil }) { $0.combine(distanceTo: $1) }
        if writer.countsLeases {
            writer.combine(leaseUntil) { $0.combine(distanceTo: $1) }
        } else {
            writer.combine(leaseUntil != nil)
        }
        writer.combine(contest) { writer, contest in
            if writer.isWhole {
                writer.combine(contest.beneficiary)
                writer.combine(contest.rule)
            }
            writer.combine(distanceTo: contest.due)
            writer.combine(contest.announced) { writer, announced in
                writer.combine(distanceTo: announced.deadline)
                writer.combine(announced.isReady)
            }
        }
    }
}
