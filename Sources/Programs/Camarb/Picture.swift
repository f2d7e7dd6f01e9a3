public import ArbiterProtocol
import CCamarb
import Synchronization

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

    private let engine: ClientEngine
    /// Used with the engine's lock, but for the memory that its picture points to.
    private nonisolated(unsafe) let frame: OpaquePointer
    private nonisolated(unsafe) let planes: (luma: UnsafePointer<UInt8>, chroma: UnsafePointer<UInt8>)
    private let strides: (luma: Int, chroma: Int)

    public struct Flags: OptionSet, Hashable, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        /// The first one after a configuration was applied.
        public static let configurationChanged = Flags(rawValue: 1)
        /// Not a picture of the camera but a stand-in.
        public static let slate = Flags(rawValue: 2)
    }

    /// With the engine's lock.
    init?(_ frame: OpaquePointer, of engine: ClientEngine) {
        guard let seen = camarb_frame_picture(frame)?.pointee, let luma = seen.planes.0, let chroma = seen.planes.1
        else {
            camarb_frame_release(frame)
            return nil
        }
        (self.engine, self.frame) = (engine, frame)
        (width, height) = (Int(seen.width), Int(seen.height))
        pixelFormat = withUnsafeBytes(of: seen.pixel_format) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        (planes, strides) = ((luma, chroma), (Int(seen.strides.0), Int(seen.strides.1)))
        captured = Moment(nanoseconds: seen.captured)
        (sequence, grant) = (seen.sequence, GrantID(seen.grant))
        flags = Flags(rawValue: seen.flags)
    }

    deinit { engine.state.withLock { _ in camarb_frame_release(frame) } }

    /// Brightness: a byte for each pixel.
    public var y: Plane {
        Plane(width: width, height: height, bytesPerRow: strides.luma, picture: self, base: planes.luma)
    }

    /// Colour: for each two by two pixels a byte of Cb and one of Cr.
    public var cbcr: Plane {
        Plane(width: width / 2, height: height / 2, bytesPerRow: strides.chroma, picture: self, base: planes.chroma)
    }

    /// Whether everything that was read of it until now was the picture: its memory had not been blanked when this was called.
    public var isIntact: Bool { engine.state.withLock { _ in camarb_frame_is_intact(frame) } }

    /// One plane of a picture. It keeps the picture.
    public struct Plane: Sendable {
        /// Samples in a row: bytes of `y`, pairs of bytes of `cbcr`.
        public let width: Int
        /// Rows.
        public let height: Int
        /// From the beginning of one row to that of the next; at least what a row's samples take.
        public let bytesPerRow: Int
        fileprivate let picture: Picture
        fileprivate nonisolated(unsafe) let base: UnsafePointer<UInt8>

        /// Lends the plane's bytes: `height` times `bytesPerRow`.
        public func withBytes<Result, Failure: Error>(_ body: (RawSpan) throws(Failure) -> Result) throws(Failure)
            -> Result
        { try withUnsafeBytes { (bytes) throws(Failure) in try body(bytes.bytes) } }

        /// The same for C and others that take pointers. The pointer is void when `body` returns.
        public func withUnsafeBytes<Result, Failure: Error>(
            _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            defer { withExtendedLifetime(picture) {} }
            return try body(UnsafeRawBufferPointer(start: base, count: height * bytesPerRow))
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
            try await reader.core.nextPicture()
        }
    }

    /// One iteration.
    private final class Reader: Sendable {
        let core: SessionCore

        init(_ core: SessionCore) {
            self.core = core
            core.readerCame()
        }

        deinit { core.readerLeft() }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(core) }
}
