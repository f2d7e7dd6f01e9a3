// usage: mirror FRAMES          counts so many frames, says what happens to the camera meanwhile, and ends
import Camarb
import Glibc

func say(_ line: String) {
    print(line)
    fflush(nil)
}

/// Shows a line for each thing that happens to the camera.
func tell(_ events: Notices<ClientEvent>) async {
    for await event in events {
        switch event {
        case .didStartRunning: say("running")
        case .wasInterrupted(let interruption), .interruptionChanged(let interruption):
            let reason = interruption.reason?.wireName ?? "for no reason"
            say("interrupted: \(reason)" + (interruption.interrupter.map { ", by \($0.description)" } ?? ""))
        case .sessionStopped(let stop):
            say("stopped: \(stop.reason.rawValue)")
            exit(1)
        case .runtimeError(_, let message): say(message)
        default: break
        }
    }
}

let wanted = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 100
do {
    let client = try CameraClient.connect()
    try await client.declare(ClientDeclaration(app: "org.example.Mirror"))
    try await client.withSession { session in  // the back camera, else the first
        let events = session.events
        async let told: Void = tell(events)
        try await session.startRunning()
        var seen = 0
        for try await picture in session.pictures {
            seen += 1
            if seen < wanted { continue }
            say("\(seen) frames of \(picture.width)x\(picture.height)")
            break
        }
    }
} catch let error as BrokerError {
    say(error.message)
    exit(1)
}
