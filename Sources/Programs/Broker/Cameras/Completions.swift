import Arbiter
import ArbiterProtocol
import System

/// Recordings whose recorder core was lost, while the camera's next one completes their files.
///
/// The broker has their envelopes from the beginning, and opens none. Each is given to one recorder core, once: a file that
/// kills its reader kills no other. The client receives the recording's end with that one's answer, which counts the file; or at
/// the bound, with how long it ran, and without frames and bytes.
final class Completions {
    /// From the recorder core's end to the client's notice, in nanoseconds: somewhat longer than a recorder core
    /// takes at most (`Completer.timeMax`), with its start.
    static let timeMax: Int64 = 5_000_000_000
    /// Files of one camera that wait for their completion: it has one recording at a time, and a few that were just stopped.
    static let atOnceMax = 8

    private unowned let link: CameraLink
    private var underWay: [RecordingID: UnderWay] = [:]

    private struct UnderWay {
        var file: ClientFile
        var duration: Duration
        /// `nil` where there is no room for a timer: then the recorder core's answer, which has a bound, is waited for.
        var timer: Timer?
    }

    init(_ link: CameraLink) { self.link = link }
    var isEmpty: Bool { underWay.isEmpty }

    func areWriting(to identity: ClientFile.Identity) -> Bool {
        underWay.values.contains { $0.file.identity == identity }
    }

    func complete(_ recording: RecordingID, _ file: ClientFile?, ran duration: Duration) {
        guard let file, !link.recorder.isStopping, underWay.count < Self.atOnceMax else {
            return end(recording, RecorderNews.Contents(duration: duration))
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
                    if underWay.removeValue(forKey: recording) != nil { end(recording, completed) }
                } catch {
                    link.recorder.sentNonsense(error.message)
                    isOver(recording, because: error.message)
                }
            }
        }
    }

    private func isOver(_ recording: RecordingID, because why: String) {
        guard let left = underWay.removeValue(forKey: recording) else { return }
        left.timer?.arm(at: nil)
        link.log(.notice, "camera “\(link.camera.name)”: recording \(recording) was not completed: \(why)")
        end(recording, RecorderNews.Contents(duration: left.duration))
    }

    private func end(_ recording: RecordingID, _ file: RecorderNews.Contents) {
        link.broker.step(file.end(of: recording, .recorderReset))
    }
}
