import RecorderCore
import Testing

/// A recording's JPEGs keep to a size, by their quality.
@Suite struct JPEGQualityTests {
    /// A picture of a scene at a quality: JPEGs grow by some 5 % a point around 90, and by 2 % around 60.
    private func bytes(_ scene: Double, _ quality: Int32) -> Int {
        var size = scene
        for point in stride(from: 90, to: quality, by: -1) { size /= point > 75 ? 1.05 : 1.02 }
        return Int(size)
    }

    @Test("What fits at the best quality keeps it")
    func fits() {
        var quality = JPEGQuality(budget: 1_000_000)
        for _ in 0..<300 {
            quality.note(bytes(900_000, quality.quality))
            #expect(quality.quality == 90)
        }
    }

    @Test("A scene that is too large is within its budget after a second, on average, and stays so")
    func steady() {
        for scene in [1_100_000.0, 1_500_000, 1_900_000] {
            var quality = JPEGQuality(budget: 1_000_000)
            for _ in 0..<30 { quality.note(bytes(scene, quality.quality)) }
            var sum = 0
            for _ in 0..<300 {
                sum += bytes(scene, quality.quality)
                quality.note(bytes(scene, quality.quality))
            }
            #expect(sum / 300 <= 1_000_000 && sum / 300 >= 820_000, "a scene of \(scene)")
        }
    }

    @Test("It does not swing: in a scene that stays, the quality comes to rest")
    func rest() {
        for scene in stride(from: 1_000_000.0, through: 2_400_000, by: 50_000) {
            var quality = JPEGQuality(budget: 1_000_000)
            for _ in 0..<300 { quality.note(bytes(scene, quality.quality)) }
            let rested = quality.quality
            for _ in 0..<600 {
                quality.note(bytes(scene, quality.quality))
                #expect(quality.quality == rested, "a scene of \(scene)")
            }
        }
    }

    @Test("It never leaves 60 to 90, whatever the pictures are")
    func bounds() {
        var quality = JPEGQuality(budget: 1_000_000)
        for size in [50_000_000, 0, 1, 100_000_000, 12] {
            for _ in 0..<1000 {
                quality.note(size)
                #expect((60...90).contains(quality.quality))
            }
        }
    }

    @Test("A scene that calms down has the best quality again, slowly")
    func recovery() {
        var quality = JPEGQuality(budget: 1_000_000)
        for _ in 0..<100 { quality.note(bytes(3_000_000, quality.quality)) }
        #expect(quality.quality == 60)
        for _ in 0..<60 { quality.note(bytes(200_000, quality.quality)) }
        #expect(quality.quality > 60 && quality.quality < 75)
        for _ in 0..<600 { quality.note(bytes(200_000, quality.quality)) }
        #expect(quality.quality == 90)
    }
}
