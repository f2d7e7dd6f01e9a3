/// Connections that have not authenticated yet: each costs what a whole one does, and nobody knows what it wants.
/// So they are few, and the oldest goes when another comes (dbus-daemon's `max_incomplete_connections` is 64, too).
///
/// Whoever has most of them goes first: beside a flood, the one half-open connection of somebody else stays until its
/// own deadline.
package struct HalfOpenConnections: Sendable {
    package static let countMax = 64
    package static let ofUserMax = 8
    /// A user's connection younger than this, in nanoseconds, does not go because the same user has more than
    /// `ofUserMax`: a desktop that begins opens a dozen at once, and libraries take three round trips to authenticate.
    package static let graceTime: Int64 = 250_000_000

    private struct Entry {
        var tag: UInt64
        var user: UInt32
        var since: Int64
    }

    /// The oldest first.
    private var entries: [Entry] = []
    package var count: Int { entries.count }

    package init() {}

    /// Takes in a connection that has just been accepted.
    /// - Parameter now: nanoseconds, never less than before.
    /// - Returns: those that have to go, the oldest first; they are not counted any more.
    package mutating func add(_ tag: UInt64, of user: UInt32, at now: Int64) -> [UInt64] {
        entries.append(Entry(tag: tag, user: user, since: now))
        var gone: [UInt64] = []
        while count(of: user) > Self.ofUserMax, let oldest = entries.firstIndex(where: { $0.user == user }),
            now - entries[oldest].since >= Self.graceTime
        {
            gone.append(entries.remove(at: oldest).tag)
        }
        while entries.count > Self.countMax { gone.append(entries.remove(at: oldestOfTheMost()).tag) }
        return gone
    }

    /// It has authenticated, or it is gone. Does nothing for one that is not here.
    package mutating func remove(_ tag: UInt64) { entries.removeAll { $0.tag == tag } }

    private func count(of user: UInt32) -> Int { entries.count { $0.user == user } }

    /// The oldest one of the user that has most; of several such users, of the one whose oldest is the oldest.
    private func oldestOfTheMost() -> Int {
        var counts: [UInt32: Int] = [:]
        for entry in entries { counts[entry.user, default: 0] += 1 }
        let most = counts.values.max() ?? 0
        return entries.firstIndex { counts[$0.user] == most } ?? 0
    }
}
