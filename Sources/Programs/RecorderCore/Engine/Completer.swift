import ArbiterProtocol
import CLinux
import Glibc
import Synchronization

/// The thread that completes recordings of a recorder core that was lost. Nobody waits for it: not the camera, and not
/// the recording that runs. It begins with the first one; most recorder cores never have one.
final class Completer: Sendable {
    typealias Reply = Capture.Reply<CompletedRecording>

    /// From the request to the answer, in nanoseconds, unless the file hangs: less than a broker waits (`Completions.timeMax`).
    /// Enough for half an hour of large frames on a busy machine (recording.md has figures); a longer one is left as it is.
    static let timeMax: Int64 = 4_000_000_000
    /// Requests that wait. A broker has one for the recording that its camera ran, and those just stopped.
    static let waitingMax = 16

    private struct Request: Sendable {
        /// An envelope, the completer's to close.
        var file: Int32
        /// On the monotonic clock, in nanoseconds.
        var deadline: Int64
        var reply: Reply
    }
    private enum Work: Sendable {
        case complete(Request)
        case stop
    }
    private struct State {
        var worker: Worker?
        var waiting = 0
        var isStopping = false
    }
    private let patience: Int64
    private let state = Mutex(State())
    private let mailbox = Mailbox<Work>()

    init(patience: Int64) { self.patience = patience }

    /// May be called from any thread. The answer comes on the completer's, or on this one before the return.
    /// - Parameter file: an envelope whose writer has opened it before; the completer's from here on.
    func complete(_ file: Int32, _ reply: @escaping Reply) {
        let isTaken = state.withLock { state in
            guard !state.isStopping, state.waiting < Self.waitingMax else { return false }
            state.waiting += 1
            if state.worker == nil { state.worker = Worker { [self] in run() } }
            return true
        }
        guard isTaken else {
            close(file)
            return reply(
                .failure(BrokerError(.limitExceeded, "\(Self.waitingMax) files wait already, the most that may.")))
        }
        let deadline = camarb_monotonic_ns() + patience * Self.timeMax
        mailbox.post(.complete(Request(file: file, deadline: deadline, reply: reply)))
    }

    /// Waits for the one that is under way, and leaves those that wait as they are.
    func shutDown() {
        let worker = state.withLock { state in
            state.isStopping = true
            return state.worker
        }
        mailbox.post(.stop)
        worker?.join()
    }

    private func run() {
        let house = FileWriters(patience: patience)
        var isStopping = false
        while !isStopping {
            var waited = pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0)
            _ = camarb_poll(&waited, 1, -1)
            for work in mailbox.takeAll() {
                switch work {
                case .complete(let request):
                    request.reply(complete(request, house))
                    state.withLock { $0.waiting -= 1 }
                case .stop: isStopping = true
                }
            }
        }
    }

    private func complete(_ request: Request, _ house: FileWriters) -> Result<CompletedRecording, BrokerError> {
        guard !state.withLock({ $0.isStopping }) else {
            close(request.file)
            return .failure(BrokerError(.failed, "The recorder core ends; the file is left as it is."))
        }
        do throws(CompletionFault) {
            let writer: FileWriter
            do throws(FileFault) { writer = try house.start(request.file, again: true) } catch { throw .file(error) }
            return .success(try RecordingCompletion.complete(writer, until: request.deadline))
        } catch { return .failure(BrokerError(.unsuitableFile, "The file is left as it is: \(error.words).")) }
    }
}
