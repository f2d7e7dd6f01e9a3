import ArbiterProtocol
import PolicyFile
import Testing

/// Rules that neither the examples of docs/capture.md show nor the table of `RandomBatchTests`, as literals.
@Suite("What hangs on the format")
struct FormatRuleTests {
    private func check(_ camera: String) throws -> ConfigurationCheck {
        try ConfigurationCheck(capabilities: CameraFile.named(camera).capabilities)
    }

    @Test("Outside of the format's range the sentence names the format, of an exposure and in a bracket")
    func sentences() throws {
        let fast = Configuration([
            .activeFormat: .text("420v 1280x720@240 binned"), .activeVideoMaxFrameDuration: .number(1.0 / 6),
            .exposureMode: .text("custom"), .exposureDuration: .number(0.3),
        ])
        #expect(
            try check("iphone6s-back").problem(fast, over: Configuration())
                == "exposureDuration is 0.3; activeFormat 420v 1280x720@240 binned takes 0.000013 to 0.166666 s.")
        let format = Configuration([.activeFormat: .text("420f 1280x960@60")])
        for (duration, iso, sentence) in [
            (0.6, 100, "exposureDurations has 0.6; activeFormat 420f 1280x960@60 takes "),
            (0.1, 33, "isos has 33; activeFormat 420f 1280x960@60 takes 34 to 2176."), (0.5, 2176, nil),
        ] as [(Double, Double, String?)] {
            let bracket = try PhotoBracket(exposureDurations: [duration], isos: [iso])
            let problem = try check("iphone6s-front").problem(of: bracket, in: format)
            #expect(sentence.map { problem?.hasPrefix($0) == true } ?? (problem == nil), "\(problem ?? "taken")")
        }
    }
}
