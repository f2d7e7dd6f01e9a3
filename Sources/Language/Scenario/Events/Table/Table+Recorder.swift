import Arbiter
import ArbiterProtocol

extension EventDescription.Table {
    /// What recorder cores report of what they were told to do with a camera.
    mutating func addRecorder() {
        (origin, concern) = (.recorder, .whoeverIsTold)
        add(
            .recorderStreaming, .recorder("streaming"), marked: [.answer, .routine], Event.recorderStreaming, .camera,
            .grant, .configuration("inForce")
        ) {
            if case .recorderStreaming(let camera, let grant, let state) = $0 { (camera, grant, state) } else { nil }
        }
        add(.recorderCut, .recorder("cut"), marked: [.answer, .routine], Event.recorderCut, .camera, .grant) {
            if case .recorderCut(let camera, let grant) = $0 { (camera, grant) } else { nil }
        }
        add(
            .recorderClosedStreams, .recorder("closed-streams"), marked: [.answer, .routine],
            Event.recorderClosedStreams, .camera, .grant, .session
        ) {
            if case .recorderClosedStreams(let camera, let grant, let id) = $0 { (camera, grant, id) } else { nil }
        }
        add(
            .recorderConfigured, .recorder("configured"), marked: [.answer, .routine], Event.recorderConfigured,
            .camera, .grant, .unsaid("asked"), .configuration("inForce")
        ) {
            guard case .recorderConfigured(let camera, let grant, let asked, let inForce) = $0 else { return nil }
            return (camera, grant, asked, inForce)
        }
        add(
            .recorderRefusedConfiguration, .recorder("refused-configuration"), Event.recorderRefusedConfiguration,
            .camera, .grant, .unsaid("asked"), .sentence("message", "why")
        ) {
            guard case .recorderRefusedConfiguration(let camera, let grant, let asked, let message) = $0
            else { return nil }
            return (camera, grant, asked, message)
        }
        add(.recorderGone, .recorder("gone"), marked: [.routine], Event.recorderGone, .camera) {
            if case .recorderGone(let camera) = $0 { camera } else { nil }
        }
    }

    /// What they report of files, and of what nobody asked them.
    mutating func addRecorderNews() {
        (origin, concern) = (.recorder, .whoeverIsTold)
        add(
            .recordingFinished, .line("finished"), marked: [.routine], Event.recordingFinished,
            .number("recording", of: "a recording"), .oneOf("why", "why it ended"), .knownSetting("frames"),
            .knownTime("duration"), .knownSetting("bytes"), .laterMoment("lastCapture"), .laterSetting("framesLeftOut")
        ) {
            if case .recordingFinished(
                let recording, let why, let frames, let duration, let bytes, let lastCapture, let leftOut) = $0
            {
                (recording, why, frames, duration, bytes, lastCapture, leftOut)
            } else {
                nil
            }
        }
        add(.photoCaptured, .line("captured"), marked: [.answer, .routine], Event.photoCaptured, .photo) {
            if case .photoCaptured(let photo) = $0 { photo } else { nil }
        }
        add(
            .rampFinished, .recorder("ramp-finished"), marked: [.answer, .routine], Event.rampFinished, .camera, .grant,
            .factor("videoZoomFactor")
        ) {
            if case .rampFinished(let camera, let grant, let factor) = $0 { (camera, grant, factor) } else { nil }
        }
        add(
            .cameraStateChanged, .recorder("state"), marked: [.answer, .routine], Event.cameraStateChanged, .camera,
            .grant, .configuration("state")
        ) { if case .cameraStateChanged(let camera, let grant, let state) = $0 { (camera, grant, state) } else { nil } }
        add(
            .recorderTrouble, .recorder("trouble"), Event.recorderTrouble, .camera, .word("code", "a code"),
            .sentence("message", "a sentence")
        ) {
            if case .recorderTrouble(let camera, let code, let message) = $0 { (camera, code, message) } else { nil }
        }
    }
}
