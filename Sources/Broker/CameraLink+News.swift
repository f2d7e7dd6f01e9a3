import Arbiter
import ArbiterProtocol
import SystemdBus

/// What the recorder core says by itself.
extension CameraLink {
    func recorder(said message: BusMessage) {
        do throws(BrokerError) {
            try take(message)
        } catch {
            broker.journal.send(.warning, "camera “\(camera.name)”: its recorder core said nonsense: \(error.message)")
        }
    }

    private func take(_ message: BusMessage) throws(BrokerError) {
        let member = message.member
        var reader = WireReader(member, try message.arguments())
        switch member {
        case "RecordingFinished":
            let recording = try reader.uint64("recording")
            let why: RecordingEnd = try reader.word("why")
            let frames = try reader.uint64("frames")
            let duration = try reader.int64("duration")
            let bytes = try reader.uint64("bytes")
            outputs.finished(recording, why, frames: frames, duration: .nanoseconds(duration), bytes: bytes)
        case "PhotoCaptured":
            outputs.captured(try PhotoCaptured(reading: &reader))
        case "RampFinished":
            let granted = GrantID(try reader.uint64("grant"))
            broker.step(.rampFinished(camera, granted, videoZoomFactor: try reader.number("videoZoomFactor")))
        case "DeviceChanged":
            try deviceChanged(try reader.string("state"), try reader.string("message"))
        case "RuntimeError":
            broker.step(
                .recorderTrouble(camera, code: try reader.string("code"), message: try reader.string("message")))
        case "Leaving":
            recorder.leavesByItself()
        default: break
        }
    }

    private func deviceChanged(_ state: String, _ message: String) throws(BrokerError) {
        switch state {
        case "ok":
            heldOutside(by: nil)
            switched(on: false)
            if !isPresent { describe() }
        case "disconnected":
            setPresent(false)
            switched(on: false)
        case "error": failed(message)
        case "held-outside": heldOutside(by: message.isEmpty ? "another program" : message)
        case "privacy-on": switched(on: true)
        case "privacy-off": switched(on: false)
        default: throw BrokerError(.invalidValue, "DeviceChanged: there is no state \(state.quotedShort).")
        }
    }
}
