import ArbiterProtocol
import FrameStream
import Synchronization

/// The stream of one grant, as the thread that reads it, the pictures in it and whoever waits for them share it. One
/// frame waits, and a newer one takes its place: whoever is slow gets the newest.
final class PictureStream: Sendable {
    /// To poll for reading. It lives as long as this object.
    let descriptor: Int32
    let grant: GrantID
    /// Which of its session's streams it is, in the words of `PictureCourse`.
    let run: UInt64
    private weak let feed: PictureFeed?

    private struct State: ~Copyable {
        let receiver: FrameReceiver
        var waiting: FrameReceiver.Frame?
        var fault: FrameStreamFault?
    }

    private let state: Mutex<State>

    private struct News {
        var hasFrame = false
        var isOver = false
        var fault: FrameStreamFault?
    }

    /// A stream that never pauses must not keep the thread from the others; what is left comes with its next turn.
    private static let framesPerTurnMax = 64

    /// - Parameter descriptor: the socket of `OpenStream`; owned from here on.
    init(adopting descriptor: Int32, run: UInt64, grant: GrantID, of feed: PictureFeed) {
        (self.descriptor, self.run, self.grant) = (descriptor, run, grant)
        self.feed = feed
        state = Mutex(State(receiver: FrameReceiver(adopting: descriptor)))
    }

    /// Reads what is there, and tells the feed.
    /// - Returns: false when the stream is over.
    @discardableResult
    func read() -> Bool { tell(state.withLock { state in Self.read(&state) }) }

    /// Gives back what lies there unseen: whoever looks again after a while wants to see what is, and not what was.
    func skip() {
        let news = state.withLock { state in
            var news = Self.read(&state)
            if let waiting = state.waiting { state.receiver.release(waiting) }
            state.waiting = nil
            news.hasFrame = false
            return news
        }
        tell(news)
    }

    /// No thread could read it.
    func cannotBeRead(_ why: String) {
        let fault = FrameStreamFault(why, code: 0)
        state.withLock { $0.fault = fault }
        tell(News(isOver: true, fault: fault))
    }

    @discardableResult
    private func tell(_ news: News) -> Bool {
        if news.hasFrame || news.isOver { feed?.arrived(on: self, isOver: news.isOver, fault: news.fault) }
        return !news.isOver
    }

    private static func read(_ state: inout State) -> News {
        let before = state.waiting
        do throws(FrameStreamFault) {
            for _ in 0..<framesPerTurnMax where state.fault == nil {
                guard var frame = try state.receiver.take() else { break }
                if let older = state.waiting {
                    // A flag says something about all frames from there on.
                    if older.record.flags.contains(.configurationChanged) {
                        frame.record.flags.insert(.configurationChanged)
                    }
                    state.receiver.release(older)
                }
                state.waiting = frame
            }
        } catch { state.fault = error }
        if let waiting = state.waiting, !state.receiver.hasPicture(waiting) {
            // The end is behind it, or other buffers: it is there no more.
            state.receiver.release(waiting)
            state.waiting = nil
        }
        return News(
            hasFrame: state.waiting != nil && state.waiting != before,
            isOver: state.receiver.hasEnded || state.fault != nil, fault: state.fault)
    }

    func takeWaiting() -> Picture? {
        let frame = state.withLock { state in
            defer { state.waiting = nil }
            return state.waiting
        }
        return frame.map { Picture($0, of: self) }
    }

    func release(_ frame: FrameReceiver.Frame) { state.withLock { $0.receiver.release(frame) } }

    /// The end, and other buffers, are said before anything is blanked: where neither has come, nothing was when this was called.
    func isIntact(_ frame: FrameReceiver.Frame) -> Bool {
        read()
        return state.withLock { $0.fault == nil && $0.receiver.hasPicture(frame) }
    }
}
