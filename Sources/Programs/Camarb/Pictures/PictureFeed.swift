import ArbiterProtocol
import FrameStream
import Glibc
import Synchronization

/// A session's pictures: what its events mean for them, the stream in use, and the readers that wait. Its lock is taken
/// before a stream's, and never while one is held.
final class PictureFeed: Sendable {
    typealias Outcome = Result<Picture?, BrokerError>

    /// As long as libcamarb waits: a session opens eight streams at once, and then one a second.
    static let pauseBetweenStreams = Duration.seconds(1)

    private struct Waiter {
        let id: UInt64
        let continuation: CheckedContinuation<Outcome, Never>
    }

    private struct State {
        var course = PictureCourse()
        var stream: PictureStream?
        /// Readers that iterate. Without any, nothing is read: the recorder core then copies nothing either.
        var readers = 0
        var waiting: [Waiter] = []
        var nextWaiter: UInt64 = 0
        /// What went wrong with the stream, for the next reader that asks.
        var fault: BrokerError?
        /// No more pictures: why, or that the client has closed the session.
        var end: Outcome?
    }

    private let state = Mutex(State())
    private weak let client: CameraClient?
    private let session: SessionID

    init(client: CameraClient, session: SessionID) {
        self.client = client
        self.session = session
    }

    func readerCame() {
        let (duty, stream) = state.withLock { state in
            state.readers += 1
            guard state.end == nil else { return (PictureCourse.Duty.nothing, PictureStream?.none) }
            return (state.course.want(), state.readers == 1 ? state.stream : nil)
        }
        perform(duty)
        if let stream {
            stream.skip()
            read(stream)
        }
    }

    func readerLeft() {
        let stream = state.withLock { state in
            state.readers -= 1
            return state.readers == 0 ? state.stream : nil
        }
        if let stream { client?.streams.ignore(stream) }
    }

    /// The next picture; nil when the session was closed here, or the waiting task was cancelled.
    func next() async -> Outcome {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state -> Outcome? in
                    if Task.isCancelled { return .success(nil) }
                    if let end = state.end { return end }
                    if let fault = state.fault {
                        state.fault = nil
                        return .failure(fault)
                    }
                    if let picture = state.stream?.takeWaiting() { return .success(picture) }
                    state.waiting.append(Waiter(id: id, continuation: continuation))
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0).continuation }
            }
            waiter?.resume(returning: .success(nil))
        }
    }

    /// An event of the session has come, and is told to nobody yet.
    func take(_ event: SessionEvent) {
        let (duty, dropped) = state.withLock { state in
            let duty = state.course.take(event)
            guard duty.drops else { return (duty, PictureStream?.none) }
            defer { (state.stream, state.fault) = (nil, nil) }
            return (duty, state.stream)
        }
        if let dropped { client?.streams.ignore(dropped) }
        perform(duty)
    }

    /// The session is over.
    /// - Parameter error: why; nil: its client has closed it.
    func end(_ error: BrokerError?) {
        let outcome: Outcome = error.map { .failure($0) } ?? .success(nil)
        let (waiting, stream) = state.withLock { state in
            guard state.end == nil else { return ([Waiter](), PictureStream?.none) }
            state.end = outcome
            defer { (state.waiting, state.stream) = ([], nil) }
            return (state.waiting, state.stream)
        }
        for waiter in waiting { waiter.continuation.resume(returning: outcome) }
        if let stream { client?.streams.ignore(stream) }
    }

    func arrived(on stream: PictureStream, isOver: Bool, fault: FrameStreamFault?) {
        if isOver { return ended(stream, fault) }
        let served = state.withLock { state -> (CheckedContinuation<Outcome, Never>, Picture)? in
            guard state.stream === stream, !state.waiting.isEmpty, let picture = stream.takeWaiting() else {
                return nil
            }
            return (state.waiting.removeFirst().continuation, picture)
        }
        if let (waiter, picture) = served { waiter.resume(returning: .success(picture)) }
    }

    private func ended(_ stream: PictureStream, _ fault: FrameStreamFault?) {
        let wasInUse = leave(stream, isBroken: fault != nil)
        client?.streams.ignore(stream)
        guard wasInUse else { return }
        if let fault {
            broke(BrokerError(.recorderFault, "The stream ended, since \(fault.description)."))
        } else {
            openLater(stream.run)
        }
    }

    /// - Returns: whether it was the one in use.
    private func leave(_ stream: PictureStream, isBroken: Bool) -> Bool {
        state.withLock { state in
            guard state.stream === stream else { return false }
            state.stream = nil
            return state.course.streamEnded(run: stream.run, isBroken: isBroken)
        }
    }

    /// Said once, to the readers that wait or to the next one that asks; who asks on gets those of the next grant.
    private func broke(_ error: BrokerError) {
        let waiting = state.withLock { state in
            if state.waiting.isEmpty { state.fault = error }
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.continuation.resume(returning: .failure(error)) }
    }

    /// What is dropped is so already.
    private func perform(_ duty: PictureCourse.Duty) {
        switch duty {
        case .nothing, .drop: break
        case .open(let run), .replace(let run): open(run)
        }
    }

    private func open(_ run: UInt64) {
        // The call may wait for a broker that is away, and must not keep the client for that.
        guard let transport = client?.transport else { return }
        let call = WireCall(path: ObjectPath.session(session), interface: InterfaceName.session, member: "OpenStream")
        Task.detached { [weak self] in
            do throws(BrokerError) {
                var reader = WireReader("OpenStream", try await transport.call(call))
                let descriptor = try reader.fileDescriptor("stream")
                if let self { self.opened(descriptor, run) } else { close(descriptor) }
            } catch { self?.refused(run, error) }
        }
    }

    private func opened(_ descriptor: Int32, _ run: UInt64) {
        let stream = state.withLock { state -> PictureStream? in
            guard state.end == nil, state.course.opened(run: run) else { return nil }
            let stream = PictureStream(adopting: descriptor, run: run, grant: state.course.grant, of: self)
            state.stream = stream
            return stream
        }
        guard let stream else {
            // It is of a grant that is over by now.
            close(descriptor)
            return
        }
        read(stream)
    }

    private func refused(_ run: UInt64, _ error: BrokerError) {
        switch state.withLock({ $0.course.refused(run: run, error.kind) }) {
        case nil: break
        case true?: openLater(run)
        case false?: broke(error)
        }
    }

    private func openLater(_ run: UInt64) {
        Task.detached { [weak self] in
            try? await Task.sleep(for: Self.pauseBetweenStreams)
            guard let self else { return }
            self.perform(self.state.withLock { $0.end == nil ? $0.course.isDue(run: run) : .nothing })
        }
    }

    private func read(_ stream: PictureStream) {
        guard state.withLock({ $0.stream === stream && $0.readers > 0 }) else { return }
        do throws(BrokerError) { try client?.streams.read(stream) } catch {
            if leave(stream, isBroken: true) { broke(error) }
        }
    }
}
