import Agent
import Glibc
import Loop

// Everything is in `Agent`; here it is started, and told of signals.

private func write(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { bytes in _ = Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
}

private func run(_ options: AgentOptions) -> Int32 {
    // A peer that goes while it is written to is an error of that write, not a reason to end.
    signal(SIGPIPE, SIG_IGN)
    do throws(SystemFault) {
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
    } catch {
        write("camagent: \(error)\n", to: 2)
        return 1
    }
}

switch AgentOptions.read(Array(CommandLine.arguments.dropFirst())) {
case .run(let options): exit(run(options))
case .show(let text): write(text, to: 1)
case .mistake(let sentence):
    write("camagent: \(sentence)\n", to: 2)
    exit(2)
}
