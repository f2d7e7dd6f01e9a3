import Broker
import Glibc
import System

// Everything is in `Broker`; here it is started, and told of signals.

private func run(_ options: BrokerOptions) throws(SystemFault) -> Int32 {
    // A peer that goes while it is written to is an error of that write, not a reason to end.
    signal(SIGPIPE, SIG_IGN)
    // So is a trace that grows beyond what the process may write.
    signal(SIGXFSZ, SIG_IGN)
    // It knows what all users do, and hands out what they asked for: nobody of its own user may look into it or take
    // its sockets. Recorder cores that it starts itself are of that user, and begin dumpable again.
    try OwnProcess.forbidInspection()
    let loop = try EventLoop()
    let broker = try Broker(options, on: loop)
    for number in [SIGTERM, SIGINT] {
        try loop.addSignal(number) {
            broker.stop()
            loop.exit()
        }
    }
    try loop.addSignal(SIGHUP) { broker.reloadPolicy() }
    return try loop.run()
}

BrokerOptions.read(Array(CommandLine.arguments.dropFirst())).carryOut(as: "camarbd", run)
