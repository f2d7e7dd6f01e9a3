import ArbiterProtocol
import CLinux
import FrameStream
import Glibc

/// The writer thread: encodes, and has files written. It waits until a recording's frame is in the file, at most as
/// long as a file may take. It never waits for a photo's file, which may be another client's than the recording's.
/// Other threads post its methods; envelopes among their arguments are the writer's to close.
final class WriterLoop {
    private let commands: Mailbox<WriterLoop>
    private let emit: @Sendable (RecorderEvent) -> Void
    /// Called for each recording and photo that is finished.
    private let done: @Sendable () -> Void
    private var current: RunningRecording?
    private let house: FileWriters
    private let photos: PhotoDesk
    private var isStopping = false

    init(
        _ commands: Mailbox<WriterLoop>, lab: Mailbox<PhotoLab>, emit: @escaping @Sendable (RecorderEvent) -> Void,
        patience: Int64, done: @escaping @Sendable () -> Void
    ) {
        (self.commands, self.emit, self.done) = (commands, emit, done)
        house = FileWriters(patience: patience)
        photos = PhotoDesk(house) { captured in
            emit(.photoCaptured(captured))
            done()
            lab.post { $0.isWritten() }
        }
    }

    func run() {
        house.prepare()
        while !isStopping || !photos.isEmpty {
            photos.wait(beside: commands.descriptor)
            commands.runAll(on: self)
            photos.turn()
            // After the files that were begun: they do not wait for it.
            house.prepare()
        }
    }

    func stop() {
        isStopping = true
        if let current { finish(current.ticket, .sessionEnded, .none) }
    }

    func write(_ photo: PhotoDesk.Order) { photos.take(photo) }

    func begin(_ ticket: RecordingTicket, _ order: RunningRecording.Order) {
        current = RunningRecording(ticket, order, in: house)
        goOn(ticket) { (recording) throws(RunningRecording.End) in try recording.begin() }
    }

    func take(_ picture: KeptPicture, interval: Int64, _ facts: FrameFacts, for ticket: RecordingTicket) {
        goOn(ticket) { (recording) throws(RunningRecording.End) in
            try recording.take(picture, interval: interval, facts)
        }
        ticket.taken(picture.layout.bytes)
    }

    /// Does something with the running recording, which may end it. A recording that has ended is passed over.
    func goOn(_ ticket: RecordingTicket, _ step: (RunningRecording) throws(RunningRecording.End) -> Void) {
        guard let current, current.ticket === ticket else { return }
        do throws(RunningRecording.End) {
            try step(current)
            if let fault = current.takeSoundFault() {
                emit(
                    .runtimeError(
                        code: "recording", message: "The sound of recording \(ticket.id) broke off: \(fault)."))
            }
        } catch {
            if let words = error.words {
                emit(.runtimeError(code: "recording", message: "Recording \(ticket.id) \(words)."))
            }
            finish(ticket, error.why, .none)
        }
    }

    /// - Parameter time: from when on the items count, in nanoseconds of CLOCK_MONOTONIC; `now` is of the same clock.
    func append(
        _ kind: String, at time: Int64, _ items: [String], now: Int64, to ticket: RecordingTicket
    ) throws(BrokerError) {
        guard let current, current.ticket === ticket else {
            throw BrokerError(.notRecording, "The recording has ended.")
        }
        try current.append(kind, at: time, items, now: now)
    }

    func finish(_ ticket: RecordingTicket, _ why: RecordingEnd, _ reason: RecordingReason) {
        // It may have ended by itself while the order was on its way.
        guard let current, current.ticket === ticket else { return }
        self.current = nil
        emit(.recordingFinished(current.finish(why, reason)))
        done()
        // Otherwise an encoder's memory, tens of MiB, stays in the heaps of its threads, and the next takes its own.
        // Here giving it back delays no frame: they wait in the mailbox.
        camarb_give_back_heap()
    }
}
