/// Maps moments of capture to times of a recording's file.
///
/// A file begins with its first frame. A pause is not in it, and its times run on without a hole: the first frame after a pause
/// follows the last one before it at the interval of that one.
///
///     captured  |-----------|  paused  |--------|
///     file      |-----------|--------|
///
/// A value without a clock: its owner passes each frame.
package struct FileClock: Hashable, Sendable {
    /// Moments that are captured in one go. The last segment has no end.
    package struct Segment: Hashable, Sendable {
        /// Nanoseconds of CLOCK_MONOTONIC.
        package var begin: Int64
        /// To the end of its last frame's display.
        package var end: Int64?
        /// Nanoseconds of the file.
        package var fileBegin: Int64
    }

    /// Oldest first; empty before the first frame.
    package private(set) var segments: [Segment] = []
    /// The end of the last frame's display, of CLOCK_MONOTONIC.
    private(set) var lastEnd: Int64 = 0
    private var isPaused = false

    /// Pauses that are written down: more than anybody makes by hand. Of more, the last ones count as one.
    package static let pausesMax = 64

    package init() {}
    package var hasBegun: Bool { !segments.isEmpty }
    /// `nil` before the first frame.
    package var firstCapture: Int64? { segments.first?.begin }

    /// From now on frames are not in the file, until `resume`.
    package mutating func pause() { isPaused = true }
    package mutating func resume() {
        guard isPaused else { return }
        isPaused = false
        if !segments.isEmpty { segments[segments.count - 1].end = lastEnd }
    }

    /// A frame's place in the file, without taking it.
    package func placeOfFrame(captured: Int64) -> Int64 {
        guard let last = segments.last else { return 0 }
        // A frame that a slow camera delivers after the pause may have been captured before it.
        return last.end == nil ? last.fileBegin + max(0, captured - last.begin) : fileEnd
    }

    /// Takes a frame. Returns its place in the file, in nanoseconds from the first.
    package mutating func frame(captured: Int64, interval: Int64) -> Int64 {
        let place = placeOfFrame(captured: captured)
        if segments.last.map({ $0.end != nil }) ?? true {
            segments.append(Segment(begin: captured, end: nil, fileBegin: place))
        }
        lastEnd = captured + interval
        return place
    }

    package var fileEnd: Int64 { segments.last.map { $0.fileBegin + lastEnd - $0.begin } ?? 0 }

    /// A moment's place in the file; `nil` before the first frame and in a pause.
    package func place(of moment: Int64) -> Int64? {
        guard let segment = segments.last(where: { $0.begin <= moment }) else { return nil }
        if let end = segment.end, moment >= end { return nil }
        return segment.fileBegin + moment - segment.begin
    }

    /// The places of pauses in the file, and their lengths: both in nanoseconds.
    package var pauses: [(at: Int64, length: Int64)] {
        let all = zip(segments, segments.dropFirst()).map { before, after in
            (at: after.fileBegin, length: after.begin - (before.end ?? after.begin))
        }
        let rest = all.dropFirst(Self.pausesMax - 1)
        guard let last = rest.first else { return all }
        return all.prefix(Self.pausesMax - 1) + [(last.at, rest.reduce(0) { $0 + $1.length })]
    }
}
