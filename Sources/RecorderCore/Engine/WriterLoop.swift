import ArbiterProtocol
import CLinux
import FrameStream
import Glibc
import Synchronization

/// What capture thread and writer thread share about one recording.
final class RecordingTicket: Sendable {
    let id: RecordingID
    private struct State {
        var queuedBytes = 0
        var framesLeftOut: UInt64 = 0
        var isOver = false
    }
    private let state = Mutex(State())

    /// Pictures that may wait for the encoder: a second of 720p. More would only be later.
    static let queuedBytesMax = 48 << 20

    init(_ id: RecordingID) { self.id = id }

    /// The writer ended it by itself: a full disk, a limit.
    var isOver: Bool { state.withLock { $0.isOver } }
    func end() { state.withLock { $0.isOver = true } }

    /// Frames for which the encoder was too far behind.
    var framesLeftOut: UInt64 { state.withLock { $0.framesLeftOut } }

    /// - Returns: false when the encoder is too far behind: the frame is left out.
    func reserve(_ bytes: Int) -> Bool {
        state.withLock { state in
            // One picture always fits, whatever its size.
            guard state.queuedBytes == 0 || state.queuedBytes + bytes <= Self.queuedBytesMax else {
                state.framesLeftOut += 1
                return false
            }
            state.queuedBytes += bytes
            return true
        }
    }
    func taken(_ bytes: Int) { state.withLock { $0.queuedBytes -= bytes } }
}

/// Work for the writer thread. Files in it are envelopes, and the writer's to close.
enum WriterWork: Sendable {
    case begin(RecordingTicket, file: Int32, layout: PictureLayout, frameRate: Double, RecordingOptions)
    case frame(RecordingTicket, KeptPicture, interval: Int64)
    case finish(RecordingTicket, RecordingEnd)
    case photo(PhotoDesk.Order)
    case stop
}

/// The writer thread: encodes, and has files written.
///
/// It waits until a recording's frame is in the file, at most as long as a file may take. It never waits for a photo's
/// file, which may be another client's than the recording's.
final class WriterLoop {
    private let mailbox: Mailbox<WriterWork>
    private let emit: @Sendable (RecorderEvent) -> Void
    /// A recording or a photo is off the desk.
    private let done: @Sendable () -> Void
    private var current: Current?
    private let house = FileWriters()
    private let photos: PhotoDesk

    private struct Current {
        var ticket: RecordingTicket
        var file: OutputFile
        /// Nil where even the header could not be written.
        var matroska: MatroskaFile?
        var options: RecordingOptions
    }

    init(
        _ mailbox: Mailbox<WriterWork>, lab: Mailbox<PhotoLab.Work>, emit: @escaping @Sendable (RecorderEvent) -> Void,
        done: @escaping @Sendable () -> Void
    ) {
        self.mailbox = mailbox
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
                switch work {
                case .begin(let ticket, let file, let layout, let frameRate, let options):
                    begin(ticket, file, layout, frameRate, options)
                case .frame(let ticket, let picture, let interval):
                    append(ticket, picture, interval)
                    ticket.taken(picture.layout.bytes)
                case .finish(let ticket, let why): finish(ticket, why)
                case .photo(let order): photos.take(order)
                case .stop:
                    if let current { finish(current.ticket, .sessionEnded) }
                    isStopping = true
                }
            }
            photos.turn()
            // Behind what was begun: that does not wait for it.
            house.prepare()
        }
    }

    private func begin(
        _ ticket: RecordingTicket, _ envelope: Int32, _ layout: PictureLayout, _ frameRate: Double,
        _ options: RecordingOptions
    ) {
        let file = OutputFile(envelope, in: house, bytesMax: options.maxBytes.map { Int64(clamping: $0) })
        current = Current(ticket: ticket, file: file, matroska: nil, options: options)
        if case .system(let fault)? = file.failure {
            emit(
                .runtimeError(code: "recording", message: "Recording \(ticket.id) cannot begin: \(fault.words)."))
            return finish(ticket, Self.end(.system(fault)))
        }
        do throws(MediaFault) {
            current?.matroska = try MatroskaFile(file: file, layout: layout, frameRate: frameRate)
            if let failure = file.failure { finish(ticket, Self.end(failure)) }
        } catch {
            emit(
                .runtimeError(code: "recording", message: "Recording \(ticket.id) cannot begin: \(error.description)."))
            finish(ticket, file.failure.map(Self.end) ?? .writeError)
        }
    }

    private func append(_ ticket: RecordingTicket, _ picture: KeptPicture, _ interval: Int64) {
        guard let current, current.ticket === ticket, let matroska = current.matroska else { return }
        if let most = current.options.maxDuration {
            let after = matroska.durationAfter(captured: picture.captured, interval: interval)
            // A microsecond of grace: a limit of 2 s holds 60 frames of 30 a second.
            if Double(after) / 1e9 > most + 1e-6 { return finish(ticket, .durationLimit) }
        }
        do throws(MediaFault) {
            if try matroska.append(picture.bytes, captured: picture.captured, interval: interval) { return }
            finish(ticket, matroska.file.failure.map(Self.end) ?? .writeError)
        } catch {
            emit(.runtimeError(code: "recording", message: "Recording \(ticket.id) broke off: \(error.description)."))
            finish(ticket, matroska.file.failure.map(Self.end) ?? .writeError)
        }
    }

    private func finish(_ ticket: RecordingTicket, _ why: RecordingEnd) {
        // It may have ended by itself while the order was on its way.
        guard let current, current.ticket === ticket else { return }
        ticket.end()
        current.matroska?.finish()
        self.current = nil
        emit(
            .recordingFinished(
                RecorderEvent.Recording(
                    id: ticket.id, why: why, frames: current.matroska?.frames ?? 0,
                    duration: current.matroska?.duration ?? 0, bytes: UInt64(current.file.committed),
                    lastCapture: current.matroska?.lastCapture ?? 0, framesLeftOut: ticket.framesLeftOut)))
        done()
        // Otherwise an encoder's memory, tens of MiB in pieces of all sizes, stays in the heaps of its threads, and the
        // next encoder, in other threads, takes its own. Here, on the writer's thread, giving it back delays no frame:
        // frames of a recording that begins meanwhile wait in the mailbox.
        camarb_give_back_heap()
    }

    private static func end(_ failure: OutputFile.Failure) -> RecordingEnd {
        switch failure {
        case .sizeLimit: .sizeLimit
        case .system(.system(let code)): [ENOSPC, EDQUOT, EFBIG].contains(code) ? .diskFull : .writeError
        case .system: .writeError
        }
    }
}
