package import ArbiterProtocol
package import FrameStream

/// The preview buffers of one grant, and how many a session may have of them.
///
/// A client may keep a buffer mapped for as long as it likes: nobody can take its pages back, and they are charged to
/// the recorder core. So a session's next pictures go into the memory that it was given: a stream keeps its buffers over a
/// change of format, and a stream that the session opens anew gets the blanked buffers of one that it closed. Two live
/// streams never share a pool, nor do two sessions or two grants: all of it ends with the grant (`end()`).
///
/// Threading: the capture thread only.
package final class StreamMemory {
    /// Streams that a session may open at once: more is a client that forgets them.
    package static let opensMax = 8
    /// Then one each, in nanoseconds.
    package static let openEvery: Int64 = 1_000_000_000
    /// Bytes of buffers that one grant makes, live or on the shelf: half of what files in memory leave to the
    /// camera (`CAMARB_CAMERA_MEMORY`). The other half is for the recorder core itself and for what clients keep of earlier grants.
    package static let bytesMax = 512 << 20
    /// Of these, for a session that has none yet: the rest is for sessions that stream already.
    package static let newcomerBytesMax = 384 << 20
    /// Of these, one session's, unless it has a single stream: two streams of 4K, or ten of 1080p.
    package static let sessionBytesMax = 128 << 20

    private struct Account {
        var bytes = 0
        /// Opens that it may make at once now, and since when one more is earned.
        var opens = StreamMemory.opensMax
        var since: Int64
        var shelf: [BufferPool] = []
    }

    private var accounts: [SessionID: Account] = [:]
    /// Of all pools together, whether anybody uses them or not.
    package private(set) var bytesMade = 0
    private var hasEnded = false
    private let pictureBytesMax: Int

    /// - Parameter pictureBytesMax: bytes of the camera's largest picture.
    package init(pictureBytesMax: Int = 0) { self.pictureBytesMax = pictureBytesMax }

    /// - Parameter now: of the monotonic clock, in nanoseconds.
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

    /// Buffers for a stream of the session's: its own, shelved, or new ones, whichever takes the least memory. They are blank,
    /// but for its own.
    package func pool(
        _ layout: PictureLayout, for session: SessionID, own: BufferPool? = nil
    ) throws(BrokerError) -> BufferPool {
        var account = accounts[session] ?? Account(since: 0)
        let given = (account.shelf + [own].compactMap(\.self)).filter { $0.room >= layout.bytes }
        // The smallest pool that has the memory: a larger one is left for another stream.
        let reused = given.min { ($0.growth(to: layout), $0.memoryBytes) < ($1.growth(to: layout), $1.memoryBytes) }
        let all = layout.bytes * BufferPool.buffersUsual
        let growth = reused?.growth(to: layout) ?? all
        let most = account.bytes == 0 ? Self.newcomerBytesMax : Self.bytesMax
        // One stream alone may have pictures of any size.
        let isAlone = account.bytes == reused?.memoryBytes ?? 0
        guard growth == 0 || bytesMade + growth <= most && (isAlone || account.bytes + growth <= Self.sessionBytesMax)
        else {
            func mebibytes(_ bytes: Int) -> Int { (bytes + (1 << 20) - 1) >> 20 }
            throw BrokerError(
                .limitExceeded,
                """
                Pictures of \(layout.width)x\(layout.height) take \(mebibytes(all)) MiB of buffers, \(mebibytes(growth)) more \
                than there are. The session has \(mebibytes(account.bytes)) MiB of at most \(Self.sessionBytesMax >> 20), all \
                together have \(mebibytes(bytesMade)) of \(most >> 20). A smaller format or fewer streams need less.
                """)
        }
        do throws(FrameStreamFault) {
            try reused?.lay(layout)
            let pool = if let reused { reused } else { try BufferPool(layout: layout, room: pictureBytesMax) }
            account.shelf.removeAll { $0 === pool }
            account.bytes += growth
            bytesMade += growth
            accounts[session] = account
            return pool
        } catch { throw .noRoom(error) }
    }

    /// A stream of the session's is over, and its buffers are free. They are blanked, and kept until the grant ends.
    package func giveBack(_ pool: BufferPool, of session: SessionID) {
        guard !hasEnded, !pool.isLent, accounts[session] != nil else { return pool.blank() }
        pool.erase()
        accounts[session]?.shelf.append(pool)
    }

    /// One session goes on under another number. Numbers begin anew with another broker: buffers that other sessions closed
    /// must not go to the next session with such a number.
    package func keepOnly(_ before: SessionID, as now: SessionID) {
        let kept = accounts.removeValue(forKey: before)
        blankShelves()
        accounts[now] = kept
    }

    /// Nothing is ever written into the grant's buffers again.
    package func end() {
        hasEnded = true
        blankShelves()
    }

    private func blankShelves() {
        for pool in accounts.values.flatMap(\.shelf) { pool.blank() }
        accounts = [:]
    }
}
