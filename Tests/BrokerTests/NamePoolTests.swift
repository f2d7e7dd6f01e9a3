import Broker
import Testing

@Suite struct NamePoolTests {
    @Test("A name that is taken has the smallest number that is free behind it")
    func smallest() {
        var pool = NamePool()
        #expect((0..<3).map { _ in pool.take("photos") } == ["photos", "photos-2", "photos-3"])
        #expect(pool.take("photos-2") == "photos-2-2")
        pool.give(back: "photos-2")
        pool.give(back: "nobody")
        #expect(pool.take("photos") == "photos-2")
        pool.give(back: "photos")
        #expect(pool.take("photos") == "photos")
    }
}
