public import ArbiterProtocol
import CLinux
import FrameStream

/// A frame of the camera, in memory that the camera's recorder core owns.
///
/// The buffer goes back when the last reference to the picture is gone; nothing has to be called. A session has two of
/// them at once: an app that keeps one misses nothing yet; one that keeps two gets no further picture until one is
/// gone. Frames that find no buffer are dropped. What is to be kept for longer is copied.
///
/// **Its memory is blanked when the camera is taken away**, at any moment, so that nobody goes on looking. Reading it is always
/// safe; what was read, or copied, before `isIntact` said true is the picture, and what was read without asking may be partly
/// black. The same goes for a change of format, after which newer pictures may be in that memory.
///
/// Threading: may be used and let go of on any thread.
public final class Picture: Sendable {
    /// In pixels, even.
    public let width: Int
    /// In pixels, even.
    public let height: Int
    /// `420v` (video range) or `420f` (full range): a plane of Y, and one of Cb and Cr in half the size.
    public let pixelFormat: String
    /// When it was captured, on `CLOCK_MONOTONIC`; never later than now.
    public let captured: Moment
    /// Counts the frames of the grant from 1; a gap is a frame that was dropped for this session.
    public let sequence: UInt64
    /// As the `didStartRunning` before it has it.
    public let grant: GrantID
    public let flags: Flags

    private let frame: FrameReceiver.Frame
    private let stream: PictureStream

    public struct Flags: OptionSet, Hashable, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        /// The first one after a configuration was applied.
        public static let configurationChanged = Flags(rawValue: 1)
        /// Not a picture of the camera but a stand-in.
        public static let slate = Flags(rawValue: 2)
        static let known: Flags = [.configurationChanged, .slate]
    }

    init(_ frame: FrameReceiver.Frame, of stream: PictureStream) {
        self.frame = frame
        self.stream = stream
        width = frame.layout.width
        height = frame.layout.height
        pixelFormat = frame.layout.pixelFormat
        // Nobody's clock is in the future or before its beginning; programs count with what they are told.
        captured = Moment(nanoseconds: min(max(0, frame.record.timestamp), camarb_monotonic_ns()))
        sequence = frame.record.sequence
        grant = stream.grant
        flags = Flags(rawValue: frame.record.flags.rawValue).intersection(.known)
    }

    deinit { stream.release(frame) }

    /// Brightness: a byte for each pixel.
    public var y: Plane {
        Plane(width: width, height: height, bytesPerRow: frame.layout.stride, picture: self, offset: 0)
    }

    /// Colour: for each two by two pixels a byte of Cb and one of Cr.
    public var cbcr: Plane {
        Plane(
            width: width / 2, height: height / 2, bytesPerRow: frame.layout.stride, picture: self,
            offset: frame.layout.lumaBytes)
    }

    /// Whether everything that was read of it until now was the picture: its memory had not been blanked when this was called.
    public var isIntact: Bool { stream.isIntact(frame) }

    /// One plane of a picture. It keeps the picture.
    public struct Plane: Sendable {
        /// Samples in a row: bytes of `y`, pairs of bytes of `cbcr`.
        public let width: Int
        /// Rows.
        public let height: Int
        /// From the beginning of one row to that of the next; at least what a row's samples take.
        public let bytesPerRow: Int
        fileprivate let picture: Picture
        fileprivate let offset: Int

        /// Lends the plane's bytes: `height` times `bytesPerRow`.
        public func withBytes<Result, Failure: Error>(_ body: (RawSpan) throws(Failure) -> Result) throws(Failure)
            -> Result
        { try withUnsafeBytes { (bytes) throws(Failure) in try body(bytes.bytes) } }

        /// The same for C and others that take pointers. The pointer is void when `body` returns.
        public func withUnsafeBytes<Result, Failure: Error>(
            _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            defer { withExtendedLifetime(picture) {} }
            return try body(
                UnsafeRawBufferPointer(rebasing: picture.frame.buffer.bytes[offset..<offset + height * bytesPerRow]))
        }
    }
}

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
