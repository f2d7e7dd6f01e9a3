import Agent
import ArbiterProtocol
import CPipeWire
import Testing

@Suite("A camera's sizes and rates in PipeWire")
struct DoorCameraTests {
    private func format(
        _ width: Int, _ height: Int, _ rates: ClosedRange<Double> = 1...30, binned: Bool = false
    ) -> CameraFormat {
        CameraFormat(
            pixelFormat: "420v", width: width, height: height, minFrameRate: rates.lowerBound,
            maxFrameRate: rates.upperBound, isBinned: binned, fieldOfView: 60)
    }

    private func camera(_ formats: [CameraFormat]) -> DoorCamera {
        DoorCamera(id: CameraID("front"), name: "Front", position: .front, formats: formats, isPresent: true)
    }

    /// Each size that is shown: its width, its height, and its rate.
    private func sizes(_ formats: CameraFormat...) -> [[Double]] {
        camera(formats).sizes.map { [Double($0.width), Double($0.height), $0.rate_max] }
    }

    @Test(
        "The size that calls use comes first, then what is nearest to it, and of two as near the camera's own order holds"
    )
    func order() {
        #expect(
            sizes(format(1920, 1080), format(640, 480), format(1272, 720), format(1280, 720), format(1288, 720))
                == [[1280, 720, 30], [1272, 720, 30], [1288, 720, 30], [640, 480, 30], [1920, 1080, 30]])
    }

    @Test("Formats of one size are one, with the fastest of their rates, of which 240 are the most")
    func rates() {
        let binned = format(640, 480, 1...60, binned: true)
        #expect(sizes(format(640, 480, 1...30), binned, format(640, 480, 1...15)) == [[640, 480, 60]])
        #expect(sizes(format(640, 480, 1...241)) == [[640, 480, 240]])
        #expect(sizes(format(640, 480, 1...239.5)) == [[640, 480, 239.5]])
    }

    @Test("Sizes at the bounds are shown, and those beyond are not")
    func bounds() {
        func isShown(_ format: CameraFormat) -> Bool { !sizes(format).isEmpty }
        for good in [(64, 48), (72, 48), (64, 50), (1920, 1088), (1088, 1920)] {
            #expect(isShown(format(good.0, good.1)))
        }
        for bad in [(56, 48), (64, 46), (68, 48), (66, 48), (64, 49), (1928, 1088), (1920, 1090), (3840, 2160)] {
            #expect(!isShown(format(bad.0, bad.1)), "\(bad)")
        }
        #expect(isShown(format(640, 480, 0.5...1)) && !isShown(format(640, 480, 0.5...0.99)))
    }

    private func asked(_ rate: Double, of formats: [CameraFormat], width: Int = 640, height: Int = 480) -> Configuration
    {
        camera(formats).configuration(for: DoorFormat(width: width, height: height, rate: rate))
    }

    private func configuration(_ format: CameraFormat, _ rate: Double) -> Configuration {
        Configuration([.activeFormat: .text(format.name), .frameRate: .number(rate)])
    }

    @Test(
        "Of the formats in a size the slowest that is fast enough is asked for, and a binned one only where no other is"
    )
    func slowest() {
        let (slow, usual, fast) = (format(640, 480, 5...15), format(640, 480, 5...30), format(640, 480, 5...120))
        let binned = format(640, 480, 5...60, binned: true)
        let all = [format(1280, 720, 5...30), fast, binned, usual, slow]
        #expect(asked(15, of: all) == configuration(slow, 15))
        #expect(asked(15.01, of: all) == configuration(usual, 15.01))
        #expect(asked(30, of: all) == configuration(usual, 30))
        #expect(asked(50, of: all) == configuration(fast, 50))
        #expect(asked(50, of: [binned, usual]) == configuration(binned, 50))
    }

    @Test("A rate beyond what a size has is as near as it comes, by its fastest format, and said with two places")
    func beyond() {
        let (slow, usual, film) = (format(640, 480, 5...15), format(640, 480, 10...30), format(640, 480, 5...29.97))
        #expect(asked(60, of: [slow, usual]) == configuration(usual, 30))
        #expect(asked(1, of: [usual]) == configuration(usual, 10))
        #expect(asked(30_000.0 / 1001, of: [film, format(640, 480, 5...30)]) == configuration(film, 29.97))
    }

    @Test("Of a size that the camera does not have nothing is asked")
    func noSuchSize() {
        #expect(asked(30, of: [format(640, 480)], width: 480, height: 640) == Configuration())
        #expect(asked(30, of: [format(640, 480)], width: 640, height: 360) == Configuration())
        #expect(asked(30, of: []) == Configuration())
    }
}
