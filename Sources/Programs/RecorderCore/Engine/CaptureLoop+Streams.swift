package import ArbiterProtocol
import FrameStream
import Glibc

extension CaptureLoop {
    /// Buffers of the size that pictures have now. Returns why a stream has none, for people; nil where it has.
    private func replaceBuffers(of stream: OpenGrant.Stream, _ open: OpenGrant) -> String? {
        let sender = stream.sender
        let own = sender.isLent ? nil : sender.pool
        do throws(BrokerError) {
            sender.replaceBuffers(by: try open.memory.pool(open.layout, for: stream.session, own: own))
            return nil
        } catch {
            // Short: an event has 256 bytes of text.
            let name = "A stream of session \(stream.session.rawValue)"
            guard sender.isLent else { return "\(name) has no pictures until there is room. \(error.message)" }
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

    /// Streams that got no buffers with a change of format get them as soon as there is room, and say so with their next frame.
    /// - Returns: those that got them now.
    func makeUpFor(_ open: OpenGrant) -> Set<ObjectIdentifier> {
        var late: Set<ObjectIdentifier> = []
        for stream in open.streams where !stream.sender.isLent && stream.sender.layout != open.layout {
            if replaceBuffers(of: stream, open) == nil { late.insert(ObjectIdentifier(stream.sender)) }
        }
        return late
    }

    /// One more preview stream; answers with the client's end of its socket, which the receiver owns.
    package func openStream(_ id: GrantID, _ session: SessionID) throws(BrokerError) -> Int32 {
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
        } catch { throw BrokerError(.outOfResources, "There is no room for another stream: \(error.description).") }
        let begun = source.buffersBegun
        sender.onReturn = { [unowned self] buffer in
            // A device that fails here fails at its next frame, too, and is started again then.
            if self.source?.buffersBegun == begun { try? self.source?.takeBack(buffer) }
        }
        return (sender, clientEnd)
    }

    /// Closes a session's streams, blanks their buffers, and gives up its photos that wait for a frame.
    package func closeStreams(_ id: GrantID, _ session: SessionID) throws(BrokerError) {
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

/// A session that may not see the picture just now, and keeps its stream: it gets black frames that say so, numbered as the
/// camera's are.
extension CaptureLoop {
    package func setSlate(_ id: GrantID, _ session: SessionID, _ isOn: Bool) throws(BrokerError) {
        var open = try granted(id)
        guard isOn else {
            grant?.slated.remove(session)
            return
        }
        open.slated.insert(session)
        grant = open
        for stream in open.streams where stream.session == session && stream.sender.isLent {
            // It has the device's own buffers: it gets black ones of its own, and the device others.
            renewBuffers(of: stream, open)
            do throws(BrokerError) { try source?.renewBuffers() } catch { beginAgain(after: error) }
        }
        grant?.streams.removeAll { !$0.sender.isOpen }
    }

    static func drawSlate(into memory: UnsafeMutableRawBufferPointer, _ layout: PictureLayout) {
        guard let start = memory.baseAddress, memory.count >= layout.bytes else { return }
        memset(start, Int32(layout.black), layout.lumaBytes)
        memset(start + layout.lumaBytes, 128, layout.bytes - layout.lumaBytes)
    }
}

/// What becomes of a grant that outlived its broker, when another one takes it up.
extension CaptureLoop {
    /// Goes on with a grant for a session that has another number now: its streams and the recording as if nothing had
    /// been. Streams of other sessions are closed. Answers with the configuration in force.
    func resume(_ id: GrantID, from before: SessionID, to now: SessionID) throws(BrokerError) -> Configuration {
        // Sessions that watched beside the holder are admitted anew, and a photo's number means nothing to another broker.
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
