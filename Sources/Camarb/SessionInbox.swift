import ArbiterProtocol

/// What arrives for one session of a client: its notices, for whoever reads them, and what they mean for its pictures.
final class SessionInbox: Sendable {
    private let notices = NoticeQueue<SessionNotice>()
    let pictures: PictureFeed

    init(pictures: PictureFeed) { self.pictures = pictures }

    /// - Returns: false when the notice found no place; the session cannot be followed any more then.
    func offer(_ signal: SessionSignal) -> Bool {
        pictures.take(signal.event)
        return notices.offer(.event(signal))
    }

    /// The session is over. Only the first reason counts.
    func finish(_ error: BrokerError) {
        pictures.end(error)
        notices.finish(.ended(error))
    }

    /// The session was closed by its client.
    func close() {
        pictures.end(nil)
        notices.finish(.ended(BrokerError(.unknownSession, "The session was closed by its client.")))
    }

    /// The next notice, and whether it is the last one.
    func next() async -> (element: SessionNotice, isLast: Bool) {
        guard let notice = await notices.next() else { return (.ended(.waitCancelled), true) }
        if case .ended = notice { return (notice, true) }
        return (notice, false)
    }
}
