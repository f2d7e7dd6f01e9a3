import Bus
import Glibc
public import System

/// Starts camagent, and starts it again where it crashes; meanwhile its doorways are here.
///
///     the agent has the doorways ──it is killed──▶ they are here, and another agent is started
///                 ▲                                             │
///                 └──────────── the new agent has them ◀────────┘
///
/// A browser takes a camera that is gone from PipeWire for unplugged, and the page's track ends for good: Firefox 153
/// looks 200 ms later, and tells cameras apart by their names. The keeper does nothing while the agent lives. It lets
/// no program in: a program sees its own slate, or the last picture, until the next agent takes it up.
public final class DoorKeeper {
    private let loop: EventLoop
    private let arguments: [String]
    private let journal = Journal(identifier: "camagent")
    private let door: PipeWireDoor
    private var agent: ChildProcess?
    private var began: Int64 = 0
    private var pipe: (descriptor: Int32, source: IOSource)?
    private var again: Timer?
    private var isStopping = false

    /// In nanoseconds: an agent that crashes as it starts is started after a pause, and does not keep the machine busy.
    private static let shortLife: Int64 = 10_000_000_000
    private static let pause: Int64 = 2_000_000_000

    /// - Parameter arguments: of this process, for the agent.
    /// - Throws: when the loop has no room for its sources, or the agent cannot be started.
    public init(_ options: AgentOptions, arguments: [String], on loop: EventLoop) throws(SystemFault) {
        self.loop = loop
        self.arguments = arguments
        door = try PipeWireDoor(on: loop, address: options.socket, journal: journal, isStandIn: true) {}
        again = try loop.addTimer { [unowned self] in startAgain() }
        door.open()
        door.connect()
        try start()
    }

    /// Ends the agent, and the loop with it.
    public func stop() {
        isStopping = true
        if agent?.signal(SIGTERM) != true { loop.exit() }
    }

    static func tellShown() { _ = write(3, "s", 1) }

    private func start() throws(SystemFault) {
        let (ours, theirs) = try UnixPair.make()
        defer { close(theirs) }
        do throws(SystemFault) { pipe = (ours, try loop.addIO(ours, .readable) { [unowned self] _ in hear() }) } catch {
            close(ours)
            throw error
        }
        began = EventLoop.now
        do throws(SystemFault) {
            agent = try ChildProcess(
                path: OwnProcess.program, arguments: arguments + ["--kept"], passing: theirs, on: loop
            ) { [unowned self] in ended($0) }
        } catch {
            hangUp()
            throw error
        }
    }

    private func startAgain() {
        do throws(SystemFault) { try start() } catch {
            journal.send(.error, "\(error)")
            again?.arm(at: EventLoop.now + Self.pause)
        }
    }

    private func hear() {
        guard let pipe else { return }
        var byte: UInt8 = 0
        if read(pipe.descriptor, &byte, 1) == 1 { return door.show(false) }
        hangUp()
    }

    private func hangUp() {
        guard let pipe else { return }
        pipe.source.cancel()
        close(pipe.descriptor)
        self.pipe = nil
    }

    private func ended(_ ending: ChildProcess.Ending) {
        hangUp()
        agent = nil
        switch ending {
        // Ended by itself or by a signal to stop, or it cannot work here.
        case .exited(let status): loop.exit(status)
        case .signalled where isStopping: loop.exit()
        case .signalled(let number):
            door.show(true)
            journal.send(.warning, "the agent was ended by signal \(number), and is started again")
            if EventLoop.now - began < Self.shortLife {
                again?.arm(at: EventLoop.now + Self.pause)
            } else {
                startAgain()
            }
        }
    }
}
