import ArbiterProtocol
import CameraFile
import CaptureModel
import Testing

@Suite("A bracket is refused with the key, the value and what is allowed")
struct BracketTests {
    private func problem(
        _ camera: String, _ bracket: PhotoBracket, _ configuration: Configuration = Configuration()
    ) throws -> String? {
        ConfigurationCheck(capabilities: try CameraFile.named(camera).capabilities)
            .problem(of: bracket, in: configuration)
    }

    @Test("outside the range of the bias")
    func bias() throws {
        #expect(try problem("iphone6s-back", PhotoBracket(exposureTargetBiases: [-8, 0, 8])) == nil)
        let wrong = try problem("iphone6s-back", PhotoBracket(exposureTargetBiases: [0, 8.1]))
        #expect(wrong?.hasPrefix("exposureTargetBiases has 8.1; iPhone 6s back camera takes") == true)
    }

    @Test("outside the format's durations and sensitivities")
    func exposure() throws {
        let format = Configuration([.activeFormat: .text("420f 1280x960@60")])
        func problem(_ duration: Double, _ iso: Double) throws -> String? {
            try self.problem("iphone6s-front", PhotoBracket(exposureDurations: [duration], isos: [iso]), format)
        }
        #expect(try problem(0.5, 2176) == nil)
        #expect(
            try problem(0.6, 100)?.contains("exposureDurations has 0.6; activeFormat 420f 1280x960@60 takes") == true)
        #expect(try problem(0.1, 33)?.contains("isos has 33; activeFormat 420f 1280x960@60 takes 34 to 2176.") == true)
    }
}
