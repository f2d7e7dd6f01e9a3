package import Arbiter
import ArbiterProtocol

// What a state is, seen from now: moments are distances, places in the order of what happened are ranks, and what only
// counts is left out, sequence numbers and ids of grants, interruptions and files. Every stored property of a state is
// written here, or follows from others and is named in a comment; a test holds that against `StateText` on long walks.
//
// A walk does this at every step. Rows are read field by field: one that is read whole is copied.

extension State {
    /// What concerns no app. A camera is its row here: rows of cameras stay where they are, and a walk's worlds plug them in
    /// in one order. `lastOrdinal`, `generation` and the ledger's counters only count; `users` follow from the apps.
    @inline(__always) func writeShared(
        _ cast: FoldedCast, _ memory: borrowing FoldMemory, into writer: inout FingerprintWriter,
        _ note: (CameraID) -> UInt64
    ) {
        for slot in cameraOrder {
            write(slot, countsLeases: cast.countsLeases, into: &writer)
            writer.combine(note(id(slot)))
            writer.combine(memory.cameras[slot.index])
            if cast.isWhole { writeNames(of: slot, into: &writer) }
        }
        writeMachine(into: &writer)
        writeTimers(countsLeases: cast.countsLeases, into: &writer) { $0.app == nil && $0.session == nil }
        if cast.isWhole { writeLedger(into: &writer) }
    }

    /// `generation` only counts. Which apps of a name are in front, its requests and the places of its attributes follow
    /// from the rest.
    @inline(__always) func write(
        _ slot: Slot<App>, _ cast: FoldedCast, _ memory: borrowing FoldMemory,
        into writer: inout FingerprintWriter, _ note: (SessionID) -> UInt64
    ) {
        let row = Int(slot.index)
        let (first, other) = (apps.rows[row].vouched.firstClient, apps.rows[row].claimed.firstClient)
        // Nearly always there is one client, which needs no sum: the word says which of the two follows.
        let only = first == nil ? other : other == nil ? first : nil
        let isOne = only.map { clients.rows[Int($0.index)].nextOfApp == nil } ?? false
        writer.combine(word(of: slot) | (isOne ? 1 << 40 : 0))
        if apps.rows[row].isAttributed { writer.combine(words: attributes[row]) }
        writeTimers(countsLeases: cast.countsLeases, into: &writer) { $0.app?.slot == slot }
        if cast.isWhole { writer.combine(words: id(slot)) }
        if isOne, let only { return write(only, cast, memory, into: &writer, note) }
        if first == nil, other == nil { return }
        var sum = UnorderedSum()
        for first in [first, other] {
            var place = first
            while let client = place {
                var one = FingerprintWriter()
                write(client, cast, memory, into: &one, note)
                sum.add(one)
                place = clients.rows[Int(client.index)].nextOfApp
            }
        }
        sum.write(into: &writer)
    }

    /// `who`, `right`, `loweredRank` and `hasLoweredItself` follow from the rest and the policy, `nextOfApp` from the ids.
    private func write(
        _ slot: Slot<Client>, _ cast: FoldedCast, _ memory: borrowing FoldMemory,
        into writer: inout FingerprintWriter, _ note: (SessionID) -> UInt64
    ) {
        let row = Int(slot.index)
        let first = clients.rows[row].firstSession
        let isOne = first.map { sessions.rows[Int($0.index)].nextOfClient == nil } ?? false
        writer.combine(word(of: slot) | (isOne ? 1 << 40 : 0))
        writer.combine(memory.texts[slot.index])
        if let login = clients.rows[row].login { writer.combine(id(login).name) }
        if cast.isWhole { writer.combine(clients.rows[row].id) }
        if isOne, let first { return write(first, of: clients.rows[row].app, cast, memory, into: &writer, note) }
        var sum = UnorderedSum()
        var place = first
        while let session = place {
            var one = FingerprintWriter()
            write(session, of: clients.rows[row].app, cast, memory, into: &one, note)
            sum.add(one)
            place = sessions.rows[Int(session.index)].nextOfClient
        }
        sum.write(into: &writer)
    }

    /// `nextOnCamera` follows from the ids. Of the ledger, `sharersTold` would show rows and their generations.
    private func write(
        _ slot: Slot<Session>, of app: AppRef, _ cast: FoldedCast, _ memory: borrowing FoldMemory,
        into writer: inout FingerprintWriter, _ note: (SessionID) -> UInt64
    ) {
        let row = Int(slot.index)
        writer.combine(note(SessionID(sessions.rows[row].id)))
        writer.combine(word(of: slot, readsBids: cast.readsBids))
        // A statement may ask whether another app keeps the camera from it.
        let isKeptOut = sessions.rows[row].waits?.interrupter.map { $0 != app } ?? false
        let camera = Int(sessions.rows[row].camera.index)
        writer.combine(UInt64(camera) << 1 | (isKeptOut ? 1 : 0))
        writer.combine(memory.settings[slot.index])
        for place in cameraSettings[camera].asked.indices
        where cameraSettings[camera].asked[place].session == sessions.rows[row].id { writer.combine(place) }
        if let request = sessions.rows[row].request { writer.combine(Self.place(of: request, memory)) }
        Self.writeRoles(of: slot.index, memory, into: &writer)
        writeTimers(countsLeases: cast.countsLeases, into: &writer) { $0.session == slot }
        if cast.isWhole { writeNames(of: slot, into: &writer) }
    }

    /// Ordinals as far as they are compared: start requests with each other, and so grants; when a session began to
    /// contend, with grants.
    @inline(__always) private static func place(
        of request: Session.StartRequest, _ memory: borrowing FoldMemory
    ) -> UInt64 {
        var place: UInt64 = 0
        for index in memory.requests.indices where memory.requests[index] < request.started { place += 1 }
        guard let bidSince = request.bidSince else { return place << 32 | 1 }
        var newerThan: UInt64 = 0
        for index in memory.roles.indices where bidSince > memory.roles[index].granted {
            newerThan |= 2 << UInt64(index)
        }
        return place << 32 | newerThan
    }

    /// What it is to each camera: holder, winner of a contest, winner of a cut; a byte each.
    @inline(__always) private static func writeRoles(
        of session: Int32, _ memory: borrowing FoldMemory, into writer: inout FingerprintWriter
    ) {
        var word: UInt64 = 0
        for index in memory.roles.indices {
            if index & 7 == 0, index > 0 {
                writer.combine(word)
                word = 0
            }
            let camera = memory.roles[index]
            var roles: UInt64 = camera.promised != session ? 0 : camera.isDormant ? 0x81 : 1
            if camera.beneficiary == session { roles |= 2 }
            if camera.holder == session {
                roles |= 4
                for other in memory.roles.indices where memory.roles[other].granted < camera.granted { roles += 8 }
            }
            word = word << 8 | roles & 0xff
        }
        writer.combine(word)
    }
}

/// What is held, and what ends by itself.
extension State {
    /// How far away it is; what is past is here.
    @inline(__always) private func distance(to moment: Moment) -> Int64 {
        moment == .distantFuture ? .max : max(0, moment.nanoseconds - now.nanoseconds)
    }

    /// What a camera is like, and what is under way on it. Of its grants and decisions only their number is left out
    /// (that there was one keeps out survivors that are told of too late, which no broker does). `place`, `who` and
    /// `position` follow from the policy and its capabilities, and `firstRequest` from the sessions.
    @inline(__always) private func write(
        _ slot: Slot<Camera>, countsLeases: Bool, into writer: inout FingerprintWriter
    ) {
        let row = Int(slot.index)
        var word: UInt64 = (cameras.rows[row].isPresent ? 1 : 0) | (cameras.rows[row].isPrivate ? 2 : 0)
        word |= UInt64(UInt8(bitPattern: cameras.rows[row].seat)) << 24
        word |= (cameras.rows[row].isHeldOutside ? 4 : 0) | (cameras.rows[row].isStuck ? 8 : 0)
        word |= UInt64(cameras.rows[row].faults) << 8
        if let contest = cameras.rows[row].promise?.contest {
            writer.combine(16)
            write(contest, into: &writer)
        }
        switch cameras.rows[row].tenancy {
        case .free: writer.combine(word)
        case .starting(let held, let until):
            writer.combine(word | 1 << 16)
            writer.combine(distance(to: until))
            write(held, on: slot, countsLeases, into: &writer)
        case .streaming(let held):
            writer.combine(word | 2 << 16)
            write(held, on: slot, countsLeases, into: &writer)
        case .lost(let held, let cut):
            writer.combine(word | (cut == nil ? 3 : 4) << 16)
            if let cut { write(cut, into: &writer) }
            write(held, on: slot, countsLeases, into: &writer)
        case .revoking(let cut):
            writer.combine(word | 5 << 16)
            write(cut, into: &writer)
        case .surviving(let survivor): writer.combine(word | (survivor.recording == nil ? 6 : 7) << 16)
        }
    }

    private func write(_ cut: Cut, into writer: inout FingerprintWriter) {
        writer.combine(distance(to: cut.until))
        writer.combine(cut.isKilled)
    }

    /// Which session it is, and since when beside others, is written with the session. `since` is history.
    private func write(
        _ held: Held, on camera: Slot<Camera>, _ countsLeases: Bool, into writer: inout FingerprintWriter
    ) {
        // A min-hold that is over is none.
        let minHold = held.minHoldUntil.flatMap { $0 > now ? $0 : nil }
        // How long it has streamed counts where faults, or dead recorders, are to be forgotten, and as long as that takes.
        let session = Int(held.session.index)
        let isSteady = cameras.rows[Int(camera.index)].faults == 0 && sessions.rows[session].deaths == 0
        let steady = isSteady ? nil : held.streamingSince
        var word: UInt64 = (minHold == nil ? 0 : 1) | (held.leaseUntil == nil ? 0 : 2)
        word |= countsLeases && held.leaseSince != nil ? 64 : 0
        word |= (held.contest == nil ? 0 : 4) | (held.contest?.announced == nil ? 0 : 8)
        word |= (held.contest?.announced?.isReady == true ? 16 : 0) | (steady == nil ? 0 : 32)
        writer.combine(word)
        if let minHold { writer.combine(distance(to: minHold)) }
        if let steady { writer.combine(min(now.nanoseconds - steady.nanoseconds, Bound.steady.wholeNanoseconds)) }
        if countsLeases {
            if let until = held.leaseUntil { writer.combine(distance(to: until)) }
            // Another one than its rank's only since a load: that of the rank follows from the facts.
            writer.combine(held.leaseOfRank ?? -1)
            if held.leaseSince != nil {
                let app = clients.rows[Int(sessions.rows[session].client.index)].app
                // What its app has used of a lease: banked before, and since.
                let timer = timers.first { $0.kind == .leaseUsed && $0.app == app && $0.camera == camera }
                writer.combine(used(held.leaseUsed(by: now, banked: timer?.amount ?? 0)))
            }
        }
        if let contest = held.contest { write(contest, into: &writer) }
    }

    private func write(_ contest: Contest, into writer: inout FingerprintWriter) {
        writer.combine(distance(to: contest.due))
        if let announced = contest.announced { writer.combine(distance(to: announced.deadline)) }
    }

    /// As far as it counts: more than the longest lease is as much as that.
    package func used(_ amount: Int64) -> Int64 { policy.longestLease > 0 ? min(amount, policy.longestLease) : amount }

    /// Timers that concern a session, app or camera. Where none counts, nothing is written.
    @inline(__always) private func writeTimers(
        countsLeases: Bool, into writer: inout FingerprintWriter, _ concern: (TimedFact) -> Bool
    ) {
        if timers.isEmpty { return }
        var sum = UnorderedSum()
        var isAny = false
        for timer in timers where concern(timer) && isWritten(timer, countsLeases: countsLeases) {
            var one = FingerprintWriter()
            let camera = UInt64(timer.camera.map { UInt32($0.index) + 1 } ?? 0)
            one.combine(UInt64(timer.kind.rawValue) << 40 | (timer.app?.isClaimed == true ? 1 << 32 : 0) | camera)
            one.combine(distance(to: timer.due))
            one.combine(timer.kind == .leaseUsed ? used(timer.amount) : timer.amount)
            sum.add(one)
            isAny = true
        }
        if isAny { sum.write(into: &writer) }
    }

    /// Whether a timer says something that is not written with a holder already.
    private func isWritten(_ timer: TimedFact, countsLeases: Bool) -> Bool {
        guard timer.kind == .leaseUsed else { return true }
        guard countsLeases, let camera = timer.camera else { return false }
        guard let held = cameras.rows[Int(camera.index)].tenancy.held, held.leaseSince != nil else { return true }
        let client = sessions.rows[Int(held.session.index)].client
        return clients.rows[Int(client.index)].app != timer.app
    }
}

/// Rows in one word each.
extension State {
    /// What is said of an app by its name.
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

    /// What a client said of itself, without its texts, and how the kernel knows it.
    @inline(__always) private func word(of slot: Slot<Client>) -> UInt64 {
        let row = Int(slot.index)
        var word: UInt64 = (clients.rows[row].app.isClaimed ? 1 : 0) | (clients.rows[row].multitasking ? 2 : 0)
        word |= (clients.rows[row].requiresFullScreen ? 4 : 0) | (clients.rows[row].login == nil ? 0 : 1 << 16)
        return word | UInt64(clients.rows[row].kind.rawValue) << 8 | UInt64(clients.rows[row].marks.rawValue) << 24
    }

    /// What a session is, apart from which one it is and what it waits for. The numbers of its ledger are left out, but not
    /// that something is under way.
    @inline(__always) private func word(of slot: Slot<Session>, readsBids: Bool) -> UInt64 {
        let row = Int(slot.index)
        // The marks from the ninth on stand at the other end: the first have no room beside them. The last of them has its
        // place above the deaths, which are few.
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

/// The machine.
extension State {
    /// What concerns neither a camera nor an app. Whether several users ask follows from the sessions.
    @inline(__always) private func writeMachine(into writer: inout FingerprintWriter) {
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

/// What a fold leaves out: ids, names of rules, and what only changes what clients are told next.
extension State {
    /// Apps of which something is said, or that have clients or times of their own.
    var spokenApps: [Slot<App>] {
        apps.rows.indices.map { Slot<App>($0) }.filter { slot in
            let app = apps.rows[Int(slot.index)]
            return isNamed(slot)
                && (word(of: slot) != 0 || app.vouched.firstClient != nil || app.claimed.firstClient != nil
                    || timers.contains { $0.app?.slot == slot })
        }
    }

    private func writeNames(of slot: Slot<Camera>, into writer: inout FingerprintWriter) {
        let camera = cameras.rows[Int(slot.index)]
        writer.combine(id(slot).name)
        for rule in [camera.promise?.rule, camera.tenancy.held?.rule, camera.contest?.rule] {
            writer.combine(rule) { write($1, into: &$0) }
        }
        for asked in cameraSettings[Int(slot.index)].asked { writer.combine(asked.session) }
    }

    private func writeNames(of slot: Slot<Session>, into writer: inout FingerprintWriter) {
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

    private func writeLedger(into writer: inout FingerprintWriter) {
        writer.ordered(ledger.recordings) { writer, recording in
            writer.combine(recording.session)
            writer.combine(recording.endedBy != nil)
        }
        writer.ordered(ledger.photos) { $0.combine($1.session) }
    }

    /// Its place in the order of what happened, among all that can still change a decision.
    private func rank(_ ordinal: Ordinal) -> Int {
        let requests = sessions.rows.compactMap(\.request)
        let others =
            requests.map(\.started) + requests.compactMap(\.bidSince)
            + cameras.rows.compactMap { $0.tenancy.held?.granted }
        return others.count { $0 < ordinal }
    }

    /// Of an app whose row another one has now, only that it was another's is written.
    private func write(_ app: AppRef?, into writer: inout FingerprintWriter) {
        guard let app else { return writer.combine(0) }
        guard isThere(app) else { return writer.combine(1) }
        writer.combine(app.isClaimed ? 3 : 2)
        writer.combine(words: id(app.slot))
    }

    /// By its place among the texts of the policy, which is written beside; a text of a policy before it by its words.
    private func write(_ rule: Rule, into writer: inout FingerprintWriter) {
        if rule.law == nil, policy.texts.count <= rule.index {
            writer.combine(rule.isAfterItsTime ? -1 : -2)
            return writer.combine(text(rule))
        }
        writer.combine(UInt64(rule.kind.rawValue) << 20 | UInt64(rule.index) << 1 | (rule.isAfterItsTime ? 1 : 0))
    }
}
