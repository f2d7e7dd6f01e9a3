import Arbiter
import ArbiterProtocol
import Testing

@Suite("What a format costs")
struct CameraCostTests {
    private static let cost = CameraCost(
        formats: [
            CameraCost.Format(width: 1280, height: 720, frameRate: 60, cost: 80),
            CameraCost.Format(width: 1280, height: 720, frameRate: 30, cost: 40),
            CameraCost.Format(width: 1280, height: 720, frameRate: 60, pixelFormat: "MJPG", cost: 15),
            CameraCost.Format(width: 640, height: 480, frameRate: 29.97, cost: 10),
        ], other: 90)

    /// The words of a format, its rate, and what that costs.
    static let cases: [(String, Int, Int, Double, Int)] = [
        ("420v", 1280, 720, 30, 40), ("420v", 1280, 720, 24, 40),
        // As a duration has it.
        ("420v", 1280, 720, 1 / 0.033333333, 40), ("420v", 1280, 720, 31, 80), ("420v", 1280, 720, 61, 90),
        // The session's own pixel format first, also where another key is nearer.
        ("MJPG", 1280, 720, 30, 15), ("MJPG", 1280, 720, 61, 90), ("420v", 640, 480, 29.97, 10),
        ("420v", 640, 480, 30, 90), ("420v", 720, 1280, 30, 90),
    ]

    @Test("The lowest rate that is enough, of the session's own pixel format first", arguments: cases)
    func weighed(_ pixelFormat: String, _ width: Int, _ height: Int, _ rate: Double, _ expected: Int) {
        let format = CameraFormat(
            pixelFormat: pixelFormat, width: width, height: height, minFrameRate: 1, maxFrameRate: 120)
        #expect(Self.cost.of(format, at: rate) == expected && Self.cost.dearest == 90)
    }
}
