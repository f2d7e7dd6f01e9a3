import ArbiterProtocol

/// A policy as the reference reads it: rules from the top, the first that matches answers. It shares neither the compiled
/// rules of the core nor `FactTest.holds` and `CameraCost.of`, so that a policy is read twice.
extension Policy {
    /// The causes of the policy that limit a session.
    func limits(_ facts: Facts) -> [(cause: Cause, access: Access)] {
        CauseRule.causes.compactMap { cause in
            let rule = causeRules.first { $0.cause == cause && $0.when.allSatisfy(facts.passes) }
            // A rule that leaves everything exempts the sessions it matches.
            return rule.flatMap { $0.access == .all ? nil : (cause: cause, access: $0.access) }
        }
    }

    func rankRule(_ facts: Facts) -> RankRule {
        rankRules.first { $0.when.allSatisfy(facts.passes) } ?? RankRule(name: "", rank: ranks.count - 1)
    }

    /// Compared from left to right after the rank; smaller is stronger.
    func order(_ facts: Facts, started: Int) -> [Int] {
        contention.order.map { key in
            switch key {
            case .focused: facts.isFocused ? 0 : 1
            case .foreground: facts.presence.isForeground ? 0 : 1
            case .recording: facts.isRecording ? 0 : 1
            case .operatorChosen: facts.operatorChosen ? 0 : 1
            case .newest: -started
            case .oldest: started
            // An attribute that the policy does not declare tells nobody apart.
            case .attribute(let name): facts.attribute(name)?.place ?? 0
            }
        }
    }

    func excludes(_ a: CameraID, _ b: CameraID) -> Bool {
        cameras.contains {
            ($0.camera == a && $0.conflicts.contains(b)) || ($0.camera == b && $0.conflicts.contains(a))
        }
    }

    /// The highest cost that a camera has with any format.
    func dearest(_ camera: CameraID) -> Int {
        cost(camera).formats.map(\.cost).reduce(cost(camera).other, max)
    }

    /// A line about the pixel format is closer than one about any; of those as close, the lowest rate that is enough counts.
    func cost(_ session: ReferenceWorld.Session) -> Int {
        guard let pictures = session.pictures else { return dearest(session.camera) }
        let cost = cost(session.camera)
        let fitting = cost.formats.filter { line in
            line.width == pictures.width && line.height == pictures.height
                && line.frameRate > pictures.frameRate * 0.999999
                && (line.pixelFormat == nil || line.pixelFormat == pictures.pixelFormat)
        }
        let named = fitting.filter { $0.pixelFormat != nil }
        return (named.isEmpty ? fitting : named).min { $0.frameRate < $1.frameRate }?.cost ?? cost.other
    }

    var weighsPictures: Bool { cameras.contains { !$0.cost.formats.isEmpty } }
}

extension RankRule {
    /// A client that gave up its rank gave up what comes with it, except the lease and its pause, which are
    /// duties.
    func lowered(to rank: Int) -> RankRule {
        guard rank > self.rank else { return self }
        var lowered = RankRule(name: name, rank: rank, lease: lease, deny: deny)
        lowered.pause = pause
        return lowered
    }
}

extension Contention {
    var shares: Bool { sharing != .none }
    var givesControlByCommit: Bool { sharing == .all }
    var decidesAtOpen: Bool { reDecide == .open }
    var sharesWithEveryone: Bool { shareWith == .everyone }
}

extension Facts {
    fileprivate func passes(_ test: FactTest) -> Bool {
        switch test {
        case .app(let name): app == name
        case .claimedApp(let name): claimedApp == name
        case .user(let id): user == id
        case .loginSession(let state): loginSession == state
        case .foreground(let inFront): presence.isForeground == inFront
        case .layout(let layout): presence == .foreground(layout)
        case .focused(let focused): isFocused == focused
        case .foregroundApps(let count): foregroundApps == count
        case .client(let wanted): client == wanted
        case .multitasking(let optedIn): multitasking == optedIn
        case .camera(let id): camera == id
        case .position(let wanted): position == wanted
        case .usesAudio(let uses): usesAudio == uses
        case .microphoneTaken(let taken): microphoneTaken == taken
        case .pressure(let level): pressure >= level
        case .recording(let recording): isRecording == recording
        case .bidIsNew(let wanted): bidIsNew == wanted
        case .operatorChosen(let chosen): operatorChosen == chosen
        case .attribute(let name, let value): attributes.contains { $0.name == name && $0.value == value }
        case .mode(let name): mode == name
        }
    }
}
