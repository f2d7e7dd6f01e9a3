import ArbiterProtocol
import DesktopFacts
import Glibc
import Synchronization
import SystemdBus

/// A consumer's own connection to the broker, and its session there.
///
///     connecting ──named──▶ stopped ──wish──▶ started ──▶ frames, or a slate
///         ▲                                      │
///         └──────── the broker is gone ◀─────────┘
///
/// A task of its own does what is wished, one thing after the other; what comes of it is posted.
final class DoorSession: Sendable {
    enum News: Sendable {
        /// What the broker takes it for.
        case named(String)
        case stream(PassedOn)
        case slate(DoorSlate)
    }

    private enum Step: Sendable {
        case wish
        case event(ClientEvent)
    }

    private struct State {
        var wish: DoorFormat?
        var isClosed = false
        var steps: AsyncStream<Step>.Continuation?
    }

    private let camera: DoorCamera
    private let identity: DoorIdentity
    private let address: String?
    private let post: @Sendable (News) -> Void
    private let state = Mutex(State())
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ camera: DoorCamera, _ identity: DoorIdentity, address: String?, post: @escaping @Sendable (News) -> Void) {
        self.camera = camera
        self.identity = identity
        self.address = address
        self.post = post
        let task = Task.detached { [self] in await live() }
        self.task.withLock { $0 = task }
    }

    /// - Parameter wish: nil: the consumer has paused.
    func want(_ wish: DoorFormat?) {
        state.withLock { state in
            state.wish = wish
            state.steps?.yield(.wish)
        }
    }

    /// The connection ends, and with it what it held.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.steps?.finish()
        }
        task.withLock { $0?.cancel() }
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    private func live() async {
        var backOff = BackOff.broker
        while !isClosed {
            do throws(BrokerError) {
                try await connect { backOff.reset() }
            } catch {
                if isClosed { return }
                post(.slate(DoorSlate(error)))
            }
            try? await Task.sleep(for: backOff.wait())
        }
    }

    private func connect(_ worked: () -> Void) async throws(BrokerError) {
        let client = try CameraClient.connect(address: address, reconnects: true)
        defer { client.disconnect() }
        post(.named(try await name(client)))
        let session = try await client.makeSession(camera: camera.id.name)
        worked()
        let (steps, continuation) = AsyncStream.makeStream(of: Step.self)
        let events = session.events
        let pump = Task {
            for await event in events { continuation.yield(.event(event)) }
        }
        defer { pump.cancel() }
        state.withLock { state in
            state.steps = continuation
            if state.isClosed { continuation.finish() } else { continuation.yield(.wish) }
        }
        var running: DoorFormat?
        for await step in steps {
            switch step {
            case .wish: running = try await adapt(session, running)
            case .event(.ended(let error)): throw error
            case .event(let event): await tell(event, session)
            }
        }
    }

    /// One that cannot be named is a claim: its name is then what it says itself, and the policy knows so.
    private func name(_ client: CameraClient) async throws(BrokerError) -> String {
        switch identity {
        case .process(let process, let began):
            do throws(BrokerError) {
                return try await client.standFor(process: process, began: began)
            } catch {
                // An agent that the policy does not name, or a broker that knows nothing of this.
                guard error.kind == .notTrusted || error.kind == .unknownMethod else { throw error }
                let claim = AppIdentity.name(of: process, user: geteuid()) ?? "process \(process)"
                try await client.declare(ClientDeclaration(app: claim))
                return claim
            }
        case .claim(let claim):
            try await client.declare(ClientDeclaration(app: claim))
            return claim
        }
    }

    /// Brings the session to what is wished now.
    /// - Returns: what it was started with; nil: it does not ask to run.
    private func adapt(
        _ session: borrowing SessionHandle, _ running: DoorFormat?
    ) async throws(BrokerError) -> DoorFormat? {
        let wish = state.withLock { $0.wish }
        if wish == running { return running }
        guard let wish else {
            do throws(BrokerError) { try await session.stopRunning() } catch {
                // It has stopped by itself.
                guard error.kind == .notRunning else { throw error }
            }
            return nil
        }
        do throws(BrokerError) {
            do throws(BrokerError) { try await session.configure(camera.configuration(for: wish)) } catch {
                // Whatever it gives is made to fit.
                guard error.kind == .unsupportedConfiguration else { throw error }
            }
            if running == nil { try await session.startRunning() }
            return wish
        } catch {
            if error.isOfTheConnection { throw error }
            post(.slate(DoorSlate(error)))
            return running
        }
    }

    private func tell(_ event: ClientEvent, _ session: borrowing SessionHandle) async {
        if let slate = DoorSlate(event) { post(.slate(slate)) }
        guard case .didStartRunning = event else { return }
        // The grant may be over again already; the next start opens the next stream.
        guard let stream = try? await session.openStream() else { return }
        post(.stream(PassedOn(owning: stream)))
    }
}
