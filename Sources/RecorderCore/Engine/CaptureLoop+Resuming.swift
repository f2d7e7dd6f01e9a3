import ArbiterProtocol
import CaptureModel
import FrameStream

/// What becomes of a grant that outlived its broker, when another one takes it up.
extension CaptureLoop {
    func resume(
        _ id: GrantID, from before: SessionID, to now: SessionID
    ) throws(BrokerError) -> Configuration {
        // Sessions that watched beside the holder are admitted anew, and a photo's number means nothing to another
        // broker.
        for session in Set(try granted(id).streams.map(\.session)) where session != before {
            try closeStreams(id, session)
        }
        var open = try granted(id)
        giveUp(open.photos, "The broker ended before a frame was captured for the photo.")
        open.photos = []
        open.memory.keepOnly(before, as: now)
        for place in open.streams.indices {
            open.streams[place].session = now
            open.streams[place].sender.onPoolFree = { [memory = open.memory] pool in memory.giveBack(pool, of: now) }
        }
        if open.lent?.session == before { open.lent?.session = now }
        // It was told to the broker before.
        hasSaidThatDeviceStarts = false
        let whole = inForce(open)
        open.telling.answered(whole)
        grant = open
        return whole
    }
}
