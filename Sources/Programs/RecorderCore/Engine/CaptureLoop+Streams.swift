package import ArbiterProtocol
import FrameStream
import Glibc

extension CaptureLoop {
    /// Gives a stream buffers of its pictures' present size, of which the next is flagged. Returns why there are none, for people, or `nil`.
    private func replaceBuffers(of stream: OpenGrant.Stream, _ open: OpenGrant) -> String? {
        let sender = stream.sender
        let own = sender.isLent ? nil : sender.pool
        do throws(BrokerError) {
            let layout = open.layout(of: stream.session)
            sender.replaceBuffers(by: try open.memory.pool(layout, for: stream.session, own: own))
            stream.isFlagged = true
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

    /// The configuration stands, whether or not there is room for the stream's pictures; its client gets a notice.
    func renewBuffers(of stream: OpenGrant.Stream, _ open: OpenGrant) {
        guard let problem = replaceBuffers(of: stream, open) else { return }
        emit(.runtimeError(code: "stream-memory", message: problem, session: stream.session))
    }

    /// Streams that got no buffers with a change of format get them as soon as there is room.
    func makeUpFor(_ open: OpenGrant) {
        for stream in open.streams
        where !stream.sender.isLent && stream.sender.layout != open.layout(of: stream.session) {
            _ = replaceBuffers(of: stream, open)
        }
    }

    /// Opens one more preview stream; answers with the client's end of its socket, which the receiver owns.
    package func openStream(_ id: GrantID, _ session: SessionID) throws(BrokerError) -> Int32 {
        // A stream that its client has closed by now is over, and its buffers are free.
        for stream in grant?.streams ?? [] { _ = stream.sender.takeReleases() }
        grant?.streams.removeAll { !$0.sender.isOpen }
        let open = try granted(id)
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
        if sender.isLent, let source { open.lent = (session, source.buffersBegun) }
        open.streams.append(OpenGrant.Stream(session: session, sender: sender))
        return clientEnd
    }

    /// With the device's own buffers for the first stream, where that can be; the others get copies.
    private func stream(_ open: OpenGrant, _ session: SessionID) throws(BrokerError) -> (FrameSender, Int32) {
        guard let source, !open.lends(source), !open.slated.contains(session), open.hasCamerasPicture(session),
            let lent = source.lendBuffers(open.layout)
        else {
            let pool = try open.memory.pool(open.layout(of: session), for: session)
            do throws(FrameStreamFault) { return try FrameSender.open(pool) } catch {
                open.memory.giveBack(pool, of: session)
                throw .noRoom(error)
            }
        }
        do throws(FrameStreamFault) {
            let (sender, clientEnd) = try FrameSender.open(BufferPool(layout: open.layout, lent: lent))
            let begun = source.buffersBegun
            sender.onReturn = { [unowned self] buffer in
                // A device that fails here fails at its next frame, too, and is started again then.
                if self.source?.buffersBegun == begun { try? self.source?.takeBack(buffer) }
            }
            return (sender, clientEnd)
        } catch { throw .noRoom(error) }
    }

    /// Closes a session's streams, blanks their buffers, and gives up its photos that wait for a frame.
    package func closeStreams(_ id: GrantID, _ session: SessionID) throws(BrokerError) {
        let open = try granted(id)
        for stream in open.streams where stream.session == session { stream.sender.close() }
        open.streams.removeAll { $0.session == session }
        // The device goes on for others, in buffers that this session has not mapped.
        if let source, open.lent?.session == session, open.lends(source) { renewDeviceBuffers(open) }
        giveUp(
            open.photos.filter { $0.session == session },
            "The session lost the picture before a frame was captured for the photo.")
        open.photos.removeAll { $0.session == session }
    }

    /// A session that may not see the picture just now keeps its stream, and gets black frames with the flag `.slate`, numbered
    /// as the camera's are.
    package func setSlate(_ id: GrantID, _ session: SessionID, _ isOn: Bool) throws(BrokerError) {
        let open = try granted(id)
        guard isOn else {
            open.slated.remove(session)
            return
        }
        open.slated.insert(session)
        stopLending(open, to: session)
    }

    /// The session goes on in black buffers of its own, and the device in others.
    private func stopLending(_ open: OpenGrant, to session: SessionID) {
        for stream in open.streams where stream.session == session && stream.sender.isLent {
            renewBuffers(of: stream, open)
            renewDeviceBuffers(open)
        }
        open.streams.removeAll { !$0.sender.isOpen }
    }

    /// Gives a session on a shared camera a picture of its own, in its streams and photos from the next frame on, and in
    /// recordings that are ordered from now on. One that runs follows the rate only. An empty one is the camera's own.
    package func setPicture(_ id: GrantID, _ session: SessionID, _ wanted: Configuration) throws(BrokerError) {
        let open = try granted(id)
        let picture = try SessionPicture(wanted, on: try camera().capabilities)
        let (before, intervalBefore) = (open.layout(of: session), open.interval(open.pictures[session]))
        open.set(picture, of: session)
        let layout = open.layout(of: session)
        if layout != before {
            for stream in open.streams where stream.session == session && !stream.sender.isLent {
                renewBuffers(of: stream, open)
            }
        }
        if layout != before || open.interval(picture) != intervalBefore {
            for stream in open.streams where stream.session == session { stream.isFlagged = true }
        }
        if !open.hasCamerasPicture(session) { stopLending(open, to: session) }
    }

    static func drawSlate(into memory: UnsafeMutableRawBufferPointer, _ layout: PictureLayout) {
        guard let start = memory.baseAddress, memory.count >= layout.bytes else { return }
        memset(start, Int32(layout.black), layout.lumaBytes)
        memset(start + layout.lumaBytes, 128, layout.bytes - layout.lumaBytes)
    }
}

extension BrokerError {
    static func noRoom(_ fault: FrameStreamFault) -> BrokerError {
        BrokerError(.outOfResources, "There is no room for another stream: \(fault.description).")
    }
}
