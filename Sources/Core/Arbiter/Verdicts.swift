package import Vocabulary

/// A step's verdicts, recorded for `explain`.
extension Arbiter {
    mutating func observe(_ look: Look, _ outcome: Verdict.Outcome, _ rule: Rule) {
        guard notes.isObserved else { return }
        var verdict = Verdict(
            session: SessionID(look.id), outcome: outcome, rule: rule, text: text(rule),
            facts: state.words(for: look.facts, of: look.session))
        if rule.law == .noRight || rule.law == .loginSession {
            verdict.right = state.rightReason(of: state.sessions[look.session].client, on: look.camera)
            verdict.seat = state.seat(of: look.camera)
        }
        notes.verdicts.append(verdict)
    }

    mutating func observe(_ seating: Seating, _ look: Int, _ outcome: Verdict.Outcome) {
        guard notes.isObserved else { return }
        let first = notes.verdicts.count
        observe(seating.looks[look], outcome, seating.rulings[look].rule)
        complete(verdictsFrom: first, seating, look)
    }

    /// Adds the bid that a session met, and the others in its way: for a winner, the bids that wait for its camera.
    mutating func complete(verdictsFrom first: Int, _ seating: Seating, _ look: Int) {
        let ruling = seating.rulings[look]
        for index in notes.verdicts.indices[first...] {
            if case .granted = notes.verdicts[index].outcome {
                let camera = seating.looks[look].camera
                let waiting = seating.looks.indices.filter {
                    seating.rulings[$0].kind == .waits && seating.looks[$0].camera == camera
                }
                notes.verdicts[index].opponents = waiting.map { _ in state.cameraNames[camera] }
                continue
            }
            if ruling.opponent >= 0 { notes.verdicts[index].against = state.id(seating.looks[ruling.opponent].app) }
            let opponents = seating.opponents[look] ?? []
            notes.verdicts[index].opponents = opponents.map { state.cameraNames[seating.looks[$0].camera] }
        }
    }

    /// The facts that rules read about a session now; `nil`: there is no such session.
    package func facts(of id: SessionID) -> Facts? {
        guard let slot = state.session(id) else { return nil }
        return state.words(for: state.look(at: slot).facts, of: slot)
    }
}

extension State {
    package func words(for slot: Slot<Session>) -> Facts { words(for: look(at: slot).facts, of: slot) }

    package func words(for bits: FactBits, of slot: Slot<Session>) -> Facts {
        let client = clients[sessions[slot].client]
        let camera = sessions[slot].camera
        let app = appNames[client.app.slot]
        let placed = placement(of: client.app)
        let attributes = policy.source.attributes.enumerated().map { index, attribute in
            let place = Int(bits.attributes >> UInt64(8 * index) & 0xff)
            return Facts.AttributeValue(name: attribute.name, value: attribute.values[place], place: place)
        }
        return Facts(
            app: client.app.isClaimed ? nil : app.name,
            claimedApp: clientTexts[Int(sessions[slot].client.index)].claimedApp, user: app.user,
            loginSession: Facts.LoginState.allCases.first { $0.code == bits[.login] } ?? .none,
            presence: placed.presence, isFocused: bits.has(.focused),
            foregroundApps: Facts.ForegroundApps.allCases.first { $0.code == bits[.inFront] } ?? .one,
            client: client.kind.word, multitasking: bits.has(.multitasking), camera: cameraNames[camera],
            position: cameraSettings[camera].capabilities.position, usesAudio: bits.has(.usesAudio),
            microphoneTaken: bits.has(.microphone), pressure: world.pressure, isRecording: bits.has(.recording),
            bidIsNew: bits.has(.bidIsNew), operatorChosen: bits.has(.chosen), attributes: attributes, mode: mode?.name)
    }
}
