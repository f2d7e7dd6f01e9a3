import ArbiterProtocol
import FrameStream
import Glibc

/// Preview streams: opened, closed, and with buffers of another size.
extension CaptureLoop {
    /// Buffers of the size that pictures have now.
    /// - Returns: why a stream has none, for people; nil where it has.
    private func replaceBuffers(of stream: OpenGrant.Stream, _ open: OpenGrant) -> String? {
        let sender = stream.sender
        let own = sender.isLent ? nil : sender.pool
        do throws(BrokerError) {
            sender.replaceBuffers(by: try open.memory.pool(open.layout, for: stream.session, own: own))
            return nil
        } catch {
            // Short: an event has 256 bytes of text.
            let name = "A stream of session \(stream.session.rawValue)"
            guard sender.isLent else {
                return "\(name) has no pictures until there is room. \(error.message)"
            }
            // The device's own buffers went with the format.
            sender.close()
            return "\(name) ended; open another when there is room. \(error.message)"
        }
    }

    /// The configuration stands, whether or not there is room for the stream's pictures, which its client is told.
    func renewBuffers(of stream: OpenGrant.Stream, _ open: OpenGrant) {
        guard let problem = replaceBuffers(of: stream, open) else { return }
        emit(.runtimeError(code: "stream-memory", message: problem))
    }

    /// Streams that got no buffers with a change of format get them as soon as there is room, and say so with their next
    /// frame.
    /// - Returns: those that got them now.
    func makeUpFor(_ open: OpenGrant) -> Set<ObjectIdentifier> {
        var late: Set<ObjectIdentifier> = []
        for stream in open.streams where !stream.sender.isLent && stream.sender.layout != open.layout {
            if replaceBuffers(of: stream, open) == nil { late.insert(ObjectIdentifier(stream.sender)) }
        }
        return late
    }

    func openStream(_ id: GrantID, _ session: SessionID) throws(BrokerError) -> Int32 {
        // One that its client has closed by now is over, and its buffers are free, whether it was noticed yet or not.
        for stream in grant?.streams ?? [] { _ = stream.sender.takeReleases() }
        grant?.streams.removeAll { !$0.sender.isOpen }
        var open = try granted(id)
        guard open.streams.count < Self.streamsMax else {
            throw BrokerError(
                .limitExceeded, "The grant has \(open.streams.count) streams, which is the most; close one first.")
        }
        let own = open.streams.count { $0.session == session }
        guard own < Self.streamsOfASessionMax else {
            throw BrokerError(.limitExceeded, "The session has \(own) streams, which is the most; close one first.")
        }
        try open.memory.countOpening(of: session, at: clock.now)
        let (sender, clientEnd) = try stream(open, session)
        sender.onPoolFree = { [memory = open.memory] pool in memory.giveBack(pool, of: session) }
        if sender.isLent, let source { open.lent = OpenGrant.Lent(session: session, begun: source.buffersBegun) }
        open.streams.append(OpenGrant.Stream(session: session, sender: sender))
        grant = open
        return clientEnd
    }

    /// With the device's own buffers for the first stream, where that can be; the others get copies.
    private func stream(_ open: OpenGrant, _ session: SessionID) throws(BrokerError) -> (FrameSender, Int32) {
        guard let source, open.lent?.begun != source.buffersBegun, !open.slated.contains(session),
            let lent = source.lendBuffers(open.layout)
        else {
            let pool = try open.memory.pool(open.layout, for: session)
            do throws(FrameStreamFault) { return try FrameSender.open(pool) } catch {
                open.memory.giveBack(pool, of: session)
                throw BrokerError(.outOfResources, "There is no room for another stream: \(error.description).")
            }
        }
        let (sender, clientEnd): (FrameSender, Int32)
        do throws(FrameStreamFault) {
            (sender, clientEnd) = try FrameSender.open(layout: open.layout, lent: lent)
        } catch {
            throw BrokerError(.outOfResources, "There is no room for another stream: \(error.description).")
        }
        let begun = source.buffersBegun
        sender.onReturn = { [unowned self] buffer in
            // A device that fails here fails at its next frame, too, and is started again then.
            if self.source?.buffersBegun == begun { try? self.source?.takeBack(buffer) }
        }
        return (sender, clientEnd)
    }

    func closeStreams(_ id: GrantID, _ session: SessionID) throws(BrokerError) {
        let open = try granted(id)
        for stream in open.streams where stream.session == session { stream.sender.close() }
        grant?.streams.removeAll { $0.session == session }
        if let source, let lent = open.lent, lent.session == session, lent.begun == source.buffersBegun {
            // The device goes on for others, and not in buffers that this session may still have mapped.
            do throws(BrokerError) { try source.renewBuffers() } catch { beginAgain(after: error) }
        }
        giveUp(
            open.photos.filter { $0.session == session },
            "The session lost the picture before a frame was captured for the photo.")
        grant?.photos.removeAll { $0.session == session }
    }
}
