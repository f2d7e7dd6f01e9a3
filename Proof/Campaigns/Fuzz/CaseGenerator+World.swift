import ArbiterProtocol
import PolicyFile
import Workbench

extension CaseGenerator {
    mutating func user() {
        switch random.below(100) {
        case 0..<38: placement()
        case 38..<50:
            let source = random.pick(["shell", "shell", "agent"])
            let user = random.chance(30) ? " user=\(random.pick(FuzzNames.users))" : ""
            let leaves = random.chance(50)
            say("\(source) \(leaves ? "gone" : "attach")\(user)")
            if leaves { later("\(source) attach\(user)") }
        case 50..<62:
            let app = app()
            say("microphone \(app) taken", later: "microphone \(app) released")
        case 62..<70: say("sensitive \(app())")
        case 70..<79: say("operator \(random.chance(25) ? "none" : app())")
        case 79..<89:
            let attribute = random.pick(FuzzNames.attributes)
            // The policy in force may not know it.
            let value = random.chance(15) ? "" : " \(random.pick(attribute.values))"
            say("attribute \(app()) \(attribute.name)\(value)")
        default:
            let login = random.pick(FuzzNames.logins)
            var line =
                "login-session \(login) \(random.pick(["active", "inactive", "locked", "inactive-locked", "ended"]))"
            if random.chance(30) { line += " user=\(random.pick(FuzzNames.users))" }
            if random.chance(40) { line += random.pick([" remote", " seat=seat1", " seat=seat0"]) }
            say(line, later: "login-session \(login) active")
        }
    }

    mutating func word() {
        let user = random.chance(30) ? " user=\(random.pick(FuzzNames.users))" : ""
        switch random.below(100) {
        case 0..<45:
            let claimed = random.chance(30) ? " claimed" : ""
            let by = random.pick(["", "", " by question", " by permission-store"])
            let app = app()
            say("answer \(app) \(random.pick(["allow", "allow", "deny", "none"]))\(claimed)\(by)")
            later("answer \(app) none\(claimed)\(by)")
        case 45..<65: say("answer-question \(1 + random.below(3)) \(random.pick(AppAnswer.allCases).rawValue)")
        case 65..<72: say("questions \(random.chance(60) ? "watched" : "unwatched")\(user)")
        case 72..<83: say("stop-app \(app())")
        case 83..<86: say("forget-answers\(user)")
        default: say("own-privacy on\(user)", later: "own-privacy off\(user)")
        }
    }

    private mutating func placement() {
        let by = random.chance(25) ? " by \(random.pick(PresenceSource.allCases).rawValue)" : ""
        if random.chance(15) { return say("presence \(app()) gone\(by)") }
        let focus = random.chance(40) ? " focused" : ""
        say("presence \(app()) \(random.pick(Presence.wireNames))\(focus)\(by)")
    }

    mutating func machine() {
        let camera = camera()
        switch random.below(100) {
        case 0..<24: say("unplug \(camera)", later: "plug \(camera)\(random.chance(40) ? " " + abilities() : "")")
        case 24..<30: say("plug \(camera)")
        case 30..<36: say("plug \(camera) \(abilities())")
        case 36..<52:
            let which = random.chance(25) ? "all" : camera
            say("privacy \(which) on", later: "privacy \(which) off")
        case 52..<66: say("held-outside \(camera) on", later: "held-outside \(camera) off")
        case 66..<82:
            say(
                "pressure \(random.pick(SystemPressure.allCases).wireName)",
                later: "pressure \(random.pick([SystemPressure.nominal, .fair]).wireName)")
        case 82..<91:
            let mode = random.chance(25) ? "none" : random.pick(FuzzNames.modes)
            // The policy in force may not know it.
            if random.chance(50) {
                say("calendar \(mode)", later: "calendar none")
            } else {
                say("mode \(mode)\(random.chance(30) ? " by operator" : "")", later: "mode none")
            }
        default: say("sleep", later: "wake")
        }
    }

    mutating func recorder() {
        let camera = camera()
        switch random.below(100) {
        case 0..<50:
            let which = random.chance(25) ? "all" : camera
            say("recorder \(which) \(behaviour())", later: "recorder \(which) works")
        case 50..<66: say("recorder \(camera) \(random.pick(["crashes", "gone"]))")
        case 66..<74: say("recorder \(camera) failed \"no data\"")
        case 74..<76:
            let state = random.pick([
                "adjustingFocus=true", "adjustingFocus=false lensPosition=0.5", "exposureMode=locked",
            ])
            say("recorder \(camera) state \(state)")
        case 76..<78: say("recorder \(camera) trouble \(random.pick(["dark", "late-frames"])) \"it is dark\"")
        case 78..<90: say(recordingEnd())
        case 90..<94:
            let outcome = random.pick(["1920x1080 bytes=1000", "failed \"the disk is full\""])
            say("captured \(1 + random.below(3)) \(outcome)")
        default: lateAnswer(camera)
        }
    }

    /// The recorder ends a recording by itself. Not all requested recordings began, so that small numbers are likelier to exist.
    mutating func recordingEnd() -> String {
        let why = random.pick([RecordingEnd.diskFull, .diskFull, .writeError, .durationLimit, .sizeLimit])
        let number = 1 + random.below(max(1, min(recordings, 4)))
        return "finished \(number) \(why.rawValue) frames=30 duration=1s bytes=30000"
    }

    private mutating func behaviour() -> String {
        let slow = ["slow-open", "slow-cut", "slow-configure", "slow-finish"]
        let delays = ["1ms", "100ms", "499ms", "500ms", "700ms", "2s", "3s"]
        switch random.below(100) {
        case 0..<20: return random.chance(30) ? "hangs always" : "hangs"
        case 20..<32: return "dies-on-open"
        case 32..<44: return "open-fails \"no such device\""
        case 44..<56: return "refuses-configuration \"the driver says no\""
        default:
            let first = "\(random.pick(slow)) \(random.pick(delays))"
            return random.chance(50) ? first : first + " \(random.pick(slow)) \(random.pick(delays))"
        }
    }

    /// An answer for no grant: grants count from 1. A recorder that lies would break promises that nobody gave.
    private mutating func lateAnswer(_ camera: String) {
        let open = sessions.filter(\.isOpen)
        switch random.below(6) {
        case 0: say("recorder \(camera) streaming grant=0")
        case 1: say("recorder \(camera) cut grant=0")
        case 2: say("recorder \(camera) configured grant=0 videoZoomFactor=1")
        case 3: say("recorder \(camera) refused-configuration grant=0 \"too late\"")
        case 4: say("recorder \(camera) ramp-finished grant=0 2")
        default: if !open.isEmpty { say("recorder \(camera) closed-streams grant=0 \(random.pick(open).name)") }
        }
    }

    mutating func createSession(reestablished: Bool = false) {
        let there = clients.filter(\.isConnected)
        guard !there.isEmpty else { return connect() }
        let (name, client) = (freshName("s"), random.pick(there).name)
        var words = ["session \(name) of \(client)"]
        // Without a camera it takes the first one.
        if random.chance(92) { words.append("camera=\(camera())") }
        if random.chance(25) { words.append("audio") }
        if random.chance(30) { words.append("sharingMode=\(random.pick(["sharedReadOnly", "exclusiveControl"]))") }
        // A client that asks for what the camera lacks gets no session.
        if random.chance(15) { words.append(random.pick(["frameRate=15", "videoZoomFactor=1"])) }
        if random.chance(15) {
            words.append("activeFormat=\"\(random.pick(FuzzNames.formats.prefix(2).map(\.name)))\"")
        } else if isShared, random.chance(25) {
            words += wish()
        }
        // A session's camera has its own place in the line.
        if random.chance(3) { words += settings(valid: false).filter { !$0.hasPrefix("camera=") } }
        if reestablished || random.chance(4) { words.append("reestablished") }
        sessions.append(Session(name: name, client: client))
        say(words.joined(separator: " "))
        if random.chance(80) { say("start \(name)") }
    }

    /// An open session, or now and then a closed one.
    private mutating func anySession() -> String? {
        let open = sessions.filter(\.isOpen)
        if open.isEmpty || random.chance(3) { return sessions.isEmpty ? nil : random.pick(sessions).name }
        return random.pick(open).name
    }

    mutating func session() {
        guard let name = anySession() else { return createSession() }
        if random.chance(sharedPercent) { return sharedTurn(of: name) }
        switch random.below(100) {
        case 0..<30: say("start \(name)")
        case 30..<42: say("stop \(name)")
        case 42..<56: record(name)
        case 56..<59: say("stop-record \(name)")
        case 59..<62: say("\(random.pick(["pause-record", "resume-record", "append-metadata"])) \(name)")
        case 62..<64: say("photo \(name)")
        case 64..<65: say("bracket \(name) exposureTargetBiases=-1,0,1")
        case 65..<68: say("stream \(name)")
        case 68..<82: say((["configure \(name)"] + batch()).joined(separator: " "))
        case 82..<86: say("begin \(name)")
        case 86..<90:
            // Mostly too late, or of another app.
            let isReclaim = !survivors.isEmpty && random.chance(25)
            say(isReclaim ? "reclaim \(name) grant=\(random.pick(survivors).grant)" : "commit \(name)")
        case 90..<94: say("ready \(name)\(random.chance(20) ? " #\(1 + random.below(4))" : "")")
        case 94..<97: say("continue \(name)")
        default:
            for index in sessions.indices where sessions[index].name == name { sessions[index].isOpen = false }
            say("close \(name)")
        }
    }

    mutating func record(_ name: String) {
        recordings += 1
        if random.chance(15) { later(recordingEnd()) }
        if random.chance(20) { say("attach-microphone \(name)") }
        say((["record \(name)"] + recordingOptions()).joined(separator: " "))
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

    /// - Parameter valid: as most cameras take it.
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

    mutating func world() -> [FuzzCase.Camera] {
        FuzzNames.cameras.prefix(random.pick([1, 2, 2, 3, 3])).map { name in
            FuzzCase.Camera(name: name, words: random.chance(50) ? abilities() : "")
        }
    }

    /// The rest of a `camera` or `plug` line after the name.
    mutating func abilities() -> String {
        var words = [random.pick(CameraPosition.allCases).rawValue]
        if random.chance(15) { words.append("seat=seat1") }
        if random.chance(70) { for format in FuzzNames.formats where random.chance(50) { words.append(format.line) } }
        if random.chance(40) {
            words.append("control=\"gainMode locked,continuousAuto usually continuousAuto\"")
            words.append("control=\"gain 0..255 usually 100\"")
        }
        if random.chance(20) { words.append("control=\"videoMirrored usually false\"") }
        return words.joined(separator: " ")
    }
}
