import Camarb
import Synchronization
import Workbench
import WorkbenchCommands

/// `camclient status --watch`: the status again with each change, until Ctrl-C.
///
///     connected ──the connection ends──▶ waiting ──a broker listens──▶ connected
struct StatusWatch {
    /// More pictures a second than somebody follows.
    private static let redrawsPerSecond = 5
    /// The pause between looks at facts without a signal: measured pressure, programs that opened a camera without asking, and
    /// the size of the terminal.
    private static let lookEvery = Duration.seconds(5)
    /// Nothing announces a broker that listens again.
    private static let searchEvery = Duration.seconds(1)

    private let connection: ConnectionOptions
    private let output: OutputOptions
    private let bell = WatchBell()
    private let screen: WatchScreen?
    private var shown: BrokerStatus?
    private var isFirst = true

    init(_ connection: ConnectionOptions, _ output: OutputOptions) {
        (self.connection, self.output) = (connection, output)
        screen = output.json ? nil : WatchScreen()
    }

    mutating func run() async throws {
        let (interrupts, bell) = (Interrupts.stream(), bell)
        // A broker that is not there at the beginning is a mistake.
        var client: CameraClient? = try await follow()
        Task.detached { for await _ in interrupts { bell.end() } }
        bell.ring(each: Self.lookEvery)
        screen?.begin()
        defer { screen?.end() }
        for await _ in bell.rings {
            if bell.isOver { return }
            if let failure = bell.takeLoss() {
                client = nil
                say(failure)
            }
            if client == nil { client = try? await follow() }
            guard let asked = client else {
                bell.ring(in: Self.searchEvery)
                continue
            }
            do throws(BrokerError) { show(try await asked.status()) } catch {
                // The bell rings for a broker that has left.
                guard Failure(error).status == .unreachable else { throw error }
            }
            try? await Task.sleep(for: .seconds(1) / Self.redrawsPerSecond)
        }
    }

    /// Connects, and rings with each signal of the broker.
    private func follow() async throws -> CameraClient {
        let client = try connection.connect()
        let (notices, bell) = (client.brokerNotices, bell)
        Task.detached {
            for await notice in notices {
                if case .ended(let error) = notice { bell.lose(Failure(error)) } else { bell.ring() }
            }
        }
        try await client.subscribeToDecisions()
        bell.ring()
        return client
    }

    private mutating func show(_ status: BrokerStatus) {
        // Time alone is no change.
        var timeless = status
        timeless.moment = .zero
        if let screen { return screen.show(status.lines) }
        guard timeless != shown else { return }
        if !isFirst, !output.json { Output.line("") }
        output.show(status, status.lines)
        (shown, isFirst) = (timeless, false)
    }

    private mutating func say(_ failure: Failure) {
        shown = nil
        if output.json { return Output.json(["reachable": false, "message": failure.message] as JSONObject) }
        let sentence = "\(failure.message) Waiting for a broker …"
        if let screen { screen.show(above: sentence) } else { Output.notice("camclient: \(sentence)") }
    }
}

/// Wakes the watch, and keeps the reason. Rings that come while nobody waits are one.
private final class WatchBell: Sendable {
    private struct State: Sendable {
        var isOver = false
        var loss: Failure?
        var search: Task<Void, any Error>?
    }

    let rings: AsyncStream<Void>
    private let ringer: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    init() { (rings, ringer) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

    var isOver: Bool { state.withLock { $0.isOver } }

    func ring() { ringer.yield() }

    func end() {
        state.withLock { $0.isOver = true }
        ring()
    }

    func lose(_ failure: Failure) {
        state.withLock { $0.loss = failure }
        ring()
    }

    func takeLoss() -> Failure? { state.withLock { $0.loss.take() } }

    func ring(each time: Duration) {
        Task.detached { [self] in
            while true {
                try await Task.sleep(for: time)
                ring()
            }
        }
    }

    /// Once, in the place of an earlier such ring.
    func ring(in time: Duration) {
        let next = Task.detached { [self] in
            try await Task.sleep(for: time)
            ring()
        }
        state.withLock { state in
            state.search?.cancel()
            state.search = next
        }
    }
}
