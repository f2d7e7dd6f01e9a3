import ArbiterProtocol
import Bus
import Glibc
import System

/// The recorder core of one camera, one process at a time: started when something is asked of it, followed to its end.
///
///     none ──call──▶ running ──▶ leaving (its socket ended) ──▶ none (its process ended)
///
/// Its end is the process's, not the socket's: only then is nothing captured any more.
final class RecorderLife: BusConnectionDelegate {
    struct End {
        /// By itself, for want of work, or by an order.
        var isInOrder: Bool
        var wasKilled: Bool
        /// No handler of `whenGone` waited for it.
        var isUnclaimed: Bool
    }

    enum State {
        case none
        case running(any RecorderProcess, BusConnection)
        case leaving(any RecorderProcess)
    }

    unowned let link: CameraLink
    let camera: String
    let origin: RecorderOrigin
    let loop: EventLoop
    let journal: Journal
    /// A factor of its deadlines; 1 but in tests.
    let patience: Int64

    var state = State.none
    private var endingSeen: RecorderEnding?
    private var wasKilled = false
    private var goneHandlers: [(End) -> Void] = []
    /// Work that waits until a process that is leaving has left.
    private var afterwards: [() -> Void] = []
    private var leaveTimer: Timer?
    private(set) var isStopping = false

    /// To any answer, in nanoseconds: opening a USB camera takes seconds at times, and a recorder core
    /// that takes longer than this has hung in its driver. Clearly longer than the 10 s to a first frame (`Bound.firstFrame`), so
    /// that the core's deadline comes first.
    static let answerTimeMax: Int64 = 15_000_000_000
    /// Of one of its messages. A camera's capabilities with `CameraCapabilities.formatsMax` formats have a quarter of it.
    static let messageBytesMax = 1024 * 1024
    /// From its socket's end to its process's, in nanoseconds.
    static let leaveTimeMax: Int64 = 1_000_000_000

    init(_ link: CameraLink, _ origin: RecorderOrigin) {
        let broker = link.broker
        self.link = link
        self.origin = origin
        (camera, loop, journal, patience) = (link.camera.name, broker.loop, broker.journal, broker.options.patience)
    }

    var isThere: Bool { if case .none = state { false } else { true } }
    var isRunning: Bool { if case .running = state { true } else { false } }
    var isLeaving: Bool { if case .leaving = state { true } else { false } }

    // MARK: Calls

    /// Starts one if there is none. The handler is called once, later. A recorder core that owes an answer for too long
    /// holds its device in a driver that hangs, and is killed.
    func call(
        _ member: String, _ arguments: [WireValue], _ handler: @escaping (Result<BusMessage, BrokerError>) -> Void
    ) {
        // A dry camera has none. Its streams end at once, and all else fails.
        if case .dry = origin {
            let error = BrokerError(member == "CloseStreams" ? .staleGrant : .deviceFault, DryCamera.sentence)
            return loop.defer { handler(.failure(error)) }
        }
        switch state {
        case .leaving:
            afterwards.append { [self] in call(member, arguments, handler) }
            return
        case .none:
            do throws(SystemFault) { try start() } catch {
                let fault = BrokerError(.recorderFault, "The recorder core could not be started: \(error).")
                loop.defer { handler(.failure(fault)) }
                return
            }
        case .running: break
        }
        guard case .running(let process, let connection) = state else { return }
        connection.call(
            path: ObjectPath.recorder, interface: InterfaceName.recorder, member: member, arguments,
            timeout: Self.answerTimeMax
        ) { [self] result in
            // Its sentences go to clients and into the journal.
            handler(result.mapError { BrokerError($0.kind, RecorderNews.cut($0.message, RecorderNews.answerBytesMax)) })
            guard case .failure(let error) = result, error.kind == .noReply else { return }
            if case .running(let present, _) = state, present === process { end(process, connection) }
        }
    }

    func afterLeaving(_ work: @escaping () -> Void) { afterwards.append(work) }

    // MARK: Its end

    /// SIGKILL.
    /// - Returns: false where there is none.
    func kill() -> Bool {
        switch state {
        case .none: return false
        case .running(let process, let connection):
            wasKilled = true
            end(process, connection)
        case .leaving(let process):
            wasKilled = true
            process.signal(SIGKILL)
        }
        return true
    }

    /// It is killed, and none of its messages is read any more: its end is a reset for the session that
    /// was granted on it, and for no other.
    func sentNonsense(_ what: String) {
        guard case .running(let process, let connection) = state else { return }
        connection.close()
        isOver(process, because: what)
    }

    private func isOver(_ process: any RecorderProcess, because nonsense: String) {
        journal.send(
            .warning,
            "camera “\(camera)”: its recorder core said nonsense and is killed: \(RecorderNews.cut(nonsense, Journal.fieldBytesMax))",
            [("CAMARB_CAMERA", camera)])
        wasKilled = true
        state = .leaving(process)
        process.signal(SIGKILL)
        process.socketEnded()
        if endingSeen != nil { leave() } else { armLeaveTimer() }
    }

    private func end(_ process: any RecorderProcess, _ connection: BusConnection) {
        guard !process.signal(SIGKILL) else { return }
        // It is gone, or never named its process: then it has opened nothing.
        connection.close()
        state = .leaving(process)
        process.socketEnded()
        armLeaveTimer()
    }

    func stop() {
        isStopping = true
        if case .running(let process, let connection) = state {
            // It ends with its socket, and by SIGTERM.
            connection.close()
            process.signal(SIGTERM)
        }
    }

    func leaveAlone() {
        isStopping = true
        if case .running(_, let connection) = state { connection.close() }
    }

    /// Its signal `Leaving`.
    func leavesByItself() {
        guard case .running(let process as ServedProcess, _) = state else { return }
        process.isLeaving = true
        // Its process may have ended before this was read.
        if endingSeen != nil { endingSeen = .served(inOrder: true) }
    }

    /// Calls the handler when the process is gone; at once when there is none.
    func whenGone(_ handler: @escaping (End) -> Void) {
        if isThere {
            goneHandlers.append(handler)
        } else {
            handler(End(isInOrder: true, wasKilled: false, isUnclaimed: false))
        }
    }

    func processEnded(_ ending: RecorderEnding) {
        endingSeen = ending
        // Its last messages may still be in the socket; the socket's end follows at once.
        if isRunning { armLeaveTimer() } else { leave() }
    }

    private func armLeaveTimer() {
        loop.arm(&leaveTimer, at: EventLoop.now + patience * Self.leaveTimeMax) { [unowned self] in leaveTimePassed() }
    }

    private func leaveTimePassed() {
        if case .running(let process, let connection) = state {
            connection.close()
            state = .leaving(process)
        }
        guard case .leaving(let process) = state else { return }
        if endingSeen != nil { leave() } else { process.signal(SIGKILL) }
    }

    private func leave() {
        guard let ending = endingSeen else { return }
        let end = End(isInOrder: ending.isInOrder, wasKilled: wasKilled, isUnclaimed: goneHandlers.isEmpty)
        endingSeen = nil
        wasKilled = false
        state = .none
        leaveTimer?.arm(at: nil)
        if !end.isInOrder && !isStopping {
            journal.send(
                .warning, "the recorder core of camera “\(camera)” ended: \(ending.words)", [("CAMARB_CAMERA", camera)])
        }
        let handlers = goneHandlers
        goneHandlers = []
        for handler in handlers { handler(end) }
        link.recorderEnded(end)
        let waiting = afterwards
        afterwards = []
        for work in waiting { work() }
        // All of that is done.
        if end.isInOrder { link.broker.cameras.recorderLeft() }
    }

    // MARK: Its socket

    func connectionReady(_ connection: BusConnection) {}

    func connection(_ connection: BusConnection, received message: BusMessage) {
        if message.kind == .call {
            message.answer(BrokerError(.unknownMethod, "A broker has no methods for its recorder core."))
            return
        }
        guard message.kind == .signal, message.isInterface("org.camarb.Recorder1") else { return }
        link.received(message)
    }

    func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) {
        guard case .running(let process, _) = state else { return }
        switch end {
        case .messageTooLong(let bytes):
            return isOver(
                process, because: "a message of \(bytes) bytes, of which it may have \(Self.messageBytesMax).")
        case .fault(let fault): return isOver(process, because: "\(fault).")
        case .disconnected, .authenticationTimedOut, .tooMuchQueued, .messageNotWhole, .unfit: break
        }
        state = .leaving(process)
        process.socketEnded()
        if endingSeen != nil { leave() } else { armLeaveTimer() }
    }
}
