package import ArbiterProtocol

/// What lies between a sensor and the pictures that a camera delivers: how late they are, and when there are none.
///
/// Stabilization looks ahead: a picture is delivered when those behind it are known. It keeps the time at which it was
/// captured; after a start, none comes until enough have been captured. A pipeline that is put together anew has lost what
/// was in it, and leaves out some frames more.
package struct FramePipeline: Hashable, Sendable {
    /// Frames that are captured and not delivered yet, the oldest first: at most the longest delay, and one.
    private var captured: [Int64] = []
    private var leftOut = 0
    /// How many frames later than captured a picture is delivered.
    package var delay = 0

    package init() {}

    /// Frames that a simulated camera leaves out when its pipeline is put together anew: a tenth of a second at 30 a second,
    /// about what a phone's preview stands still for. Seen at once in a recording, and short enough for tests.
    package static let rebuildFrames = 3

    /// How many frames a stabilization looks ahead. Cinematic has to know how the camera is moved in the next half a second
    /// at 30 a second; standard evens out only the shaking between two frames. Nobody published Apple's figures.
    package static func delay(of mode: CameraFormat.VideoStabilizationMode?) -> Int {
        switch mode {
        case .cinematic: 15
        case .standard: 1
        case nil: 0
        }
    }

    /// How much of the view a stabilization needs as a margin to move the picture in: what is left is seen. Apple says of
    /// stills with stabilization that they may be 10 percent smaller; the lighter mode needs half of that.
    package static func viewLeft(by mode: CameraFormat.VideoStabilizationMode?) -> Double {
        switch mode {
        case .cinematic: 0.90
        case .standard: 0.95
        case nil: 1
        }
    }

    package mutating func begin() { (captured, leftOut) = ([], 0) }

    package mutating func rebuild() { (captured, leftOut) = ([], Self.rebuildFrames) }

    /// No stabilization looks farther ahead than this, in nanoseconds: with few frames a second the first picture would come
    /// after the broker has given the camera up.
    package static let delayMax: Int64 = 500_000_000

    /// A frame is captured.
    /// - Parameter interval: nanoseconds from one frame to the next.
    package mutating func take(at now: Int64, interval: Int64) -> Int64? {
        if leftOut > 0 {
            leftOut -= 1
            return nil
        }
        let delay = interval > 0 ? min(delay, Int(Self.delayMax / interval)) : delay
        captured.append(now)
        guard captured.count > delay else { return nil }
        // A delay that has become shorter passes over what nobody will see in time.
        captured.removeFirst(captured.count - delay - 1)
        return captured.removeFirst()
    }
}
