import ArbiterProtocol
import CLinux
import FrameStream

/// A recording's thread: encodes it, and has its file written. It waits until a frame is in the file, at most as long as a file may
/// take; other recordings have threads of their own, and do not wait for that.
/// Other threads post its methods; envelopes among their arguments are its own to close.
final class RecordingLoop {
    private let commands: Mailbox<RecordingLoop>
    private let house: FileWriters
    private let emit: @Sendable (RecorderEvent) -> Void
    private let done: @Sendable () -> Void
    private var current: RunningRecording?
    private var isStopping = false

    /// - Parameter done: called for each recording that is finished.
    init(
        _ commands: Mailbox<RecordingLoop>, in house: FileWriters, emit: @escaping @Sendable (RecorderEvent) -> Void,
        done: @escaping @Sendable () -> Void
    ) { (self.commands, self.house, self.emit, self.done) = (commands, house, emit, done) }

    func run() {
        while !isStopping {
            commands.wait()
            commands.runAll(on: self)
        }
    }

    func stop() {
        isStopping = true
        if let current { finish(current.ticket, .sessionEnded, .none) }
    }

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
                        code: "recording", message: "The sound of recording \(ticket.id) broke off: \(fault).",
                        recording: ticket.id))
            }
        } catch {
            if let words = error.words {
                emit(
                    .runtimeError(
                        code: "recording", message: "Recording \(ticket.id) \(words).", recording: ticket.id))
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

/// A thread for recordings, one after the other. Its owner, the capture thread, counts the ones that are not finished.
final class RecordingThread {
    let commands: Mailbox<RecordingLoop>
    private let worker: Worker
    /// Recordings that run on it, or are being finished.
    var unfinished = 0

    fileprivate init(_ commands: Mailbox<RecordingLoop>, _ run: @escaping @Sendable () -> Void) {
        self.commands = commands
        worker = Worker(run)
    }

    fileprivate func stop() { commands.post { $0.stop() } }
    fileprivate func join() { worker.join() }
}

/// The threads of a capture's recordings: made as they are wanted, and kept, since a process that writes a file may end with the
/// thread that started it.
/// Threading: the capture thread only.
final class RecordingThreads {
    private let left: LeftWriters
    private let patience: Int64
    private let emit: @Sendable (RecorderEvent) -> Void
    private let finished: @Sendable (Int) -> Void
    private var threads: [RecordingThread] = []

    /// - Parameter left: the processes that hang, which are counted together with those of photos.
    /// - Parameter finished: called on a recording's thread, with its place, for each recording that is finished. Its caller says
    /// `isFinished` on the capture thread.
    init(
        _ left: LeftWriters, patience: Int64, emit: @escaping @Sendable (RecorderEvent) -> Void,
        finished: @escaping @Sendable (Int) -> Void
    ) { (self.left, self.patience, self.emit, self.finished) = (left, patience, emit, finished) }

    /// For one more recording: a thread that has nothing to do, or a new one. Where there are enough, one whose recording does not
    /// run any more, and is only being finished.
    func take(beside running: [RecordingUnderWay]) -> RecordingThread? {
        let free = threads.first { $0.unfinished == 0 } ?? (threads.count < Bound.recordingsMax ? made() : nil)
        let taken = free ?? threads.first { thread in !running.contains { $0.isOn(thread) } }
        taken?.unfinished += 1
        return taken
    }

    func isFinished(at place: Int) { threads[place].unfinished -= 1 }

    private func made() -> RecordingThread {
        let (commands, place) = (Mailbox<RecordingLoop>(), threads.count)
        let thread = RecordingThread(commands) { [left, patience, emit, finished] in
            RecordingLoop(
                commands, in: FileWriters(patience: patience, sharing: left), emit: emit, done: { finished(place) }
            ).run()
        }
        threads.append(thread)
        return thread
    }

    /// Finishes what runs, and waits for it.
    func shutDown() {
        for thread in threads { thread.stop() }
        for thread in threads { thread.join() }
        threads = []
    }
}
