package import Arbiter
import ArbiterProtocol

// A state relative to now: moments are distances, ordinals are ranks, and counters are left out: sequence numbers and ids of grants,
// interruptions and files. Every stored property is written here, or follows from others and is named in a comment; a test compares
// that with `StateText` on long walks. A walk does this at every step, field by field: a row that is read whole is copied.

extension State {
    /// The part that concerns no app. A camera is its row: a walk's worlds plug cameras in in one order. `lastOrdinal`, `generation`
    /// and the ledger's counters only count; `users` follow from the apps.
    func writeShared(
        _ symmetry: AppSymmetry, _ cache: borrowing CanonicalCache, into writer: inout FingerprintWriter
    ) {
        for slot in cameraOrder {
            write(slot, countsLeases: symmetry.countsLeases, into: &writer)
            writer.combine(cache.cameraMarks[Int(slot.index)])
            writer.combine(cache.cameras[slot.index])
            if symmetry.isWhole { writeNames(of: slot, into: &writer) }
        }
        writeMachine(into: &writer)
        writeTimers(countsLeases: symmetry.countsLeases, into: &writer) { $0.app == nil && $0.session == nil }
        if symmetry.isWhole { writeLedger(into: &writer) }
    }

    /// `generation` only counts. Which apps of a name are in front, its requests and the places of its attributes follow
    /// from the rest.
    func write(
        _ slot: Slot<App>, _ symmetry: AppSymmetry, _ cache: borrowing CanonicalCache,
        into writer: inout FingerprintWriter
    ) {
        let row = Int(slot.index)
        let (first, other) = (apps.rows[row].vouched.firstClient, apps.rows[row].claimed.firstClient)
        // Nearly always there is one client, which needs no sum.
        let only = first == nil ? other : other == nil ? first : nil
        let isOne = only.map { clients.rows[Int($0.index)].nextOfApp == nil } ?? false
        writer.combine(word(of: slot) | (isOne ? 1 << 40 : 0))
        if apps.rows[row].isAttributed { writer.combine(words: attributes[row]) }
        writeTimers(countsLeases: symmetry.countsLeases, into: &writer) { $0.app?.slot == slot }
        if symmetry.isWhole { writer.combine(words: id(slot)) }
        if isOne, let only { return write(only, symmetry, cache, into: &writer) }
        if first == nil, other == nil { return }
        var sum = UnorderedSum()
        for first in [first, other] {
            var place = first
            while let client = place {
                var one = FingerprintWriter()
                write(client, symmetry, cache, into: &one)
                sum.add(one)
                place = clients.rows[Int(client.index)].nextOfApp
            }
        }
        sum.write(into: &writer)
    }

    /// `who`, `right`, `loweredRank` and `hasLoweredItself` follow from the rest and the policy, `nextOfApp` from the ids.
    private func write(
        _ slot: Slot<Client>, _ symmetry: AppSymmetry, _ cache: borrowing CanonicalCache,
        into writer: inout FingerprintWriter
    ) {
        let row = Int(slot.index)
        let first = clients.rows[row].firstSession
        let isOne = first.map { sessions.rows[Int($0.index)].nextOfClient == nil } ?? false
        writer.combine(word(of: slot) | (isOne ? 1 << 40 : 0))
        writer.combine(cache.texts[slot.index])
        if let login = clients.rows[row].login { writer.combine(id(login).name) }
        if symmetry.isWhole { writer.combine(clients.rows[row].id) }
        if isOne, let first { return write(first, of: clients.rows[row].app, symmetry, cache, into: &writer) }
        var sum = UnorderedSum()
        var place = first
        while let session = place {
            var one = FingerprintWriter()
            write(session, of: clients.rows[row].app, symmetry, cache, into: &one)
            sum.add(one)
            place = sessions.rows[Int(session.index)].nextOfClient
        }
        sum.write(into: &writer)
    }

    /// `nextOnCamera` follows from the ids. Of the ledger, `sharersTold` would show rows and their generations.
    private func write(
        _ slot: Slot<Session>, of app: AppRef, _ symmetry: AppSymmetry, _ cache: borrowing CanonicalCache,
        into writer: inout FingerprintWriter
    ) {
        let row = Int(slot.index)
        writer.combine(cache.sessionMarks[row])
        writer.combine(word(of: slot, readsBids: symmetry.readsBids))
        let isKeptOut = sessions.rows[row].waits?.interrupter.map { $0 != app } ?? false
        let camera = Int(sessions.rows[row].camera.index)
        writer.combine(UInt64(camera) << 1 | (isKeptOut ? 1 : 0))
        writer.combine(cache.settings[slot.index])
        for place in cameraSettings[camera].asked.indices
        where cameraSettings[camera].asked[place].session == sessions.rows[row].id { writer.combine(place) }
        if let request = sessions.rows[row].request { writer.combine(Self.place(of: request, cache)) }
        Self.writeRoles(of: slot.index, cache, into: &writer)
        writeTimers(countsLeases: symmetry.countsLeases, into: &writer) { $0.session == slot }
        if symmetry.isWhole { writeNames(of: slot, into: &writer) }
    }

    /// Ordinals as far as they are compared: start requests with each other, grants with each other, and the start of a bid with
    /// grants.
    @inline(__always) private static func place(
        of request: Session.StartRequest, _ cache: borrowing CanonicalCache
    ) -> UInt64 {
        var place: UInt64 = 0
        for index in cache.requests.indices where cache.requests[index] < request.started { place += 1 }
        guard let bidSince = request.bidSince else { return place << 32 | 1 }
        var newerThan: UInt64 = 0
        for index in cache.roles.indices where bidSince > cache.roles[index].granted {
            newerThan |= 2 << UInt64(index)
        }
        return place << 32 | newerThan
    }

    /// A byte for each camera: holder, winner of a contest, winner of a cut.
    @inline(__always) private static func writeRoles(
        of session: Int32, _ cache: borrowing CanonicalCache, into writer: inout FingerprintWriter
    ) {
        var word: UInt64 = 0
        for index in cache.roles.indices {
            if index & 7 == 0, index > 0 {
                writer.combine(word)
                word = 0
            }
            let camera = cache.roles[index]
            var roles: UInt64 = camera.promised != session ? 0 : camera.isDormant ? 0x81 : 1
            if camera.beneficiary == session { roles |= 2 }
            if camera.holder == session {
                roles |= 4
                for other in cache.roles.indices where cache.roles[other].granted < camera.granted { roles += 8 }
            }
            word = word << 8 | roles & 0xff
        }
        writer.combine(word)
    }
}

extension State {
    @inline(__always) func distance(to moment: Moment) -> Int64 {
        moment == .distantFuture ? .max : max(0, moment.nanoseconds - now.nanoseconds)
    }

    /// `grant` and `handover` only count; `place`, `who` and `position` follow from the policy and the capabilities, and `firstRequest`
    /// from the sessions.
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

    /// The session, and its order among grants, are written with the session. `since` is history.
    private func write(
        _ held: Held, on camera: Slot<Camera>, _ countsLeases: Bool, into writer: inout FingerprintWriter
    ) {
        // A min-hold that is over is none.
        let minHold = held.minHoldUntil.flatMap { $0 > now ? $0 : nil }
        // How long it has streamed counts until faults and dead recorders are forgotten.
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
            // It differs from the lease of its rank, which follows from the facts, only after a load.
            writer.combine(held.leaseOfRank ?? -1)
            if held.leaseSince != nil {
                let app = clients.rows[Int(sessions.rows[session].client.index)].app
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

    /// More than the longest lease counts as much as that.
    package func used(_ amount: Int64) -> Int64 { policy.longestLease > 0 ? min(amount, policy.longestLease) : amount }

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

    /// Whether a timer is not written with a holder already.
    private func isWritten(_ timer: TimedFact, countsLeases: Bool) -> Bool {
        guard timer.kind == .leaseUsed else { return true }
        guard countsLeases, let camera = timer.camera else { return false }
        guard let held = cameras.rows[Int(camera.index)].tenancy.held, held.leaseSince != nil else { return true }
        let client = sessions.rows[Int(held.session.index)].client
        return clients.rows[Int(client.index)].app != timer.app
    }
}
