package import ArbiterProtocol
package import FrameStream

/// The preview buffers of one grant, and how many a session may have of them.
///
/// A client may keep a buffer mapped for as long as it likes: nobody can take its pages back, and they are charged to the
/// recorder core. So a stream that a session opens anew gets the buffers of one that it closed: they were blanked, and show
/// the session nothing that it may not see. Two live streams never share a pool, nor do two sessions or two grants: all
/// of it ends with the grant (`end()`), also what is still mapped somewhere.
///
/// The capture thread's alone.
package final class StreamMemory {
    /// Streams that a session may open at once, and of one kind after the other: more is a client that forgets them.
    package static let opensMax = 8
    /// Then one each, in nanoseconds.
    package static let openEvery: Int64 = 1_000_000_000
    /// Bytes of buffers that one grant makes, live or on the shelf: half of what files in memory leave to the
    /// camera (`CAMARB_CAMERA_MEMORY`). The other half is for the recorder core itself and for what clients keep of earlier grants.
    package static let bytesMax = 512 << 20
    /// Of these, what a session gets that has none yet: the rest is for those that stream already, which would lose a
    /// stream with a change of format.
    package static let newcomerBytesMax = 384 << 20
    /// Of these, one session's: two streams of 4K, or ten of 1080p.
    package static let sessionBytesMax = 128 << 20

    private struct Account {
        var bytes = 0
        /// Opens it may make at once now, and since when one more is earned.
        var opens = StreamMemory.opensMax
        var since: Int64
        var shelf: [BufferPool] = []
    }

    private var accounts: [SessionID: Account] = [:]
    /// Of all pools that were made, whether anybody uses them or not.
    private(set) var bytesMade = 0
    private var hasEnded = false

    package init() {}

    /// Counts one more opening of a session's.
    /// - Parameter now: of the monotonic clock, in nanoseconds.
    /// - Throws: `.limitExceeded` when it opens them too fast.
    package func countOpening(of session: SessionID, at now: Int64) throws(BrokerError) {
        var account = accounts[session] ?? Account(since: now)
        if account.opens < Self.opensMax {
            let earned = (now - account.since) / Self.openEvery
            account.opens = Int(min(Int64(Self.opensMax), Int64(account.opens) + earned))
            account.since += earned * Self.openEvery
        }
        if account.opens == Self.opensMax { account.since = now }
        guard account.opens > 0 else {
            throw BrokerError(
                .limitExceeded,
                "The session has opened \(Self.opensMax) streams at once; from then on it is one a second.")
        }
        account.opens -= 1
        accounts[session] = account
    }

    /// Blank buffers for a stream of the session's: from its shelf, or new ones.
    /// - Throws: `.limitExceeded` where there are too many already, `.outOfResources` where the system has none.
    package func pool(_ layout: PictureLayout, for session: SessionID) throws(BrokerError) -> BufferPool {
        var account = accounts[session] ?? Account(since: 0)
        if let place = account.shelf.lastIndex(where: { $0.layout == layout }) {
            let pool = account.shelf.remove(at: place)
            accounts[session] = account
            return pool
        }
        let bytes = layout.bytes * BufferPool.buffersUsual
        let most = account.bytes == 0 ? Self.newcomerBytesMax : Self.bytesMax
        guard bytesMade + bytes <= most, account.bytes == 0 || account.bytes + bytes <= Self.sessionBytesMax else {
            throw BrokerError(
                .limitExceeded,
                """
                The session has had \(account.bytes >> 20) MiB of buffers since the camera was opened, all together \
                \(bytesMade >> 20) MiB; a session gets at most \(Self.sessionBytesMax >> 20) MiB, and all together \
                \(most >> 20) MiB.
                """)
        }
        do throws(FrameStreamFault) {
            let pool = try BufferPool(layout: layout)
            account.bytes += bytes
            bytesMade += bytes
            accounts[session] = account
            return pool
        } catch {
            throw BrokerError(.outOfResources, "There is no room for another stream: \(error.description).")
        }
    }

    /// A stream of the session's is over, and its buffers are free. They are blanked, and kept until the grant ends.
    package func giveBack(_ pool: BufferPool, of session: SessionID) {
        guard !hasEnded, !pool.isLent, accounts[session] != nil else { return pool.blank() }
        pool.erase()
        accounts[session]?.shelf.append(pool)
    }

    /// One session goes on under another number. Numbers begin anew with another broker: what other sessions closed
    /// belongs to none, and must not go to the next session with such a number.
    package func keepOnly(_ before: SessionID, as now: SessionID) {
        let kept = accounts.removeValue(forKey: before)
        for account in accounts.values { for pool in account.shelf { pool.blank() } }
        accounts = [:]
        accounts[now] = kept
    }

    /// The grant is over: nothing is ever written into its buffers again.
    package func end() {
        hasEnded = true
        for account in accounts.values { for pool in account.shelf { pool.blank() } }
        accounts = [:]
    }
}
