import Arbiter
import ArbiterProtocol
import Bus
import System

extension CameraLink {
    func recorder(said message: BusMessage) {
        do throws(BrokerError) { try take(try RecorderNews(reading: message)) } catch {
            recorder.saidNonsense(error.message)
        }
    }

    private func take(_ news: RecorderNews) throws(BrokerError) {
        switch news {
        case .recordingFinished(let recording, let why, let file):
            if outputs.finished(recording, why, file) { return }
        case .photoCaptured(let photo):
            if outputs.captured(photo) { return }
        case .runtimeError(let code, let message):
            if try isAllowed(isError: true) { broker.step(.recorderTrouble(camera, code: code, message: message)) }
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
        // The end of a file that nobody waits for: the two ends may cross.
        case .recordingFinished, .photoCaptured, .runtimeError, .unknown: break
        }
    }

    private func isAllowed(isError: Bool) throws(BrokerError) -> Bool {
        switch allowance.take(isError: isError, at: EventLoop.now) {
        case .told: return true
        case .leftOut:
            if leftOutTimer == nil { leftOutTimer = try? broker.loop.addTimer { [unowned self] in tellLeftOut() } }
            leftOutTimer?.arm(at: allowance.tellAt)
            return false
        case .tooMuch:
            throw BrokerError(.limitExceeded, "It said more than \(RecorderAllowance.wordsMax) things within a second.")
        }
    }

    private func tellLeftOut() {
        guard let sentence = allowance.tellLeftOut() else { return }
        broker.step(.recorderTrouble(camera, code: "errors-left-out", message: sentence))
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
