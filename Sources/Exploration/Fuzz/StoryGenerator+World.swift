import ArbiterProtocol

extension StoryGenerator {
    /// What the user, the shell and the operator do.
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
            say("microphone \(app) taken")
            later("microphone \(app) released")
        case 62..<70: say("sensitive \(app())")
        case 70..<79: say("operator \(random.chance(25) ? "none" : app())")
        case 79..<89:
            let attribute = random.pick(FuzzNames.attributes)
            // Some app may be told what the policy in force does not know.
            let value = random.chance(15) ? "" : " \(random.pick(attribute.values))"
            say("attribute \(app()) \(attribute.name)\(value)")
        default:
            let login = random.pick(FuzzNames.logins)
            var line =
                "login-session \(login) \(random.pick(["active", "inactive", "locked", "inactive-locked", "ended"]))"
            if random.chance(30) { line += " user=\(random.pick(FuzzNames.users))" }
            if random.chance(40) { line += random.pick([" remote", " seat=seat1", " seat=seat0"]) }
            say(line)
            later("login-session \(login) active")
        }
    }

    /// What users say of their apps.
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
        default:
            say("own-privacy on\(user)")
            later("own-privacy off\(user)")
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
        case 0..<24:
            say("unplug \(camera)")
            later("plug \(camera)\(random.chance(40) ? " " + abilities() : "")")
        case 24..<30: say("plug \(camera)")
        case 30..<36: say("plug \(camera) \(abilities())")
        case 36..<52:
            let which = random.chance(25) ? "all" : camera
            say("privacy \(which) on")
            later("privacy \(which) off")
        case 52..<66:
            say("held-outside \(camera) on")
            later("held-outside \(camera) off")
        case 66..<82:
            say("pressure \(random.pick(SystemPressure.allCases).wireName)")
            later("pressure \(random.pick([SystemPressure.nominal, .fair]).wireName)")
        case 82..<91:
            let mode = random.chance(25) ? "none" : random.pick(FuzzNames.modes)
            // Some policy in force may not know it.
            if random.chance(50) {
                say("calendar \(mode)")
                later("calendar none")
            } else {
                say("mode \(mode)\(random.chance(30) ? " by operator" : "")")
                later("mode none")
            }
        default:
            say("sleep")
            later("wake")
        }
    }

    // MARK: Recorders

    mutating func recorder() {
        let camera = camera()
        switch random.below(100) {
        case 0..<50:
            let which = random.chance(25) ? "all" : camera
            say("recorder \(which) \(behaviour())")
            later("recorder \(which) works")
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

    /// The disk is full, or a limit is met: the recorder ends a recording by itself. Not all that were asked for began,
    /// so that small numbers are more often those of recordings that there are.
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

    /// An answer for a grant that is over. Grants count from 1, so that none with this number ever stands: a story in
    /// which a recorder lies would break promises that nobody gave.
    private mutating func lateAnswer(_ camera: String) {
        let open = sessions.filter(\.isOpen)
        switch random.below(6) {
        case 0: say("recorder \(camera) streaming grant=0")
        case 1: say("recorder \(camera) cut grant=0")
        case 2: say("recorder \(camera) configured grant=0 videoZoomFactor=1")
        case 3: say("recorder \(camera) refused-configuration grant=0 \"too late\"")
        case 4: say("recorder \(camera) ramp-finished grant=0 2")
        default:
            if !open.isEmpty { say("recorder \(camera) closed-streams grant=0 \(random.pick(open).name)") }
        }
    }
}
