import Arbiter
import ArbiterProtocol
import Broker
import Testing

struct RecorderNewsTests {
    private static let finished: [WireValue] = [
        .uint64(1), .string("stopped"), .uint64(2), .int64(3), .uint64(4), .int64(5), .uint64(6),
    ]

    private func finished(_ place: Int, _ value: WireValue) throws {
        var arguments = Self.finished
        arguments[place] = value
        _ = try RecorderNews("RecordingFinished", arguments)
    }

    @Test("A number out of its bounds is nonsense")
    func numbers() throws {
        _ = try RecorderNews("RecordingFinished", Self.finished)
        for (place, value, word) in [
            (2, .uint64(.max), "frames"), (2, .uint64(.max), "18446744073709551615"), (3, .int64(.min), "duration"),
            (3, .int64(.min), "-9223372036854775808"), (3, .int64(-1), "duration"),
            (3, .int64(RecorderNews.durationMax + 1), "duration"), (4, .uint64(.max), "bytes"),
            (5, .int64(-1), "lastCapture"), (5, .int64(.max), "lastCapture"), (6, .uint64(.max), "framesLeftOut"),
        ] as [(Int, WireValue, String)] { refused(.invalidValue, word) { try finished(place, value) } }
        for (member, arguments, word) in [
            ("PhotoCaptured", [.uint64(1), .uint32(.max), .uint32(1), .uint64(1), .string("")], "width"),
            ("RampFinished", [.uint64(1), .double(1e308)], "videoZoomFactor"),
            ("DeviceChanged", [.string("gone"), .string("")], "no state"),
        ] as [(String, [WireValue], String)] {
            refused(.invalidValue, word) { _ = try RecorderNews(member, arguments) }
        }
        try finished(3, .int64(RecorderNews.durationMax))
    }

    @Test("Of a camera's state only what a camera may say of itself counts, within bounds")
    func state() throws {
        func said(_ key: String, _ value: WireValue) throws -> Configuration {
            var state = WireDictionary()
            state[key] = value
            guard
                case .cameraStateChanged(GrantID(7), let read) = try RecorderNews(
                    "CameraStateChanged", [.uint64(7), .dictionary(state)])
            else { throw BrokerError(.failed, "It was read as something else.") }
            return read
        }
        #expect(try said("adjustingFocus", .boolean(true)) == Configuration([.adjustingFocus: .flag(true)]))
        #expect(try said("pipelineRebuilds", .uint32(2)) == Configuration([.pipelineRebuilds: .number(2)]))
        #expect(try said("camera", .string("front")).isEmpty)
        #expect(try said("aNewersKey", .string("x")).isEmpty)
        for (key, wrong) in [
            ("lensPosition", .double(.nan)), ("lensPosition", .double(-1)), ("iso", .double(1e300)),
            ("pipelineRebuilds", .double(0.5)), ("focusMode", .string(String(repeating: "x", count: 65))),
        ] as [(String, WireValue)] { #expect(throws: BrokerError.self) { try said(key, wrong) } }
    }

    @Test("Errors beyond eight a second are counted and told once, and words without end are too much")
    func allowance() {
        typealias Allowance = RecorderAllowance
        var allowance = Allowance()
        for _ in 0..<Allowance.errorsMax { #expect(allowance.take(isError: true, at: 10) == .passed) }
        #expect(allowance.reportAt == nil && allowance.takeLeftOut() == nil)
        for _ in 0..<3 { #expect(allowance.take(isError: true, at: 20) == .leftOut) }
        #expect(allowance.take(isError: false, at: 20) == .passed)
        #expect(allowance.reportAt == 10 + Allowance.window)
        #expect(allowance.takeLeftOut()?.contains("said 3 more") == true)
        #expect(allowance.takeLeftOut() == nil)
        // The next second has an allowance of its own.
        #expect(allowance.take(isError: true, at: 10 + Allowance.window) == .passed)
        for _ in 1..<Allowance.signalsMax { _ = allowance.take(isError: false, at: 10 + Allowance.window) }
        #expect(allowance.take(isError: false, at: 10 + Allowance.window) == .tooMuch)
    }
}
