import Arbiter
import ArbiterProtocol
import System

/// Recordings whose recorder core was lost over them, while the camera's next one completes their files.
///
/// The broker has had their envelopes all along, and opens none. Each is given to one recorder core, once: a file that
/// kills its reader kills no other. The client is told of the recording's end when that has answered, with what is in
/// the file; or at the bound, with how long it ran, and with frames and bytes not known, since nobody has counted them.
final class Completions {
    /// From the recorder core's end until the client is told, in nanoseconds: somewhat longer than a recorder core
    /// takes at most (`Completer.timeMax`), its start included.
    static let timeMax: Int64 = 5_000_000_000
    /// Files of one camera that wait for their completion. It has one recording at a time, and a few that were just stopped;
    /// what is beyond is told at once.
    static let atOnceMax = 8

    private unowned let link: CameraLink
    private var underWay: [RecordingID: UnderWay] = [:]

    private struct UnderWay {
        var file: ClientFile
        var duration: Duration
        /// Nil where there is no room for a timer: then the recorder core's answer, which has a bound, is waited for.
        var timer: Timer?
    }

    init(_ link: CameraLink) { self.link = link }
    var isEmpty: Bool { underWay.isEmpty }

    func areWriting(to identity: ClientFile.Identity) -> Bool {
        underWay.values.contains { $0.file.identity == identity }
    }

    func complete(_ recording: RecordingID, _ file: ClientFile?, ran duration: Duration) {
        guard let file, !link.recorder.isStopping, underWay.count < Self.atOnceMax else {
            return tell(recording, RecorderNews.Contents(duration: duration))
        }
        let timeMax = link.broker.options.patience * Self.timeMax
        let timer = try? link.broker.loop.addTimer { [unowned self] in
            isOver(recording, because: "it took longer than \(timeMax / 1_000_000_000) s")
        }
        timer?.arm(at: EventLoop.now + timeMax)
        underWay[recording] = UnderWay(file: file, duration: duration, timer: timer)
        link.recorder.call("Complete", [.uint64(recording), .fileDescriptor(file.envelope)]) { [self] result in
            // The recorder core has its own of it by now, and the envelope is let go with this closure.
            _ = file
            switch result {
            case .failure(let error): isOver(recording, because: error.message)
            case .success(let answer):
                do throws(BrokerError) {
                    let completed = try RecorderNews.completed(answer)
                    if underWay.removeValue(forKey: recording) != nil { tell(recording, completed) }
                } catch {
                    link.recorder.saidNonsense(error.message)
                    isOver(recording, because: error.message)
                }
            }
        }
    }

    private func isOver(_ recording: RecordingID, because why: String) {
        guard let left = underWay.removeValue(forKey: recording) else { return }
        left.timer?.arm(at: nil)
        link.log(.notice, "camera “\(link.camera.name)”: recording \(recording) was not completed: \(why)")
        tell(recording, RecorderNews.Contents(duration: left.duration))
    }

    private func tell(_ recording: RecordingID, _ end: RecorderNews.Contents) {
        link.broker.step(end.end(of: recording, .recorderReset))
    }
}
