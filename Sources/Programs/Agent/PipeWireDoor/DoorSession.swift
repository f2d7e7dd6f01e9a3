import ArbiterProtocol
import Camarb
import Glibc
import Synchronization
import System

/// A consumer's own connection to the broker, and its session there.
///
///     connecting ──named──▶ stopped ──wish──▶ started ──▶ frames, or a slate
///         ▲                                      │
///         └──────── the broker is gone ◀─────────┘
///
/// A task of its own carries out the wishes, one after the other, and posts the results. While the session runs, may
/// preview, and the consumer has no stream, one is opened: at once when that begins, and a second after one ended or
/// could not be had.
package final class DoorSession: Sendable, DoorSupply {
    package enum News: Sendable {
        case named(String)
        case stream(Int, PassedOn)
        case slate(DoorSlate)
    }

    private enum Step: Sendable {
        case wish
        case event(SessionEvent)
        case streamEnded(Int)
        case due
    }

    private struct State {
        var wish: DoorWish?
        /// Counts pauses: a consumer that paused and went on unnoticed has lost its stream by it.
        var round = 0
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
        (self.camera, self.identity, self.address, self.post) = (camera, identity, address, post)
        let task = Task.detached { [self] in await live() }
        self.task.withLock { $0 = task }
    }

    package func want(_ format: DoorFormat?) {
        state.withLock { state in
            if format == nil { state.round += 1 }
            state.wish = format.map { DoorWish(format: $0, round: state.round) }
            state.steps?.yield(.wish)
        }
    }

    package func streamEnded(_ number: Int) { state.withLock { _ = $0.steps?.yield(.streamEnded(number)) } }

    package func close() {
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
            do throws(BrokerError) { try await connect { backOff.reset() } } catch {
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
        let lease = try await client.makeSession(camera: camera.id.name)
        let session = lease.handle
        worked()
        let (steps, continuation) = AsyncStream.makeStream(of: Step.self)
        let events = session.events
        let pump = Task { for await event in events { continuation.yield(.event(event)) } }
        defer { pump.cancel() }
        state.withLock { state in
            state.steps = continuation
            if state.isClosed { continuation.finish() } else { continuation.yield(.wish) }
        }
        var course = DoorCourse()
        for await step in steps {
            switch step {
            case .wish: try await adapt(session, &course)
            case .event(.ended(let error)): throw error
            case .event(let event): if let slate = course.take(event) { post(.slate(slate)) }
            case .streamEnded(let number): if course.streamEnded(number) { openLater(continuation) }
            case .due: course.isLate = false
            }
            if course.wantsStream, await !open(session, &course) {
                post(.slate(.waiting))
                openLater(continuation)
            }
        }
    }

    /// As long as libcamarb waits: a broker counts openings of streams.
    private static let streamPause = Duration.seconds(1)

    private func openLater(_ steps: AsyncStream<Step>.Continuation) {
        Task {
            try? await Task.sleep(for: Self.streamPause)
            steps.yield(.due)
        }
    }

    /// - Returns: false: none, since the grant may be over again already.
    private func open(_ session: SessionHandle, _ course: inout DoorCourse) async -> Bool {
        guard let stream = try? await session.openStream() else {
            course.isLate = true
            return false
        }
        post(.stream(course.opened(), PassedOn(owning: stream)))
        return true
    }

    /// Without a name it is a claim: its own name, which the policy sees as one.
    private func name(_ client: CameraClient) async throws(BrokerError) -> String {
        switch identity {
        case .process(let process, let began):
            do throws(BrokerError) { return try await client.standFor(process: process, began: began) } catch {
                // The policy does not name this agent, or the broker is of an earlier version.
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

    private func adapt(_ session: SessionHandle, _ course: inout DoorCourse) async throws(BrokerError) {
        let wish = state.withLock { $0.wish }
        if wish == course.asked { return }
        guard let wish else {
            do throws(BrokerError) { try await session.stopRunning() } catch {
                // It has stopped by itself.
                guard error.kind == .notRunning else { throw error }
            }
            return course.stopped()
        }
        do throws(BrokerError) {
            do throws(BrokerError) { try await session.configure(camera.configuration(for: wish.format)) } catch {
                // Any format is scaled to fit: also what stays since the session may not configure, or another app records it.
                let fits: [BrokerError.Kind] = [.unsupportedConfiguration, .accessDenied, .alreadyRecording]
                guard fits.contains(error.kind) else { throw error }
            }
            if course.isToStart(for: wish) { try await session.startRunning() }
            if let slate = course.goesOn(with: wish) { post(.slate(slate)) }
        } catch {
            if error.isOfTheConnection { throw error }
            post(.slate(DoorSlate(error)))
        }
    }
}

/// A descriptor on its way to a receiver that may be gone.
package final class PassedOn: Sendable {
    private let descriptor: Mutex<Int32>

    package init(owning descriptor: Int32) { self.descriptor = Mutex(descriptor) }

    deinit {
        let left = take()
        if left >= 0 { close(left) }
    }

    /// The caller's from now on; -1: it was taken before.
    package func take() -> Int32 {
        descriptor.withLock { descriptor in
            defer { descriptor = -1 }
            return descriptor
        }
    }
}
