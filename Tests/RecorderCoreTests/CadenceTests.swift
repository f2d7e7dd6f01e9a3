import RecorderCore
import Testing

/// Frames that are left out down to a lower rate.
@Suite struct CadenceTests {
    /// Which of a camera's frames are taken.
    /// - Parameter late: by how many nanoseconds each frame is late, of which the list begins anew.
    private func taken(
        from camera: Double, to rate: Double, frames: Int, late: [Int64] = [0], nominal: Double? = nil
    ) -> [Int] {
        var cadence = Cadence(interval: Int64(1e9 / rate))
        let interval = Int64(1e9 / (nominal ?? camera))
        return (0..<frames).filter { index in
            cadence.takes(
                captured: 7_000_000_000 + Int64(Double(index) * 1e9 / camera) + late[index % late.count],
                cameraInterval: interval)
        }
    }

    @Test("Of 30 frames a second 15 are every second one, 20 two of three, 10 each third, and 30 all")
    func even() {
        #expect(taken(from: 30, to: 15, frames: 9) == [0, 2, 4, 6, 8])
        #expect(taken(from: 30, to: 20, frames: 9) == [0, 2, 3, 5, 6, 8])
        #expect(taken(from: 30, to: 10, frames: 9) == [0, 3, 6])
        #expect(taken(from: 30, to: 30, frames: 9) == Array(0..<9))
        #expect(taken(from: 30, to: 60, frames: 9) == Array(0..<9))
    }

    @Test("In ten minutes there are as many as the rate says", arguments: [1, 7, 12, 15, 20, 24, 25, 29.97])
    func rates(_ rate: Double) {
        let count = taken(from: 30, to: rate, frames: 18_000).count
        #expect(abs(Double(count) - 600 * rate) <= 1)
    }

    @Test("Frames that are late by up to 14 ms are still every second one, or two of three", arguments: [15.0, 20])
    func uneven(_ rate: Double) {
        let late: [Int64] = [0, 14_000_000, 3_000_000, 9_000_000, 1_000_000, 12_000_000, 6_000_000]
        let even = taken(from: 30, to: rate, frames: 900)
        #expect(taken(from: 30, to: rate, frames: 900, late: late) == even)
        // A camera whose clock is not quite the machine's.
        #expect(taken(from: 29.97, to: rate, frames: 900, late: late, nominal: 30) == even)
    }

    @Test("Of a camera that is slower than it should be, fewer frames are left out")
    func slow() {
        #expect(taken(from: 15, to: 15, frames: 20, nominal: 30) == Array(0..<20))
        let taken = taken(from: 20, to: 15, frames: 2000, nominal: 30)
        #expect(abs(taken.count - 1500) <= 1)
        #expect(zip(taken, taken.dropFirst()).allSatisfy { $1 - $0 <= 2 })
    }

    @Test("After a gap frames are as even as before it")
    func gap() {
        var cadence = Cadence(interval: 66_666_666)
        let frame: Int64 = 33_333_333
        let times = (0..<4).map { Int64($0) * frame } + (0..<6).map { 5_000_000_000 + Int64($0) * frame }
        let taken = times.map { cadence.takes(captured: $0, cameraInterval: frame) }
        #expect(taken == [true, false, true, false, true, false, true, false, true, false])
    }
}
