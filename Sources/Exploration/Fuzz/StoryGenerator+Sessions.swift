import ArbiterProtocol

extension StoryGenerator {
    mutating func createSession(reestablished: Bool = false) {
        let there = clients.filter(\.isConnected)
        guard !there.isEmpty else { return connect() }
        let (name, client) = (freshName("s"), random.pick(there).name)
        var words = ["session \(name) of \(client)"]
        // Without one it takes the first that is there.
        if random.chance(92) { words.append("camera=\(camera())") }
        if random.chance(25) { words.append("audio") }
        if random.chance(30) { words.append("sharingMode=\(random.pick(["sharedReadOnly", "exclusiveControl"]))") }
        // A client that asks for what the camera lacks gets no session, and plays no part in what follows.
        if random.chance(15) { words.append(random.pick(["frameRate=15", "videoZoomFactor=1"])) }
        if random.chance(15) {
            words.append("activeFormat=\"\(random.pick(FuzzNames.formats.prefix(2).map(\.name)))\"")
        }
        if random.chance(3) { words += settings(valid: false) }
        if reestablished || random.chance(4) { words.append("reestablished") }
        sessions.append(Session(name: name, client: client))
        say(words.joined(separator: " "))
        if random.chance(80) { say("start \(name)") }
    }

    /// One that is open, or now and then one that is gone.
    private mutating func anySession() -> String? {
        let open = sessions.filter(\.isOpen)
        if open.isEmpty || random.chance(3) { return sessions.isEmpty ? nil : random.pick(sessions).name }
        return random.pick(open).name
    }

    mutating func session() {
        guard let name = anySession() else { return createSession() }
        switch random.below(100) {
        case 0..<30: say("start \(name)")
        case 30..<42: say("stop \(name)")
        case 42..<56:
            recordings += 1
            if random.chance(15) { later(recordingEnd()) }
            if random.chance(20) { say("attach-microphone \(name)") }
            say((["record \(name)"] + recordingOptions()).joined(separator: " "))
        case 56..<59: say("stop-record \(name)")
        case 59..<62: say("\(random.pick(["pause-record", "resume-record", "append-metadata"])) \(name)")
        case 62..<64: say("photo \(name)")
        case 64..<65: say("bracket \(name) exposureTargetBiases=-1,0,1")
        case 65..<68: say("stream \(name)")
        case 68..<82: say((["configure \(name)"] + batch()).joined(separator: " "))
        case 82..<86: say("begin \(name)")
        case 86..<90:
            // Mostly too late, or another's.
            let isReclaim = !survivors.isEmpty && random.chance(25)
            say(isReclaim ? "reclaim \(name) grant=\(random.pick(survivors).grant)" : "commit \(name)")
        case 90..<94: say("ready \(name)\(random.chance(20) ? " #\(1 + random.below(4))" : "")")
        case 94..<97: say("continue \(name)")
        default:
            for index in sessions.indices where sessions[index].name == name { sessions[index].isOpen = false }
            say("close \(name)")
        }
    }

    private mutating func recordingOptions() -> [String] {
        guard random.chance(20) else { return [] }
        return [
            random.pick([
                "maxDuration=2", "codec=mjpeg", "minFreeBytes=1000", "metadata=location:iso6709",
                "metadata=objects:objects", "bitRate=4000000 metadata=heading:number,orientation:orientation",
            ])
        ]
    }

    // MARK: Configuration

    private mutating func batch() -> [String] {
        switch random.below(11) {
        case 10: return ["captureMode=\(random.pick(["photo", "video"]))"]
        case 0..<2: return ["camera=\(random.pick(cameras))"] + (random.chance(30) ? settings(valid: true) : [])
        case 2..<5: return ["sharingMode=\(random.pick(["sharedReadOnly", "exclusiveControl"]))"]
        case 5..<7:
            let busy = random.chance(50) ? ["whenBusy=\(random.pick(["refuse", "interrupt"]))"] : []
            return [random.pick(["usesAudio=true", "usesAudio=false", "audio"])] + busy
        case 7: return ["videoZoomFactor=2 videoZoomRampRate=\(random.pick(["1", "4"]))"]
        default: return settings(valid: random.chance(70))
        }
    }

    /// - Parameter valid: as most cameras take it; else it may be anything.
    private mutating func settings(valid: Bool) -> [String] {
        let usual = [
            "videoZoomFactor=\(random.pick(["1", "1.5", "2", "4"]))", "frameRate=\(random.pick(["15", "24", "30"]))",
            "activeFormat=\"\(random.pick(FuzzNames.formats).name)\"", "videoZoomFactor=3 videoZoomRampRate=2",
            "gainMode=locked gain=\(random.pick(["0", "80", "255"]))", "videoMirrored=true",
        ]
        let odd = [
            "videoZoomFactor=99", "videoZoomFactor=\"far\"", "frameRate=1000", "activeFormat=\"none\"",
            "sharingMode=everybody", "whenBusy=wait", "gain=80", "torchMode=on flashMode=on", "usesAudio=\"yes\"",
            "camera=\"nowhere\"",
        ]
        var words = [random.pick(valid ? usual : usual + odd)]
        if random.chance(30) {
            let more = random.pick(usual)
            if more.prefix(while: { $0 != "=" }) != words[0].prefix(while: { $0 != "=" }) { words.append(more) }
        }
        return words
    }

    // MARK: Cameras

    /// One to three cameras.
    mutating func world() -> [FuzzStory.Camera] {
        FuzzNames.cameras.prefix(random.pick([1, 2, 2, 3, 3])).map { name in
            FuzzStory.Camera(name: name, words: random.chance(50) ? abilities() : "")
        }
    }

    /// What stands behind a camera's name in a `camera` or `plug` line.
    mutating func abilities() -> String {
        var words = [random.pick(CameraPosition.allCases).rawValue]
        if random.chance(15) { words.append("seat=seat1") }
        if random.chance(70) {
            for format in FuzzNames.formats where random.chance(50) { words.append(format.line) }
        }
        if random.chance(40) {
            words.append("control=\"gainMode locked,continuousAuto usually continuousAuto\"")
            words.append("control=\"gain 0..255 usually 100\"")
        }
        if random.chance(20) { words.append("control=\"videoMirrored usually false\"") }
        return words.joined(separator: " ")
    }
}
