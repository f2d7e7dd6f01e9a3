import Agent
import Glibc
import System

// Everything is in `Agent`; here it is started, and told of signals.

private func run(_ options: AgentOptions) throws(SystemFault) -> Int32 {
    // A peer that goes while it is written to is an error of that write, not a reason to end.
    signal(SIGPIPE, SIG_IGN)
    let loop = try EventLoop()
    // Before anything starts a thread: the signals are this one's.
    var agent: Agent?
    var keeper: DoorKeeper?
    for number in [SIGTERM, SIGINT] {
        try loop.addSignal(number) {
            if let keeper { return keeper.stop() }
            agent?.stop()
            loop.exit()
        }
    }
    if options.wantsKeeper {
        keeper = try DoorKeeper(options, arguments: Array(CommandLine.arguments.dropFirst()), on: loop)
    } else {
        agent = try Agent(options, on: loop)
    }
    return try loop.run()
}

AgentOptions.read(Array(CommandLine.arguments.dropFirst())).carryOut(as: "camagent", run)
