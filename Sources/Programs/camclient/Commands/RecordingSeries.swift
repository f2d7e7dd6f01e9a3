import Camarb
import Glibc
import Workbench
import WorkbenchCommands

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
    private let sound: RecordingMicrophone?
    private let inbox: Inbox
    private var files: RecordingFiles
    private var gaps = RecordingGaps()
    private var recorded = Duration.zero
    private var interruption: Interruption?
    /// The broker has refused a recording, and the interruption's notice has not arrived.
    private var isHeldUp = false

    init(_ command: Record, into files: RecordingFiles, with sound: RecordingMicrophone?, _ inbox: Inbox) {
        (self.command, self.files, self.sound, self.inbox) = (command, files, sound, inbox)
    }

    func record(_ session: SessionHandle, into first: NewFile) async throws -> Bool {
        var target = first
        while true {
            let left = command.duration.map { $0.duration - recorded }
            guard let id = try await begin(session, target, left) else {
                if try await runsAgain() { continue }
                target.removeIfEmpty()
                return inbox.session.stop == nil
            }
            let part = try await end(of: id, session, target, left)
            recorded += part.finished.duration ?? .zero
            command.report(part)
            if command.again { try writeGaps() }
            guard command.again, part.isCut, command.duration.map({ recorded < $0.duration }) ?? true else {
                return part.isWanted
            }
            guard try await runsAgain() else { return inbox.session.stop == nil }
            target = try files.next()
        }
    }

    /// - Returns: nil where the session has just been interrupted, and the series goes on.
    private func begin(
        _ session: SessionHandle, _ target: NewFile, _ left: Duration?
    ) async throws -> RecordingID? {
        do throws(BrokerError) {
            try await sound?.attach(to: session)
            let id = try await session.startRecording(
                to: target.descriptor, options: command.choices.options(for: left, target.fileType))
            interruption = nil
            return id
        } catch {
            guard command.again, error.kind == .interrupted else {
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
                    "camclient: \(try target.keep(isWhole: false)) plays as far as it goes; it is not known to be whole."
                )
            }
            target.removeIfEmpty()
            throw error
        }
        var part = Part(finished: finished, interruption: interruption)
        let isEmpty = finished.frames == 0 && finished.bytes ?? 0 > 0 && (command.again || files.isFolder)
        guard !isEmpty, target.hasBytes else {
            if isEmpty { target.remove() } else { target.removeIfEmpty() }
            return part
        }
        // The notice has bytes only where the file is known to be whole.
        let path = try target.keep(isWhole: finished.bytes ?? 0 > 0)
        part.file = path
        files.keeps(path)
        if command.again {
            gaps.kept(path, finished, firstCapture: CaptureTime.first(in: target.descriptor), isCut: part.isCut)
        }
        return part
    }

    private func writeGaps() throws(Failure) { if let list = files.gaps { try writeTextAtOnce(gaps.text, to: list) } }

    private func wait(
        for id: RecordingID, _ session: SessionHandle, _ left: Duration?
    ) async throws -> RecordingFinished {
        // The recorder ends it by captured time; this alarm is for a late recorder.
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
                    // It has just ended by itself; its notice is on the way.
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

    /// - Returns: false after Ctrl-C, and where the session has stopped for good.
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
        case .interruptionEnded(let end): if gaps.ended(end), command.again { try writeGaps() }
        case .didStartRunning: isHeldUp = false
        case .sessionStopped, .runtimeError: Output.notice("camclient: \(event.line)")
        default: break
        }
        return event
    }
}

/// The gaps between the files of one command, as JSON beside them: for each interruption that cut a recording, its cause, and the
/// capture times of the last frame before it and of the first frame after it.
struct RecordingGaps {
    private struct Gap {
        let before: String
        let cut: RecordingFinished
        var interruption: Duration?
        var after: String?
        var firstCapture: Moment?

        var json: JSONObject {
            let between = cut.lastCapture.flatMap { last in firstCapture.map { ($0 - last).wholeNanoseconds } }
            return [
                "fileBefore": before, "fileAfter": after, "lastCapture": cut.lastCapture?.nanoseconds,
                "firstCapture": firstCapture?.nanoseconds, "nanoseconds": between, "cause": cut.cause?.wireName,
                "interrupter": cut.interrupter?.wireName, "interruptionNanoseconds": interruption?.wholeNanoseconds,
            ]
        }
    }

    private var files: [String] = []
    private var gaps: [Gap] = []
    private var cut: RecordingID?
    /// The last interruption that cut a recording. When a recorder core fails, it ends before its recording is completed.
    private var ended: InterruptionEnd?

    mutating func kept(_ path: String, _ finished: RecordingFinished, firstCapture: Moment?, isCut: Bool) {
        let name = path.fileName
        if let last = gaps.indices.last, gaps[last].after == nil {
            (gaps[last].after, gaps[last].firstCapture) = (name, firstCapture)
        }
        files.append(name)
        guard isCut else { return }
        let before = ended.flatMap { $0.recording == finished.recording ? $0 : nil }
        cut = before == nil ? finished.recording : nil
        gaps.append(Gap(before: name, cut: finished, interruption: before?.duration))
    }

    mutating func ended(_ interruption: InterruptionEnd) -> Bool {
        ended = interruption
        guard let cut, interruption.recording == cut, let last = gaps.indices.last else { return false }
        gaps[last].interruption = interruption.duration
        self.cut = nil
        return true
    }

    var text: String {
        let lines = gaps.map { "\n    " + JSONEncoding.text(of: $0.json) }.joined(separator: ",")
        return
            "{\n  \"files\": \(JSONEncoding.text(of: files)),\n  \"gaps\": [\(lines)\(gaps.isEmpty ? "" : "\n  ")]\n}\n"
    }
}

/// The capture time of a recording's first frame, as its file has it: the Matroska tag `FIRST_CAPTURE`. The preview may have
/// other frames, and a recording's length counts the last frame's nominal display and no pause.
enum CaptureTime {
    /// The tags lie before the pictures, behind a reserved index of 64 KiB: this is more than all of that.
    private static let headMax = 1 << 20
    /// A TagName (RFC 9559) with its size and text, and the id of the TagString behind it.
    private static let tag: [UInt8] = [0x45, 0xa3, 0x8d] + Array("FIRST_CAPTURE".utf8) + [0x44, 0x87]

    static func first(in file: Int32) -> Moment? {
        var head = [UInt8](repeating: 0, count: headMax)
        let count = pread(file, &head, head.count, 0)
        let starts = 0..<max(0, count - tag.count)
        guard let start = starts.first(where: { head[$0] == tag[0] && head[$0...].starts(with: tag) }) else {
            return nil
        }
        // A size of one byte, whose topmost bit marks it as one, and digits.
        let text = head[(start + tag.count)...]
        let digits = text.dropFirst().prefix(Int(text.first ?? 0) & 0x7f)
        return Int64(String(decoding: digits, as: UTF8.self)).flatMap { $0 > 0 ? Moment(nanoseconds: $0) : nil }
    }
}
