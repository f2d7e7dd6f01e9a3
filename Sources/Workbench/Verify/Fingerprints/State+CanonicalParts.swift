package import Arbiter
import ArbiterProtocol

extension State {
    @inline(__always) package func word(of slot: Slot<App>) -> UInt64 {
        let row = Int(slot.index)
        var word = apps.rows[row].byShell.mark | apps.rows[row].byAgent.mark << 8
        word |= apps.rows[row].vouched.declared.mark << 16 | apps.rows[row].claimed.declared.mark << 24
        word |= (apps.rows[row].hasMicrophone ? 1 << 32 : 0) | (apps.rows[row].isAttributed ? 1 << 33 : 0)
        word |= world.operatorChoice == slot ? 1 << 34 : 0
        for place in users.indices {
            if users[place].focusOfShell == slot { word |= 1 << 35 }
            if users[place].focusOfAgent == slot { word |= 1 << 36 }
        }
        return word
    }

    @inline(__always) func word(of slot: Slot<Client>) -> UInt64 {
        let row = Int(slot.index)
        var word: UInt64 = (clients.rows[row].app.isClaimed ? 1 : 0) | (clients.rows[row].multitasking ? 2 : 0)
        word |= (clients.rows[row].requiresFullScreen ? 4 : 0) | (clients.rows[row].login == nil ? 0 : 1 << 16)
        return word | UInt64(clients.rows[row].kind.rawValue) << 8 | UInt64(clients.rows[row].marks.rawValue) << 24
    }

    /// A session without its identity and its interrupter. The numbers of its ledger are left out, but not their presence.
    @inline(__always) func word(of slot: Slot<Session>, readsBids: Bool) -> UInt64 {
        let row = Int(slot.index)
        // Marks from the ninth on stand at the other end, and the last above the deaths, which are few.
        let marks = UInt64(sessions.rows[row].has.rawValue)
        var word = marks & 0xff | (marks >> 8 & 0x7f) << 57 | (marks >> 15) << 33
        switch sessions.rows[row].shown {
        case .stopped: break
        case .pending: word |= 1 << 8
        case .running(let access): word |= 2 << 8 | UInt64(access.rawValue) << 10
        case .interrupted(let causes, _): word |= 3 << 8 | UInt64(causes.bits) << 10
        }
        word |= UInt64(sessions.rows[row].deaths) << 26 | UInt64(sessions.rows[row].refusals) << 34
        word |= (sessions.rows[row].lost.map { UInt64($0.rawValue) + 1 } ?? 0) << 42
        if let request = sessions.rows[row].request {
            word |= 1 << 44 | (readsBids && request.hasHeld ? 1 << 45 : 0)
        }
        if let waits = sessions.rows[row].waits { word |= 1 << 46 | (waits.isSharing ? 1 << 47 : 0) }
        word |= sessions.rows[row].ledger.open == nil ? 0 : 1 << 48
        word |= sessions.rows[row].ledger.announced == nil ? 0 : 1 << 49
        word |= sessions.rows[row].ledger.recording == nil ? 0 : 1 << 50
        return word | UInt64(min(sessions.rows[row].ledger.unfinished, 0x3f)) << 51
    }
}

extension State {
    /// Whether several users ask follows from the sessions.
    @inline(__always) func writeMachine(into writer: inout FingerprintWriter) {
        let isAnythingSaid = !words.isEmpty || !privateUsers.isEmpty || !questionWatchers.isEmpty
        var word: UInt64 = (world.isPrivate ? 1 : 0) | (world.isAsleep ? 2 : 0)
        word |= UInt64(world.pressureLevel) << 8 | (isAnythingSaid ? 1 << 32 : 0)
        word |= (sources.isEmpty ? 0 : 4) | (logins.rows.isEmpty ? 0 : 8) | UInt64(seats.count) << 16
        word |= (modeWords.byHand == nil ? 0 : 1 << 33) | (modeWords.calendar == nil ? 0 : 1 << 34)
        writer.combine(word)
        if word >> 33 != 0 { writer.combine(words: modeWords) }
        if seats.count > 1 { writer.combine(words: seats) }
        if !sources.isEmpty { writeSources(into: &writer) }
        if isAnythingSaid { writeWords(into: &writer) }
        if !logins.rows.isEmpty {
            var sum = UnorderedSum()
            for place in logins.rows.indices where logins.rows[place].mark != 0 {
                var one = FingerprintWriter()
                one.combine(id(Slot<Login>(place)).name)
                one.combine(logins.rows[place].mark)
                sum.add(one)
            }
            sum.write(into: &writer)
        }
    }

    private func writeWords(into writer: inout FingerprintWriter) {
        writer.ordered(words) { writer, word in
            writer.combine(word.app.name)
            var mark = UInt64(word.app.user) | (word.isClaimed ? 1 << 32 : 0) | (word.isDenied ? 1 << 33 : 0)
            // The origin of an answer decides nothing.
            mark |= word.answer.map { $0 == .allow ? 1 << 34 : 1 << 35 } ?? 0
            writer.combine(mark)
        }
        writer.combine(words: [Set(privateUsers), Set(questionWatchers)])
    }

    private func writeSources(into writer: inout FingerprintWriter) {
        writer.combine(sources.count)
        for place in sources.indices {
            let word: UInt64 = sources[place].user.map { (UInt64($0) + 1) << 8 } ?? 0
            writer.combine(word | (sources[place].isShell ? 1 : 0))
            switch sources[place].state {
            case .attached: writer.combine(0)
            case .lost: writer.combine(1)
            case .resumed(let until):
                writer.combine(2)
                writer.combine(distance(to: until))
            case .frozen(let until):
                writer.combine(3)
                writer.combine(distance(to: until))
            }
        }
    }
}

/// For fingerprints of whole states: ids, names of rules, and what only changes notices.
extension State {
    /// Apps with words, clients or times of their own.
    var spokenApps: [Slot<App>] {
        apps.rows.indices.map { Slot<App>($0) }.filter { slot in
            let app = apps.rows[Int(slot.index)]
            return isNamed(slot)
                && (word(of: slot) != 0 || app.vouched.firstClient != nil || app.claimed.firstClient != nil
                    || timers.contains { $0.app?.slot == slot })
        }
    }

    func writeNames(of slot: Slot<Camera>, into writer: inout FingerprintWriter) {
        let camera = cameras.rows[Int(slot.index)]
        writer.combine(id(slot).name)
        for rule in [camera.promise?.rule, camera.tenancy.held?.rule, camera.contest?.rule] {
            writer.combine(rule) { write($1, into: &$0) }
        }
        for asked in cameraSettings[Int(slot.index)].asked { writer.combine(asked.session) }
    }

    func writeNames(of slot: Slot<Session>, into writer: inout FingerprintWriter) {
        let session = sessions.rows[Int(slot.index)]
        writer.combine(session.id)
        writer.combine(session.request) {
            $0.combine(rank($1.started))
            $0.combine($1.bidSince.map { rank($0) } ?? -1)
        }
        writer.combine(session.waits) {
            write($1.interrupter, into: &$0)
            write($1.rule, into: &$0)
        }
        if case .interrupted(_, let by) = session.shown { write(by, into: &writer) }
        writer.combine(words: sessionSettings[Int(slot.index)])
    }

    func writeLedger(into writer: inout FingerprintWriter) {
        writer.ordered(ledger.recordings) { writer, recording in
            writer.combine(recording.session)
            writer.combine(recording.endedBy != nil)
        }
        writer.ordered(ledger.photos) { $0.combine($1.session) }
    }

    /// Among all ordinals that can still change a decision.
    private func rank(_ ordinal: Ordinal) -> Int {
        let requests = sessions.rows.compactMap(\.request)
        let others =
            requests.map(\.started) + requests.compactMap(\.bidSince)
            + cameras.rows.compactMap { $0.tenancy.held?.granted }
        return others.count { $0 < ordinal }
    }

    private func write(_ app: AppRef?, into writer: inout FingerprintWriter) {
        guard let app else { return writer.combine(0) }
        guard isThere(app) else { return writer.combine(1) }
        writer.combine(app.isClaimed ? 3 : 2)
        writer.combine(words: id(app.slot))
    }

    /// By its place among the policy's texts; a text of an earlier policy by its words.
    private func write(_ rule: Rule, into writer: inout FingerprintWriter) {
        if rule.law == nil, policy.texts.count <= rule.index {
            writer.combine(rule.isAfterItsTime ? -1 : -2)
            return writer.combine(text(rule))
        }
        writer.combine(UInt64(rule.kind.rawValue) << 20 | UInt64(rule.index) << 1 | (rule.isAfterItsTime ? 1 : 0))
    }
}
