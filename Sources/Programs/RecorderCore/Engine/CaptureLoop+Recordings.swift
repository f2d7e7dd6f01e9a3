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
            let session = open.actsFor
            open.actsFor = nil
            open.recordings.removeAll(where: \.ticket.isOver)
            if let running = open.recordings.first(where: { $0.session == session }) {
                throw BrokerError(
                    .alreadyRecording, "Recording \(running.ticket.id) runs; stop it before another one is started.")
            }
            guard open.recordings.count < Bound.recordingsMax,
                let thread = recorders.take(beside: open.recordings)
            else {
                throw BrokerError(
                    .limitExceeded,
                    "\(open.recordings.count) recordings of the camera run, which is the most; stop one first.")
            }
            let ticket = RecordingTicket(recording, wantsObjects: options.metadata.contains { $0.type == .objects })
            let picture = session.flatMap { open.pictures[$0] }
            let running = RecordingUnderWay(ticket, of: session, picture?.layout ?? open.layout, on: thread)
            open.recordings.append(running)
            writing += 1
            let order = RunningRecording.Order(
                file: file, layout: running.layout,
                frameRate: min(open.settings.frameRate, picture?.frameRate ?? open.settings.frameRate),
                options: options, microphone: open.microphonesSession == session ? open.microphone : nil,
                orientation: orientation(open), ordered: clock.now)
            running.post { $0.begin(ticket, order) }
        } catch {
            close(file)
            throw error
        }
    }

    /// The next recording or microphone that is ordered is this session's: it records its picture, and its own sound. A broker
    /// that says it for none has them all for the holder.
    package func actFor(_ id: GrantID, _ session: SessionID) throws(BrokerError) { try granted(id).actsFor = session }

    func isFinished(onThread place: Int) {
        writing -= 1
        recorders.isFinished(at: place)
    }

    private func running(_ recording: RecordingID) -> RecordingUnderWay? {
        grant?.recordings.first { $0.ticket.id == recording }
    }

    /// A recording that has ended already is passed over.
    package func stopRecording(_ recording: RecordingID, _ why: RecordingEnd, _ reason: RecordingReason) {
        guard let running = running(recording) else { return }
        grant?.recordings.removeAll { $0 === running }
        running.finish(why, reason)
    }

    /// Recordings of other sessions than the one that goes on end here.
    func resumeRecordings(_ open: OpenGrant, from before: SessionID, to now: SessionID) {
        for recording in open.recordings where recording.session ?? before != before {
            recording.finish(.interrupted, .none)
        }
        open.recordings.removeAll { $0.session ?? before != before }
        for recording in open.recordings { recording.session = now }
        if open.microphonesSession ?? before == before { open.microphonesSession = now }
        open.actsFor = nil
    }

    /// No frame and no sound that is captured after the answer gets into the file, until it is resumed. A recording that has
    /// ended by itself is passed over: its notice is on the way.
    package func setPaused(_ recording: RecordingID, _ isPaused: Bool) {
        guard let running = running(recording), running.isPaused != isPaused else { return }
        running.isPaused = isPaused
        running.post { [ticket = running.ticket] loop in
            loop.goOn(ticket) { isPaused ? $0.pause() : $0.resume() }
        }
    }

    /// Adds items to a kind of metadata that the recording's options declare, in the form of its type, from a time of
    /// CLOCK_MONOTONIC on. The recording's thread answers: it has the file's times.
    package func appendMetadata(
        _ recording: RecordingID, kind: String, time: Int64, items: [String], _ reply: @escaping Capture.Reply<Void>
    ) {
        guard let running = running(recording) else {
            return reply(.failure(BrokerError(.notRecording, "Recording \(recording) has ended.")))
        }
        let now = clock.now
        running.post { [ticket = running.ticket] loop in
            reply(Result { () throws(BrokerError) in try loop.append(kind, at: time, items, now: now, to: ticket) })
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
        (open.microphonesSession, open.actsFor) = (open.actsFor, nil)
    }

    func detachMicrophone(_ id: GrantID) throws(BrokerError) {
        let open = try granted(id)
        open.microphone?.close()
        (open.microphone, open.microphonesSession) = (nil, nil)
    }

    /// The recordings that a frame is for, with room for it in their queues.
    func recordingsThatTake(_ open: OpenGrant, at now: Int64) -> [RecordingUnderWay] {
        let running = open.recordings.filter { !$0.ticket.isOver }
        let share = RecordingTicket.share(of: running.count)
        return running.filter { recording in
            let ticket = recording.ticket
            if recording.isPaused {
                recording.post { loop in
                    loop.goOn(ticket) { (recording) throws(RunningRecording.End) in try recording.pass(captured: now) }
                }
                return false
            }
            guard open.takes(open.picture(of: recording)) else { return false }
            recording.hasBegun = true
            if ticket.reserve(recording.layout.bytes, of: share) { return true }
            if let count = recording.overrun.note(at: now) {
                emit(
                    .runtimeError(
                        code: "recording-overrun",
                        message: """
                            Encoding is slower than the camera: \(count) \(count == 1 ? "frame was" : "frames were") left out \
                            of recording \(ticket.id) since this was last said.
                            """,
                        recording: ticket.id))
            }
            return false
        }
    }

    func orientation(_ open: OpenGrant) -> UInt8 {
        open.settings.exifOrientation(of: source?.capabilities.position ?? .external).rawValue
    }
}
