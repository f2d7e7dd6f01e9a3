package import ArbiterProtocol
import CLinux
import FrameStream
import Glibc

extension CaptureLoop {
    /// Records from the next frame on; `.recordingFinished` follows an answer without error.
    /// - Parameter file: an envelope, as of a photo; one whose file cannot be written to ends the recording with
    ///   `.writeError`. This function's, also when it throws.
    package func startRecording(
        _ id: GrantID, _ recording: RecordingID, _ file: Int32, _ options: RecordingOptions
    ) throws(BrokerError) {
        do throws(BrokerError) {
            let open = try granted(id)
            if let running = open.recording?.ticket, !running.isOver {
                throw BrokerError(
                    .alreadyRecording, "Recording \(running.id) runs; stop it before another one is started.")
            }
            let ticket = RecordingTicket(recording, wantsObjects: options.metadata.contains { $0.type == .objects })
            open.recording = RecordingUnderWay(ticket: ticket)
            writing += 1
            let order = RunningRecording.Order(
                file: file, layout: open.layout, frameRate: open.settings.frameRate, options: options,
                microphone: open.microphone, orientation: orientation(open), ordered: clock.now)
            writer.post { $0.begin(ticket, order) }
        } catch {
            close(file)
            throw error
        }
    }

    /// A recording that has ended already is passed over.
    package func stopRecording(_ recording: RecordingID, _ why: RecordingEnd, _ reason: RecordingReason) {
        guard let ticket = grant?.recording?.ticket, ticket.id == recording else { return }
        grant?.recording = nil
        writer.post { $0.finish(ticket, why, reason) }
    }

    /// No frame and no sound that is captured after the answer gets into the file, until it is resumed. A recording that has
    /// ended by itself is passed over: its notice is on the way.
    package func setPaused(_ recording: RecordingID, _ isPaused: Bool) {
        guard let running = grant?.recording, running.ticket.id == recording, running.isPaused != isPaused else {
            return
        }
        grant?.recording?.isPaused = isPaused
        writer.post { writer in
            writer.goOn(running.ticket) { isPaused ? $0.pause() : $0.resume() }
        }
    }

    /// Adds items to a kind of metadata that the recording's options declare, in the form of its type, from a time of
    /// CLOCK_MONOTONIC on. The writer answers: it has the file's times.
    package func appendMetadata(
        _ recording: RecordingID, kind: String, time: Int64, items: [String], _ reply: @escaping Capture.Reply<Void>
    ) {
        guard let ticket = grant?.recording?.ticket, ticket.id == recording else {
            return reply(.failure(BrokerError(.notRecording, "Recording \(recording) has ended.")))
        }
        let now = clock.now
        writer.post { writer in
            reply(
                Result { () throws(BrokerError) in try writer.append(kind, at: time, items, now: now, to: ticket) })
        }
    }

    /// Replaces the microphone before it, whose sound a running recording gets no more.
    /// - Parameter envelope: with the client's end of a SOCK_SEQPACKET pair; this function's, also when it throws.
    package func attachMicrophone(_ id: GrantID, _ envelope: Int32, _ format: MicrophoneFormat) throws(BrokerError) {
        var mark: Int32 = -1
        let socket = camarb_open_envelope(envelope, &mark)
        close(envelope)
        // The mark shows a completer that a file is being written; nobody completes sound.
        if mark >= 0 { close(mark) }
        guard socket >= 0 else {
            throw BrokerError(.unsuitableFile, "There is no socket in the microphone's envelope (error \(-socket)).")
        }
        let open: OpenGrant
        do throws(BrokerError) { open = try granted(id) } catch {
            close(socket)
            throw error
        }
        let microphone = try Microphone(
            socket: socket, sampleRate: Int(format.sampleRate), channels: Int(format.channels), clock: clock
        ) { [emit] problem in emit(.runtimeError(code: "microphone", message: problem.sentence)) }
        open.microphone?.close()
        open.microphone = microphone
    }

    func detachMicrophone(_ id: GrantID) throws(BrokerError) {
        let open = try granted(id)
        open.microphone?.close()
        open.microphone = nil
    }

    func recordingTakes(_ open: OpenGrant, at now: Int64) -> Bool {
        guard let running = open.recording, !running.ticket.isOver else { return false }
        if running.isPaused {
            writer.post { [ticket = running.ticket] writer in
                writer.goOn(ticket) { (recording) throws(RunningRecording.End) in try recording.pass(captured: now) }
            }
            return false
        }
        open.recording?.hasBegun = true
        if running.ticket.reserve(open.layout.bytes) { return true }
        if let count = open.recording?.overrun.note(at: now) {
            emit(
                .runtimeError(
                    code: "recording-overrun",
                    message: """
                        Encoding is slower than the camera: \(count) \(count == 1 ? "frame was" : "frames were") left out of \
                        recording \(running.ticket.id) since this was last said.
                        """))
        }
        return false
    }

    func orientation(_ open: OpenGrant) -> UInt8 {
        open.settings.exifOrientation(of: source?.capabilities.position ?? .external).rawValue
    }
}
