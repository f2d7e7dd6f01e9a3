import RecorderCore
import Testing

@Suite struct ZoomRampTests {
    @Test func aRampGrowsByDoublingsASecondAndStopsAtItsEnd() {
        let up = ZoomRamp(from: 1, to: 8, rate: 2, began: 1_000_000_000)
        #expect(up.factor(at: 1_500_000_000) == (2, false))
        #expect(up.factor(at: 2_000_000_000) == (4, false))
        #expect(up.factor(at: 9_000_000_000) == (8, true))
        let down = ZoomRamp(from: 8, to: 1, rate: 1, began: 0)
        #expect(down.factor(at: 1_000_000_000) == (4, false))
        #expect(down.factor(at: 4_000_000_000) == (1, true))
    }
}

private func == (a: (factor: Double, hasArrived: Bool), b: (Double, Bool)) -> Bool {
    abs(a.factor - b.0) < 1e-9 && a.hasArrived == b.1
}
