// The in-process half of `make bench`: what one decision costs as the number of clients grows.
//
// Prints one line for each size, `decision <clients> <nanoseconds>`: the median over rounds of the mean
// time of a step that touches one session (a start and a stop, with the recorder's answers, are four
// steps on one camera, while all other clients are connected, have a session, and ask for nothing).
// Sizes are shuffled within each round, so that a machine that drifts drifts for all of them.

import Arbiter
import ArbiterProtocol
import PolicyFile

struct Crowd {
    var arbiter: Arbiter
    var now = Moment.zero
    let camera = CameraID("back")
    let session = SessionID(1)

    init(clients: Int) {
        arbiter = Arbiter(policy: Policy(name: "bench", contention: Contention(order: [.focused, .newest])))
        let format = CameraFormat(pixelFormat: "420v", width: 1280, height: 720, minFrameRate: 1, maxFrameRate: 30)
        step(
            .cameraAppeared(
                camera,
                CameraCapabilities(
                    name: "Back", position: .back, sensorWidth: 1280, sensorHeight: 720, formats: [format])))
        for number in 1...UInt64(clients) {
            let client = ClientID(number)
            step(.connected(client, app: AppID("app\(number)", user: 1000), verified: true, loginSession: nil))
            step(.created(SessionID(number), client, camera: camera, Configuration(), reestablished: false))
        }
    }

    mutating func step(_ event: Event) {
        now = now + .microseconds(1)
        for effect in arbiter.step(event, at: now) {
            switch effect {
            case .open(let camera, let grant, _, let configuration):
                step(.recorderStreaming(camera, grant, inForce: configuration))
            case .cut(let camera, let grant, _): step(.recorderCut(camera, grant))
            default: break
            }
        }
    }

    /// Nanoseconds a step, over `count` starts and stops of four steps each.
    mutating func measure(count: Int) -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        for _ in 0..<count {
            step(.startRunning(session))
            step(.stopRunning(session))
        }
        return Double((clock.now - start).wholeNanoseconds) / Double(count * 4)
    }
}

let sizes = [10, 1_000, 10_000]
// Nine rounds: the median then has four on either side (performance.md measures with as many).
let rounds = 9
var crowds = sizes.map { Crowd(clients: $0) }
var results: [[Double]] = sizes.map { _ in [] }
for round in 0..<rounds + 1 {
    for index in sizes.indices.shuffled() {
        let nanoseconds = crowds[index].measure(count: 2_000)
        // The first round warms up and is thrown away.
        if round > 0 { results[index].append(nanoseconds) }
    }
}
for (index, size) in sizes.enumerated() {
    let median = results[index].sorted()[rounds / 2]
    print("decision \(size) \(Int(median))")
}
