public import ArbiterProtocol

/// A session's pictures, for as long as it lives: over interruptions, other grants and a broker's restart they simply go on.
///
///     for try await picture in session.pictures {
///         let bright = picture.y.withBytes { … }
///         guard picture.isIntact else { continue }
///     }
///
/// Whoever is slow gets the newest: one picture waits, and a newer one takes its place, as the recorder core drops frames for
/// those that keep theirs. Nothing is read, and nothing copied by anybody, before somebody iterates for the first time; while
/// nobody does the stream rests.
///
/// It ends when the session is closed by this client, or the waiting task is cancelled. It throws
/// * why the session is over, as the last of its events says, for whoever asks from then on;
/// * once, `.recorderFault` where the recorder core broke the stream's rules (memory that is not sealed, say), and what
///   `OpenStream` was refused with where that is no passing state. Iterating again gets the pictures of the next grant.
///
/// Each picture is for one reader: iterate in one place.
public struct Pictures: AsyncSequence, Sendable {
    public typealias Element = Picture
    public typealias Failure = BrokerError

    let core: SessionCore

    /// While one of its copies is there, pictures are read.
    public struct Iterator: AsyncIteratorProtocol {
        private let reader: Reader

        fileprivate init(_ core: SessionCore) { reader = Reader(core) }

        public mutating func next() async throws(BrokerError) -> Picture? {
            try await reader.core.inbox.pictures.next().get()
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(BrokerError) -> Picture? {
            try await reader.core.inbox.pictures.next().get()
        }
    }

    /// One iteration.
    private final class Reader: Sendable {
        let core: SessionCore

        init(_ core: SessionCore) {
            self.core = core
            core.inbox.pictures.readerCame()
        }

        deinit { core.inbox.pictures.readerLeft() }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(core) }
}
