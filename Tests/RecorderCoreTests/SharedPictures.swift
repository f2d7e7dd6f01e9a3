import ArbiterProtocol
import FrameStream
import PolicyFile
import RecorderCore
import Testing

extension CaptureUnderTest {
    /// - Parameter format: `nil` for the camera's own picture.
    func setPicture(_ session: UInt64, _ format: String?, _ rate: Double = 30, grant: UInt64 = 1) async throws {
        var picture = Configuration()
        if let format { picture = Configuration([.activeFormat: .text(format), .frameRate: .number(rate)]) }
        try await setPicture(session, picture, grant: grant)
    }
    func setPicture(_ session: UInt64, _ picture: Configuration, grant: UInt64 = 1) async throws {
        try await order(CaptureLoop.setPicture, GrantID(grant), SessionID(session), picture)
    }
    /// Records the picture of a session of the first grant.
    func record(
        _ id: UInt64, of session: UInt64, _ file: Int32, _ options: RecordingOptions = RecordingOptions()
    ) async throws {
        try await order(CaptureLoop.actFor, GrantID(1), SessionID(session))
        try await record(1, id, file, options)
    }
}

/// A simulated camera by a virtual clock: a frame is captured when the test says so.
struct SteppedCamera {
    let clock = VirtualClock(beginningAt: 1_000_000_000)
    let test: CaptureUnderTest
    private let interval: Int64

    /// Opens the first grant.
    init(_ camera: String, _ format: String, rate: Int64 = 30) async throws {
        test = CaptureUnderTest(simulating: try CameraFile.named(camera), by: clock)
        interval = Int64(1e9 / Double(rate))
        try await test.open(1, Configuration([.activeFormat: .text(format), .frameRate: .number(Double(rate))]))
    }

    /// Captures so many frames, and waits until each was handed on.
    func step(_ frames: Int = 1) async throws {
        for _ in 0..<frames {
            clock.advance(by: interval)
            // The capture thread answers before it looks for frames that are due, so twice.
            for _ in 0..<2 { _ = try await test.describe() }
        }
    }
}

extension FrameReceiver {
    /// The frames that are here: what is known of each, and its mark.
    func marks() throws -> [(frame: Frame, mark: BurntInMark?)] {
        var seen: [(Frame, BurntInMark?)] = []
        while case .frame(let frame) = try next(within: .zero) {
            seen.append((frame, withBytes(of: frame) { BurntInMark.read(from: $0, layout: frame.layout) }))
            release(frame)
        }
        return seen
    }
}
