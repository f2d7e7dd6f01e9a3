import ArbiterProtocol
import PolicyFile
import Workbench

/// Turns of sessions on a camera that they share: they state wishes, take control, record and take photos beside each other.
extension CaseGenerator {
    var isShared: Bool { policy.map { $0.contention.sharing != .none } ?? false }

    /// How many of the sessions' turns are about sharing.
    var sharedPercent: Int {
        switch policy?.contention.sharing ?? .none {
        case .none: 0
        case .readOnly: 30
        case .all: 45
        }
    }

    /// A turn of a session that may be beside others.
    mutating func sharedTurn(of name: String) {
        switch random.below(100) {
        case 0..<12: say("start \(name)")
        case 12..<34: say((["configure \(name)"] + wish()).joined(separator: " "))
        case 34..<58: say("configure \(name) \(control())")
        // Both: the picture of a session that takes control with its wish.
        case 58..<63: say((["configure \(name)"] + wish() + [control()]).joined(separator: " "))
        case 63..<78: record(name)
        case 78..<84: say("stop-record \(name)")
        case 84..<89: say("photo \(name)")
        case 89..<93: say("stream \(name)")
        default: say("attach-microphone \(name)")
        }
    }

    /// A key of the camera that takes control where the policy says so, mostly one that each camera has.
    private mutating func control() -> String {
        random.pick([
            "videoZoomFactor=1", "videoZoomFactor=1.5", "videoZoomFactor=2", "videoZoomFactor=2 videoZoomRampRate=4",
            "gainMode=continuousAuto", "videoMirrored=true",
        ])
    }

    /// A format and a rate of its own, and whether another would do.
    mutating func wish() -> [String] {
        var words: [String] = []
        switch random.below(10) {
        case 0..<5: words.append("activeFormat=\"\(random.pick(FuzzNames.formats).name)\"")
        case 5..<8:
            let preset = random.pick(["high", "low", "1280x720", "640x480", "inputPriority"])
            words.append("sessionPreset=\(preset)")
        default: break
        }
        switch words.isEmpty ? random.below(6) : random.below(12) {
        case 0..<3: words.append("frameRate=\(random.pick(["10", "15", "24", "30"]))")
        case 3: words.append("activeVideoMinFrameDuration=1/\(random.pick(["15", "24", "30"]))")
        case 4: words.append("activeVideoMaxFrameDuration=1/\(random.pick(["10", "15"]))")
        case 5: words.append("activeVideoMinFrameDuration=1/24 activeVideoMaxFrameDuration=1/10")
        default: break
        }
        if random.chance(30) { words.append("formatMatch=\(random.pick(["exact", "exact", "nearest"]))") }
        return words
    }

    /// Two apps of a user begin on one camera, and go on with it at once.
    mutating func share() {
        let camera = camera()
        var names: [String] = []
        for _ in 0..<2 {
            connect(returning: random.pick(FuzzNames.apps))
            guard let client = clients.last?.name else { continue }
            for _ in 0..<(1 + random.below(2)) {
                let name = freshName("s")
                sessions.append(Session(name: name, client: client))
                names.append(name)
                let audio = random.chance(20) ? " audio" : ""
                let wish = random.chance(40) ? ([""] + wish()).joined(separator: " ") : ""
                say("session \(name) of \(client) camera=\(camera)\(audio)\(wish)")
                say("start \(name)")
            }
        }
        for _ in 0..<(3 + random.below(8)) {
            sharedTurn(of: random.pick(names))
            pass()
        }
    }

    /// More sessions than one camera has places for.
    mutating func crowd() {
        connect()
        guard let client = clients.last?.name else { return }
        let (camera, watches) = (camera(), random.chance(50) ? " sharingMode=sharedReadOnly" : "")
        let records = random.chance(50)
        for _ in 0..<(Bound.sharersMax + 2) {
            let name = freshName("s")
            sessions.append(Session(name: name, client: client))
            say("session \(name) of \(client) camera=\(camera)\(watches)")
            say("start \(name)")
            if records { say("record \(name)") }
        }
    }
}
