package import Vocabulary

/// Where a client may use cameras, a bit for each seat: derived again when one of the facts behind it changes.
package struct Right: Hashable, Sendable, Codable, BitwiseCopyable {
    /// By its user, a group, its unit, or as root: at every seat, and whoever sits there.
    var isNamed = false
    /// Seats at which its user has a login session.
    var seats: UInt64 = 0
    /// The seats that show its user's login session, unlocked.
    var activeSeats: UInt64 = 0
    /// Without an answer about its app, its user is asked.
    var isAsked = false
}

extension State {
    /// Whether a client may use a camera at all, policy rules aside.
    package func mayUse(_ camera: Slot<Camera>, _ client: Slot<Client>) -> Bool {
        let right = clients[client].right
        return right.isNamed || right.seats & bit(of: cameras[camera].seat) != 0
    }

    /// The login session is not the active one; or the right is the seat's, and the seat shows somebody else or a lock.
    @inline(__always) func isAway(_ client: Client, from camera: Slot<Camera>) -> Bool {
        if let login = client.login, logins[login].state == .inactive { return true }
        return !client.right.isNamed && client.right.activeSeats & bit(of: cameras[camera].seat) == 0
    }

    @inline(__always) private func bit(of seat: Int8) -> UInt64 { seat >= 0 ? 1 << UInt64(seat) : 0 }

    /// Derived from the policy in force and the present login sessions.
    package func right(of slot: Slot<Client>) -> Right {
        let client = clients[slot]
        var right = Right(isAsked: isAsked(client, appNames[client.app.slot]))
        if namedReason(of: slot) != .none {
            right.isNamed = true
        } else if policy.rights.seat, !isTooWeak(client) {
            let user = apps[client.app.slot].user
            if client.marks.contains(.sits) { (right.seats, right.activeSeats) = (.max, .max) }
            for (row, login) in logins.rows.enumerated()
            where login.isKnown && (login.user == user || client.login?.index == Int32(row)) {
                right.seats |= bit(of: login.seat)
                if login.state == .active { right.activeSeats |= bit(of: login.seat) }
            }
        }
        return right
    }

    private func isTooWeak(_ client: Client) -> Bool {
        policy.rights.identity == .strong && client.marks.contains(.weak)
    }

    /// The reason of a right wherever its user is; `none`: it has at most the seat's.
    private func namedReason(of slot: Slot<Client>) -> RightReason {
        let client = clients[slot]
        let app = appNames[client.app.slot]
        if app.user == 0 { return .root }
        if isTooWeak(client) { return .none }
        if client.marks.contains(.own) { return .own }
        if policy.rights.users.contains(where: { $0.number == app.user }) { return .user }
        let groups = clientTexts[slot].groups
        if policy.rights.groups.contains(where: { $0.number.map(groups.contains) == true }) { return .group }
        return !client.app.isClaimed && policy.rights.services.contains(app.name) ? .service : .none
    }

    package func rightReason(of slot: Slot<Client>, on camera: Slot<Camera>) -> RightReason {
        let reason = namedReason(of: slot)
        return reason == .none && mayUse(camera, slot) ? .seat : reason
    }

    package mutating func updateRights() {
        for slot in Array(clientSlots.slots) { clients[slot].right = right(of: slot) }
    }

    /// A seat's place, added where it has none; negative where there are too many.
    mutating func place(of seat: SeatID) -> Int8 {
        if let place = seats.firstIndex(of: seat) { return Int8(place) }
        guard seats.count < Bound.seatsMax else { return -1 }
        seats.append(seat)
        return Int8(seats.count - 1)
    }

    /// `nil`: at no seat that is told apart.
    package func seat(of camera: Slot<Camera>) -> SeatID? {
        cameras[camera].seat < 0 ? nil : seats[Int(cameras[camera].seat)]
    }
}

extension Arbiter {
    /// Whether a client has a right at any seat, be there a camera or not.
    package func hasRight(_ client: ClientID) -> Bool {
        guard let slot = state.client(client) else { return false }
        return state.clients[slot].right.isNamed || state.clients[slot].right.seats != 0
    }

    /// Apps' own claims count differently then. Once a round, so that all its bids are judged alike.
    mutating func noteUsersWhoAsk() {
        let several = state.users.count { $0.requests > 0 } > 1
        if several == state.world.severalUsersAsk { return }
        state.world.severalUsersAsk = several
        if !state.policy.sources.contains(.selfDeclared) || !state.users.contains(where: { $0.declared > 0 }) { return }
        state.updateAllInFront()
        touchAll()
        if state.policy.reads.presence { notes.prioritiesOfEverybody = true }
    }
}
