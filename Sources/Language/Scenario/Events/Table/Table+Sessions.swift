import Arbiter
import ArbiterProtocol

extension EventDescription.Table {
    mutating func addSessions() {
        (origin, concern) = (.session, .users)
        add(
            .created, .own("session"), Event.created, .session, .client, .cameraOrAll, .configuration("configuration"),
            .mark("reestablished")
        ) {
            guard case .created(let session, let client, let camera, let configuration, let reestablished) = $0
            else { return nil }
            return (session, client, camera, configuration, reestablished)
        }
        add(.startRunning, .line("start"), Event.startRunning, .session) {
            if case .startRunning(let session) = $0 { session } else { nil }
        }
        add(.reclaimed, .line("reclaim"), Event.reclaimed, .session, .ownGrant) {
            if case .reclaimed(let session, let grant) = $0 { (session, grant) } else { nil }
        }
        add(.stopRunning, .line("stop"), Event.stopRunning, .session) {
            if case .stopRunning(let session) = $0 { session } else { nil }
        }
        add(.beginConfiguration, .line("begin"), Event.beginConfiguration, .session) {
            if case .beginConfiguration(let session) = $0 { session } else { nil }
        }
        add(.commitConfiguration, .line("commit"), Event.commitConfiguration, .session) {
            if case .commitConfiguration(let session) = $0 { session } else { nil }
        }
        add(.configure, .line("configure"), Event.configure, .session, .configuration("configuration")) {
            if case .configure(let session, let configuration) = $0 { (session, configuration) } else { nil }
        }
        add(.openStream, .line("stream"), marked: [.routine], Event.openStream, .session) {
            if case .openStream(let session) = $0 { session } else { nil }
        }
        add(.capturePhoto, .line("photo"), Event.capturePhoto, .session) {
            if case .capturePhoto(let session) = $0 { session } else { nil }
        }
        add(.capturePhotoBracket, .line("bracket"), Event.capturePhotoBracket, .session, .bracket) {
            if case .capturePhotoBracket(let session, let bracket) = $0 { (session, bracket) } else { nil }
        }
        addRecordings()
        add(.ready, .own("ready"), Event.ready, .session, .interruption) {
            if case .ready(let session, let interruption) = $0 { (session, interruption) } else { nil }
        }
        add(.continueAfterSensitiveContent, .line("continue"), Event.continueAfterSensitiveContent, .session) {
            if case .continueAfterSensitiveContent(let session) = $0 { session } else { nil }
        }
        add(.closed, .line("close"), Event.closed, .session) {
            if case .closed(let session) = $0 { session } else { nil }
        }
    }

    private mutating func addRecordings() {
        add(.attachMicrophone, .line("attach-microphone"), Event.attachMicrophone, .session, .microphoneFormat) {
            if case .attachMicrophone(let session, let format) = $0 { (session, format) } else { nil }
        }
        add(.startRecording, .line("record"), Event.startRecording, .session, .recordingOptions) {
            if case .startRecording(let session, let options) = $0 { (session, options) } else { nil }
        }
        add(.stopRecording, .line("stop-record"), Event.stopRecording, .session) {
            if case .stopRecording(let session) = $0 { session } else { nil }
        }
        add(.pauseRecording, .line("pause-record"), Event.pauseRecording, .session) {
            if case .pauseRecording(let session) = $0 { session } else { nil }
        }
        add(.resumeRecording, .line("resume-record"), Event.resumeRecording, .session) {
            if case .resumeRecording(let session) = $0 { session } else { nil }
        }
        add(.appendMetadata, .line("append-metadata"), marked: [.routine], Event.appendMetadata, .session) {
            if case .appendMetadata(let session) = $0 { session } else { nil }
        }
    }
}
