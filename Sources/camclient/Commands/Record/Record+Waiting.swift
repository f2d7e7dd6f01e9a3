import ArbiterProtocol
import Camarb
import Timeline

extension Record {
    /// Waits for the end of a recording, and asks for it when it is time or at Ctrl-C.
    /// - Returns: how it ended, and the interruption that came meanwhile.
    func record(
        _ id: RecordingID, on session: borrowing SessionHandle, _ inbox: Inbox
    ) async throws -> (RecordingFinished, Interruption?) {
        // The recorder ends it by captured time; this is for one that is late.
        let end = duration.map { inbox.alarm(in: $0.duration + .seconds(2)) }
        let begin = Moment.now
        var tick = inbox.alarm(in: .seconds(1))
        var tooLate: Int?
        var interruption: Interruption?
        defer { if Output.isErrorTerminal { Output.progress("") } }
        while true {
            switch await inbox.next() {
            case .alarm(tick):
                if Output.isErrorTerminal {
                    Output.progress("recording \((Moment.now - begin).shortText), Ctrl-C stops")
                    tick = inbox.alarm(in: .seconds(1))
                }
            case .alarm(let alarm):
                if alarm == tooLate {
                    throw Failure(.answerIsNo, "The recording was not finished within \(Self.finishMax.seconds) s.")
                }
                guard alarm == end else { break }
                fallthrough
            case .interrupt:
                guard tooLate == nil else { break }
                tooLate = inbox.alarm(in: Self.finishMax)
                do throws(BrokerError) {
                    try await session.stopRecording()
                } catch {
                    // It ended by itself in this very moment; its end is on the way.
                    guard error.kind == .notRecording else { throw error }
                }
            case .notice(.event(let signal)):
                switch ClientEvent(signal.event) {
                case .recordingFinished(let finished) where finished.recording == id: return (finished, interruption)
                case .wasInterrupted(let cut): interruption = cut
                case .runtimeError: Output.notice("camclient: \(signal.event.line)")
                default: break
                }
            case .notice(.ended(let error)): throw error
            }
        }
    }
}
