package import Arbiter
import ArbiterProtocol

// Parts of a state as both fingerprints write them, the whole one and the fold: seen from now, without ids.

extension State {
    /// How far away it is; what is past is here.
    @inline(__always) func distance(to moment: Moment) -> Int64 {
        moment == .distantFuture ? .max : max(0, moment.nanoseconds - now.nanoseconds)
    }

    /// Age counts as long as something comes of it.
    @inline(__always) func age(of moment: Moment, upTo longest: Duration) -> Int64 {
        min(now.nanoseconds - moment.nanoseconds, longest.wholeNanoseconds)
    }

    /// What a camera is like, and what is under way on it. Of its grants and decisions only their number is left out
    /// (that there was one keeps out survivors that are told of too late, which no broker does). `place`, `who` and
    /// `position` follow from the policy and its capabilities, and `firstRequest` from the sessions.
    @inline(__always) func write(_ slot: Slot<Camera>, countsLeases: Bool, into writer: inout FingerprintWriter) {
        let camera = cameras.rows[Int(slot.index)]
        var word: UInt64 = (camera.isPresent ? 1 : 0) | (camera.isPrivate ? 2 : 0)
        word |= UInt64(UInt8(bitPattern: camera.seat)) << 24
        word |= (camera.isHeldOutside ? 4 : 0) | (camera.isStuck ? 8 : 0)
        word |= UInt64(camera.faults) << 8
        if let contest = camera.promise?.contest {
            writer.combine(16)
            write(contest, into: &writer)
        }
        switch camera.tenancy {
        case .free: writer.combine(word)
        case .starting(let held, let until):
            writer.combine(word | 1 << 16)
            writer.combine(distance(to: until))
            write(held, on: slot, camera.faults, countsLeases, into: &writer)
        case .streaming(let held):
            writer.combine(word | 2 << 16)
            write(held, on: slot, camera.faults, countsLeases, into: &writer)
        case .lost(let held, let cut):
            writer.combine(word | (cut == nil ? 3 : 4) << 16)
            if let cut { write(cut, into: &writer) }
            write(held, on: slot, camera.faults, countsLeases, into: &writer)
        case .revoking(let cut):
            writer.combine(word | 5 << 16)
            write(cut, into: &writer)
        case .surviving(let survivor): writer.combine(word | (survivor.recording == nil ? 6 : 7) << 16)
        }
    }

    @inline(__always) private func write(_ cut: Cut, into writer: inout FingerprintWriter) {
        writer.combine(distance(to: cut.until))
        writer.combine(cut.isKilled)
    }

    /// The caller writes which session it is, and since when beside others. `since` is history.
    private func write(
        _ held: Held, on camera: Slot<Camera>, _ faults: UInt8, _ countsLeases: Bool,
        into writer: inout FingerprintWriter
    ) {
        // A min-hold that is over is none.
        let minHold = held.minHoldUntil.flatMap { $0 > now ? $0 : nil }
        // How long it has streamed counts where faults, or dead recorders, are to be forgotten.
        let session = sessions.rows[Int(held.session.index)]
        let steady = faults > 0 || session.deaths > 0 ? held.streamingSince : nil
        var word: UInt64 = (minHold == nil ? 0 : 1) | (held.leaseUntil == nil ? 0 : 2)
        word |= countsLeases && held.leaseSince != nil ? 64 : 0
        word |= (held.contest == nil ? 0 : 4) | (held.contest?.announced == nil ? 0 : 8)
        word |= (held.contest?.announced?.isReady == true ? 16 : 0) | (steady == nil ? 0 : 32)
        writer.combine(word)
        if let minHold { writer.combine(distance(to: minHold)) }
        if let steady { writer.combine(age(of: steady, upTo: Bound.steady)) }
        if countsLeases {
            if let until = held.leaseUntil { writer.combine(distance(to: until)) }
            // Another one than its rank's only since a load: that of the rank follows from the facts.
            writer.combine(held.leaseOfRank ?? -1)
            if held.leaseSince != nil {
                writer.combine(leaseUsed(held, on: camera, by: clients.rows[Int(session.client.index)].app))
            }
        }
        if let contest = held.contest { write(contest, into: &writer) }
    }

    private func write(_ contest: Contest, into writer: inout FingerprintWriter) {
        writer.combine(distance(to: contest.due))
        if let announced = contest.announced { writer.combine(distance(to: announced.deadline)) }
    }

    /// What its app has used of a lease: banked before, and since.
    func leaseUsed(_ held: Held, on camera: Slot<Camera>, by app: AppRef) -> Int64 {
        let banked = timers.first { $0.kind == .leaseUsed && $0.app == app && $0.camera == camera }?.amount ?? 0
        return used(held.leaseUsed(by: now, banked: banked))
    }

    /// As far as it counts: more than the longest lease is as much as that.
    package func used(_ amount: Int64) -> Int64 { policy.longestLease > 0 ? min(amount, policy.longestLease) : amount }

    /// Whether a timer says something that is not written with a holder already.
    @inline(__always) func isWritten(_ timer: TimedFact, countsLeases: Bool) -> Bool {
        guard timer.kind == .leaseUsed else { return true }
        guard countsLeases, let camera = timer.camera else { return false }
        guard let held = cameras.rows[Int(camera.index)].tenancy.held, held.leaseSince != nil else { return true }
        let client = sessions.rows[Int(held.session.index)].client
        return clients.rows[Int(client.index)].app != timer.app
    }

    /// What becomes of it and when; the caller writes whose it is.
    @inline(__always) func write(_ timer: TimedFact, into writer: inout FingerprintWriter) {
        let camera = UInt64(timer.camera.map { UInt32($0.index) + 1 } ?? 0)
        writer.combine(UInt64(timer.kind.rawValue) << 40 | (timer.app?.isClaimed == true ? 1 << 32 : 0) | camera)
        writer.combine(distance(to: timer.due))
        writer.combine(timer.kind == .leaseUsed ? used(timer.amount) : timer.amount)
    }

    /// What concerns neither a camera nor an app. Whether several users ask follows from the sessions.
    @inline(__always) func writeMachine(into writer: inout FingerprintWriter) {
        var word: UInt64 = (world.isPrivate ? 1 : 0) | (world.isAsleep ? 2 : 0)
        word |= UInt64(world.pressureLevel) << 8
        word |= words.isEmpty && privateUsers.isEmpty && questionWatchers.isEmpty ? 0 : 1 << 32
        word |= (sources.isEmpty ? 0 : 4) | (logins.rows.isEmpty ? 0 : 8) | UInt64(seats.count) << 16
        word |= (modeWords.byHand == nil ? 0 : 1 << 33) | (modeWords.calendar == nil ? 0 : 1 << 34)
        writer.combine(word)
        if let word = modeWords.byHand {
            writer.combine(word.mode)
            writer.combine(word.by.rawValue)
        }
        if let name = modeWords.calendar { writer.combine(name) }
        if seats.count > 1 { writer.ordered(Array(seats.dropFirst())) { $0.combine($1.name) } }
        if !sources.isEmpty { writeSources(into: &writer) }
        if !words.isEmpty || !privateUsers.isEmpty || !questionWatchers.isEmpty { writeWords(into: &writer) }
        if !logins.rows.isEmpty {
            writer.unordered(logins.rows.indices.lazy.filter { logins.rows[$0].mark != 0 }) { writer, place in
                writer.combine(id(Slot<Login>(place)).name)
                writer.combine(logins.rows[place].mark)
            }
        }
    }

    /// What users say, of apps and for themselves; the words are sorted.
    private func writeWords(into writer: inout FingerprintWriter) {
        writer.ordered(words) { writer, word in
            writer.combine(word.app.name)
            var mark = UInt64(word.app.user) | (word.isClaimed ? 1 << 32 : 0) | (word.isDenied ? 1 << 33 : 0)
            // Where an answer comes from is shown, and decides nothing.
            mark |= word.answer.map { $0 == .allow ? 1 << 34 : 1 << 35 } ?? 0
            writer.combine(mark)
        }
        for users in [privateUsers, questionWatchers] { writer.unordered(users) { $0.combine(UInt64($1)) } }
    }

    private func writeSources(into writer: inout FingerprintWriter) {
        writer.combine(sources.count)
        for source in sources {
            writer.combine((source.isShell ? 1 : 0) | (source.user.map { (UInt64($0) + 1) << 8 } ?? 0))
            switch source.state {
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

    /// What is said of an app by its name, in one word. Which apps of a name are in front, its requests and the places
    /// of its attributes follow from the rest.
    @inline(__always) package func word(of slot: Slot<App>) -> UInt64 {
        let app = apps.rows[Int(slot.index)]
        var word = app.byShell.mark | app.byAgent.mark << 8
        word |= app.vouched.declared.mark << 16 | app.claimed.declared.mark << 24
        word |= (app.hasMicrophone ? 1 << 32 : 0) | (app.isAttributed ? 1 << 33 : 0)
        word |= world.operatorChoice == slot ? 1 << 34 : 0
        for user in users {
            if user.focusOfShell == slot { word |= 1 << 35 }
            if user.focusOfAgent == slot { word |= 1 << 36 }
        }
        return word
    }
}

extension Client {
    /// What it said of itself, without its texts, and how the kernel knows it.
    package var word: UInt64 {
        (app.isClaimed ? 1 : 0) | (multitasking ? 2 : 0) | (requiresFullScreen ? 4 : 0)
            | UInt64(kind.rawValue) << 8 | (login == nil ? 0 : 1 << 16) | UInt64(marks.rawValue) << 24
    }
}

extension Session {
    /// What it is, in one word; the caller writes which session it is and what it waits for. The numbers of its ledger
    /// are left out, but not that something is under way.
    @inline(__always) func word(readsBids: Bool) -> UInt64 {
        // The marks from the ninth on stand at the other end: the first have no room beside them. The last of them has its
        // place above the deaths, which are few.
        var word = UInt64(has.rawValue & 0xff) | UInt64(has.rawValue >> 8 & 0x7f) << 57
        word |= has.contains(.exceeds) ? 1 << 33 : 0
        switch shown {
        case .stopped: break
        case .pending: word |= 1 << 8
        case .running(let access): word |= 2 << 8 | UInt64(access.rawValue) << 10
        case .interrupted(let causes, _): word |= 3 << 8 | UInt64(causes.bits) << 10
        }
        word |= UInt64(deaths) << 26 | UInt64(refusals) << 34
        word |= (lost.map { UInt64($0.rawValue) + 1 } ?? 0) << 42
        if let request { word |= 1 << 44 | (readsBids && request.hasHeld ? 1 << 45 : 0) }
        if let waits { word |= 1 << 46 | (waits.isSharing ? 1 << 47 : 0) }
        word |= (ledger.open == nil ? 0 : 1 << 48) | (ledger.announced == nil ? 0 : 1 << 49)
        return word | (ledger.recording == nil ? 0 : 1 << 50) | UInt64(min(ledger.unfinished, 0x3f)) << 51
    }
}
