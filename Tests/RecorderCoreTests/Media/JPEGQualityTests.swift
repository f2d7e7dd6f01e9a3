import RecorderCore
import Testing

/// A recording's JPEGs keep to a size, by their quality.
@Suite struct JPEGQualityTests {
    /// The sizes of so many pictures of a scene: JPEGs grow by some 5 % a point around 90, and by 2 % around 60.
    private func take(_ count: Int, of scene: Double, _ quality: inout JPEGQuality) -> [Int] {
        var sizes: [Int] = []
        for _ in 0..<count {
            var size = scene
            for point in stride(from: 90, to: quality.quality, by: -1) { size /= point > 75 ? 1.05 : 1.02 }
            sizes.append(Int(size))
            quality.note(Int(size))
        }
        return sizes
    }

    @Test("What fits at the best quality keeps it")
    func fits() {
        var quality = JPEGQuality(budget: 1_000_000)
        let sizes = take(300, of: 900_000, &quality)
        #expect(sizes.allSatisfy { $0 == 900_000 } && quality.quality == 90)
    }

    @Test("A scene that is too large is within its budget after a second, on average, and stays so")
    func steady() {
        for scene in [1_100_000.0, 1_500_000, 1_900_000] {
            var quality = JPEGQuality(budget: 1_000_000)
            _ = take(30, of: scene, &quality)
            let mean = take(300, of: scene, &quality).reduce(0, +) / 300
            #expect((820_000...1_000_000).contains(mean), "a scene of \(scene)")
        }
    }

    @Test("It does not swing: in a scene that stays, the quality comes to rest")
    func rest() {
        for scene in stride(from: 1_000_000.0, through: 2_400_000, by: 50_000) {
            var quality = JPEGQuality(budget: 1_000_000)
            _ = take(300, of: scene, &quality)
            let sizes = take(601, of: scene, &quality)
            #expect(Set(sizes).count == 1, "a scene of \(scene)")
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
        _ = take(100, of: 3_000_000, &quality)
        #expect(quality.quality == 60)
        _ = take(60, of: 200_000, &quality)
        #expect((61..<75).contains(quality.quality))
        _ = take(600, of: 200_000, &quality)
        #expect(quality.quality == 90)
    }
}
