import Arbiter
import ArbiterProtocol
import Bus
import System

// MARK: Signals of the recorder core

extension CameraLink {
    func received(_ message: BusMessage) {
        do throws(BrokerError) { try take(try RecorderNews(reading: message)) } catch {
            recorder.sentNonsense(error.message)
        }
    }

    private func take(_ news: RecorderNews) throws(BrokerError) {
        switch news {
        case .recordingFinished(let recording, let why, let file):
            if outputs.finished(recording, why, file) { return }
        case .photoCaptured(let photo):
            if outputs.captured(photo) { return }
        case .runtimeError(let code, let message, let recording, let session):
            guard try isAllowed(isError: true) else { return }
            broker.step(
                .recorderTrouble(camera, code: code, message: message, recording: recording, session: session))
            return
        default: break
        }
        guard try isAllowed(isError: false) else { return }
        switch news {
        case .rampFinished(let granted, let factor):
            broker.step(.rampFinished(camera, granted, videoZoomFactor: factor))
        case .cameraStateChanged(let granted, let state):
            broker.step(.cameraStateChanged(camera, granted, state))
        case .deviceChanged(let state, let message): deviceChanged(state, message)
        case .starting: heartbeat.deviceStarts()
        case .leaving: recorder.leavesByItself()
        // The end of a file that has ended here: the two ends may cross.
        case .recordingFinished, .photoCaptured, .runtimeError, .unknown: break
        }
    }

    private func isAllowed(isError: Bool) throws(BrokerError) -> Bool {
        switch allowance.take(isError: isError, at: EventLoop.now) {
        case .passed: return true
        case .leftOut:
            broker.loop.arm(&leftOutTimer, at: allowance.reportAt) { [unowned self] in
                guard let sentence = allowance.takeLeftOut() else { return }
                broker.step(.recorderTrouble(camera, code: "errors-left-out", message: sentence))
            }
            return false
        case .tooMuch:
            throw BrokerError(
                .limitExceeded, "It said more than \(RecorderAllowance.signalsMax) things within a second.")
        }
    }

    private func deviceChanged(_ state: RecorderNews.DeviceState, _ message: String) {
        switch state {
        case .ok:
            heldOutside(by: nil)
            switched(on: false)
            if !isPresent { describe() }
        case .disconnected:
            setPresent(false)
            switched(on: false)
        case .error: failed(message)
        case .heldOutside: heldOutside(by: message.isEmpty ? "another program" : message)
        case .privacyOn: switched(on: true)
        case .privacyOff: switched(on: false)
        }
    }
}

// MARK: Presence

extension CameraLink {
    func became(_ found: CameraCapabilities) {
        appear(found)
        isKnown = true
        broker.cameras.becameKnown()
    }

    func appear(_ found: CameraCapabilities) {
        trouble = nil
        describeFailures = 0
        let isNew = capabilities == nil
        capabilities = found
        if !isPresent { generation += 1 }
        isPresent = true
        broker.step(.cameraAppeared(camera, found, seat: seat))
        // Both may have come while the core did not know the camera, from a recorder core that outlived the broker before.
        if broker.desktops.facts.isPrivate(camera) { broker.step(.privacy(camera, on: true)) }
        if outside != nil { broker.step(.heldOutside(camera, true)) }
        reserve()
        if isNew { broker.dispatcher.cameraObjectAdded(self) }
        if isFollowed { node.begin() }
    }

    func setPresent(_ present: Bool) {
        if present {
            // A device that is plugged in again may be able to do other things, and is asked.
            if let capabilities, !isFollowed { appear(capabilities) } else { describe() }
        } else {
            describeTimer?.arm(at: nil)
            heldOutside(by: nil)
            if isFollowed { node.end() }
            guard isPresent else { return }
            isPresent = false
            broker.step(.cameraDisappeared(camera))
        }
    }

    /// It is not plugged in: no question waits for it to be described.
    func isNotThere() {
        guard !isKnown else { return }
        isKnown = true
        broker.loop.defer { [self] in broker.cameras.becameKnown() }
    }

    /// A program that did not ask has the camera, or no longer has it.
    func heldOutside(by holder: String?) {
        guard holder != outside else { return }
        outside = holder
        if let holder { log(.warning, "camera “\(camera.name)” is held outside the broker by \(holder)") }
        // Before a session that waited for the other program's end becomes the holder.
        broker.publisher.outsideChanged(self)
        broker.step(.heldOutside(camera, holder != nil))
    }

    private func switched(on: Bool) {
        broker.desktops.report { $0.report(privacy: camera, on: on, by: .camera(camera)) }
    }
}

// MARK: The node

extension CameraLink: NodeObserverOwner {
    package func watchNode(_ descriptor: Int32, _ done: @escaping (Result<Void, BrokerError>) -> Void) {
        recorder.call("WatchNode", [.fileDescriptor(descriptor)]) { result in done(result.map { _ in }) }
    }

    package func lookAtNode(_ done: @escaping (Result<String, BrokerError>) -> Void) {
        recorder.call("Look", []) { result in
            done(
                Result { () throws(BrokerError) -> String in
                    var reader = WireReader("Look", try result.get().argumentsWithoutDescriptors())
                    return RecorderNews.cut(try reader.string("openIn"), RecorderNews.textBytesMax)
                })
        }
    }

    package var isHeldOutside: Bool { outside != nil }
    package var nodeUsersMost: Int? { nodeUsersPath.flatMap { DriverUsers.count(at: $0) } }

    package func nodeIsOpen(in program: String?) {
        openIn = program
        guard let program else { return }
        log(.info, "camera “\(camera.name)” is open in \(program), which does not stream from it")
    }
}
