import ArbiterProtocol
import CLinux
import Glibc
import Synchronization

/// The thread that completes recordings of a recorder core that was lost. Neither the camera nor a running recording waits for
/// it. It begins with the first request; most recorder cores never have one.
final class Completer: Sendable {
    typealias Reply = Capture.Reply<CompletedRecording>

    /// From the request to the answer, in nanoseconds, unless the file hangs: less than a broker waits (`Completions.timeMax`).
    /// Enough for half an hour of large frames on a busy machine (recording.md has figures); a longer one is left as it is.
    static let timeMax: Int64 = 4_000_000_000
    /// Requests that may wait. A lost recorder core leaves its running recording, and a few that it was finishing.
    static let waitingMax = 16

    private struct State {
        var worker: Worker?
        var waiting = 0
        var isStopping = false
    }
    private let patience: Int64
    private let state = Mutex(State())
    private let mailbox = Mailbox<FileWriters>()

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
        mailbox.post { [self] house in
            reply(complete(file, until: deadline, house))
            state.withLock { $0.waiting -= 1 }
        }
    }

    /// Waits for the request under way, and leaves the waiting ones' files as they are.
    func shutDown() {
        let worker = state.withLock { state in
            state.isStopping = true
            return state.worker
        }
        mailbox.post { _ in }
        worker?.join()
    }

    private func run() {
        let house = FileWriters(patience: patience)
        repeat {
            mailbox.wait()
            mailbox.runAll(on: house)
        } while !state.withLock { $0.isStopping }
    }

    private func complete(
        _ file: Int32, until deadline: Int64, _ house: FileWriters
    ) -> Result<CompletedRecording, BrokerError> {
        guard !state.withLock({ $0.isStopping }) else {
            close(file)
            return .failure(BrokerError(.failed, "The recorder core ends; the file is left as it is."))
        }
        do throws(CompletionFault) {
            let writer: FileWriter
            do throws(FileFault) { writer = try house.start(file, again: true) } catch { throw .file(error) }
            return .success(try RecordingCompletion.complete(writer, until: deadline))
        } catch { return .failure(BrokerError(.unsuitableFile, "The file is left as it is: \(error.words).")) }
    }
}
