import ArbiterProtocol
import Camarb
import Workbench

/// The recordings of one command: one, or as many as interruptions make of it.
///
///     recording ──stopped, or a limit──▶ over
///         │  ▲
///     cut │  │ the session runs again
///         ▼  │
///     interrupted ──Ctrl-C, or the session stops for good──▶ over
final class RecordingSeries {
    struct Part {
        var file: String?
        var finished: RecordingFinished
        var interruption: Interruption?

        /// By an interruption: the session runs again when that is over.
        var isCut: Bool { finished.why == .interrupted || finished.why == .recorderReset }
        var isWanted: Bool { finished.why == .stopped || finished.why == .durationLimit }
    }

    private let command: Record
    /// Attached before each recording; nil: they are silent films.
    private let sound: RecordingMicrophone?
    private let inbox: Inbox
    private var files: RecordingFiles
    private var gaps = RecordingGaps()
    private var recorded = Duration.zero
    private var interruption: Interruption?
    /// The broker has refused a recording, and the notice that says why is on its way.
    private var isHeldUp = false

    init(_ command: Record, into files: RecordingFiles, with sound: RecordingMicrophone?, _ inbox: Inbox) {
        (self.command, self.files, self.sound, self.inbox) = (command, files, sound, inbox)
    }

    private var goesOn: Bool { command.again }
    private var duration: Duration? { command.duration?.duration }

    func record(_ session: SessionHandle, into first: NewFile) async throws -> Bool {
        var target = first
        while true {
            let left = duration.map { $0 - recorded }
            guard let id = try await begin(session, target, left) else {
                if try await runsAgain() { continue }
                target.removeIfEmpty()
                return inbox.session.stop == nil
            }
            let part = try await end(of: id, session, target, left)
            // A part whose length nobody knows takes nothing off.
            recorded += part.finished.duration ?? .zero
            command.report(part)
            if goesOn { try writeGaps() }
            guard goesOn, part.isCut, duration.map({ recorded < $0 }) ?? true else { return part.isWanted }
            guard try await runsAgain() else { return inbox.session.stop == nil }
            target = try files.next()
        }
    }

    /// - Returns: nil where the session was interrupted in this very moment, and the series goes on.
    private func begin(
        _ session: SessionHandle, _ target: NewFile, _ left: Duration?
    ) async throws -> RecordingID? {
        do throws(BrokerError) {
            try await sound?.attach(to: session)
            let id = try await session.startRecording(
                to: target.descriptor, options: command.choices.options(for: left, target.fileType))
            // The one before it is over.
            interruption = nil
            return id
        } catch {
            guard goesOn, error.kind == .interrupted else {
                target.removeIfEmpty()
                throw error
            }
            isHeldUp = true
            return nil
        }
    }

    private func end(
        of id: RecordingID, _ session: SessionHandle, _ target: NewFile, _ left: Duration?
    ) async throws -> Part {
        let finished: RecordingFinished
        do { finished = try await wait(for: id, session, left) } catch {
            if target.hasBytes {
                Output.notice(
                    "camclient: \(try target.keepUnfinished()) plays as far as it goes; it is not known to be whole.")
            }
            target.removeIfEmpty()
            throw error
        }
        var part = Part(finished: finished, interruption: interruption)
        // A recording whose end is known and that has no frame is no film. Without --again its file stays as it is.
        let isEmpty = finished.frames == 0 && finished.bytes ?? 0 > 0 && (goesOn || files.isFolder)
        guard !isEmpty, target.hasBytes else {
            if isEmpty { target.remove() } else { target.removeIfEmpty() }
            return part
        }
        // Bytes are told of a file that is known to be whole, and of no other.
        let path = finished.bytes ?? 0 > 0 ? try target.keep() : try target.keepUnfinished()
        part.file = path
        files.keeps(path)
        if goesOn {
            gaps.kept(path, finished, firstCapture: CaptureTime.first(in: target.descriptor), isCut: part.isCut)
        }
        return part
    }

    private func writeGaps() throws(Failure) { if let list = files.gaps { try writeTextAtOnce(gaps.text, to: list) } }

    private func wait(
        for id: RecordingID, _ session: SessionHandle, _ left: Duration?
    ) async throws -> RecordingFinished {
        // The recorder ends it by captured time; this is for one that is late.
        let end = left.map { inbox.alarm(in: $0 + .seconds(2)) }
        let begin = Moment.now
        var tick = inbox.alarm(in: .seconds(1))
        var tooLate: Int?
        defer { Output.endProgress() }
        while true {
            switch await inbox.next() {
            case .alarm(tick):
                if Output.isErrorTerminal {
                    Output.progress("recording \((Moment.now - begin).shortText), Ctrl-C stops")
                    tick = inbox.alarm(in: .seconds(1))
                }
            case .alarm(let alarm):
                if alarm == tooLate {
                    throw Failure(.answerIsNo, "The recording was not finished within \(Record.finishMax.seconds) s.")
                }
                guard alarm == end else { break }
                fallthrough
            case .interrupt:
                guard tooLate == nil else { break }
                tooLate = inbox.alarm(in: Record.finishMax)
                do throws(BrokerError) { try await session.stopRecording() } catch {
                    // It ended by itself in this very moment; its end is on the way.
                    guard error.kind == .notRecording else { throw error }
                }
            case .notice(.event(let signal)):
                if case .recordingFinished(let finished) = try see(signal.event), finished.recording == id {
                    return finished
                }
            case .notice(.ended(let error)): throw error
            }
        }
    }

    /// Waits until the session runs again. Returns false: Ctrl-C, or the session has stopped for good.
    private func runsAgain() async throws -> Bool {
        while isHeldUp || !inbox.session.isRunning, inbox.session.stop == nil {
            switch await inbox.next() {
            case .interrupt: return false
            case .alarm: break
            case .notice(.event(let signal)): _ = try see(signal.event)
            case .notice(.ended(let error)): throw error
            }
        }
        return inbox.session.stop == nil
    }

    @discardableResult private func see(_ event: SessionEvent) throws(Failure) -> SessionEvent {
        switch event {
        case .wasInterrupted(let now): interruption = now
        case .interruptionEnded(let end): if gaps.ended(end), goesOn { try writeGaps() }
        case .didStartRunning: isHeldUp = false
        case .sessionStopped, .runtimeError: Output.notice("camclient: \(event.line)")
        default: break
        }
        return event
    }
}
