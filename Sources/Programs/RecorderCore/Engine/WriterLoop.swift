import ArbiterProtocol
import CLinux
import FrameStream
import Glibc

/// Work for the writer thread. Files in it are envelopes, and the writer's to close.
enum WriterWork: Sendable {
    case begin(RecordingTicket, RunningRecording.Order)
    case frame(RecordingTicket, KeptPicture, interval: Int64, FrameFacts)
    /// A frame that is not in the file, since its recording is paused.
    case passed(RecordingTicket, captured: Int64)
    case pause(RecordingTicket)
    case resume(RecordingTicket)
    /// - Parameter time: from when on the items count, in nanoseconds of CLOCK_MONOTONIC; `now` is of the same clock.
    case metadata(RecordingTicket, kind: String, time: Int64, items: [String], now: Int64, Capture.Reply<Void>)
    case finish(RecordingTicket, RecordingEnd, RecordingReason)
    case photo(PhotoDesk.Order)
    case stop
}

/// The writer thread: encodes, and has files written. It waits until a recording's frame is in the file, at most as
/// long as a file may take. It never waits for a photo's file, which may be another client's than the recording's.
final class WriterLoop {
    private let mailbox: Mailbox<WriterWork>
    private let emit: @Sendable (RecorderEvent) -> Void
    /// A recording or a photo is off the desk.
    private let done: @Sendable () -> Void
    private var current: RunningRecording?
    private let house: FileWriters
    private let photos: PhotoDesk

    init(
        _ mailbox: Mailbox<WriterWork>, lab: Mailbox<PhotoLab.Work>, emit: @escaping @Sendable (RecorderEvent) -> Void,
        patience: Int64, done: @escaping @Sendable () -> Void
    ) {
        self.mailbox = mailbox
        house = FileWriters(patience: patience)
        self.emit = emit
        self.done = done
        photos = PhotoDesk(house) { captured in
            emit(.photoCaptured(captured))
            done()
            lab.post(.isWritten)
        }
    }

    func run() {
        var isStopping = false
        house.prepare()
        while !isStopping || !photos.isEmpty {
            photos.wait(beside: mailbox.descriptor)
            for work in mailbox.takeAll() {
                if case .stop = work { isStopping = true }
                carryOut(work)
            }
            photos.turn()
            // Behind what was begun: that does not wait for it.
            house.prepare()
        }
    }

    private func carryOut(_ work: WriterWork) {
        switch work {
        case .begin(let ticket, let order): begin(ticket, order)
        case .frame(let ticket, let picture, let interval, let facts):
            goOn(ticket) { (recording) throws(RunningRecording.End) in
                try recording.take(picture, interval: interval, facts)
            }
            ticket.taken(picture.layout.bytes)
        case .passed(let ticket, let captured):
            goOn(ticket) { (recording) throws(RunningRecording.End) in try recording.pass(captured: captured) }
        case .pause(let ticket): goOn(ticket) { (recording) in recording.pause() }
        case .resume(let ticket): goOn(ticket) { (recording) in recording.resume() }
        case .metadata(let ticket, let kind, let time, let items, let now, let reply):
            reply(
                Result { () throws(BrokerError) in
                    guard let current, current.ticket === ticket else {
                        throw BrokerError(.notRecording, "The recording has ended.")
                    }
                    try current.append(kind, at: time, items, now: now)
                })
        case .finish(let ticket, let why, let reason): finish(ticket, why, reason)
        case .photo(let order): photos.take(order)
        case .stop: if let current { finish(current.ticket, .sessionEnded, .none) }
        }
    }

    private func begin(_ ticket: RecordingTicket, _ order: RunningRecording.Order) {
        current = RunningRecording(ticket, order, in: house)
        goOn(ticket) { (recording) throws(RunningRecording.End) in try recording.begin() }
    }

    /// Does something with the recording that runs, which may end it. One that has ended is passed over.
    private func goOn(_ ticket: RecordingTicket, _ step: (RunningRecording) throws(RunningRecording.End) -> Void) {
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

    private func finish(_ ticket: RecordingTicket, _ why: RecordingEnd, _ reason: RecordingReason) {
        // It may have ended by itself while the order was on its way.
        guard let current, current.ticket === ticket else { return }
        let finished = current.finish(why, reason)
        self.current = nil
        emit(.recordingFinished(finished))
        done()
        // Otherwise an encoder's memory, tens of MiB, stays in the heaps of its threads, and the next takes its own.
        // Here giving it back delays no frame: they wait in the mailbox.
        camarb_give_back_heap()
    }
}
