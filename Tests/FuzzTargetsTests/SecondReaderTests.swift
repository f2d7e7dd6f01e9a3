import FuzzTargets
import Testing

@Suite struct SecondReaderTests {
    @Test(
        "libsystemd reads every message that ours reads, and as the same, be it as it was written or with bytes changed",
        arguments: 1...8 as ClosedRange<UInt64>)
    func differences(seed: UInt64) {
        var messages = RandomMessages(seed)
        for _ in 0..<3000 {
            let message = messages.next()
            #expect(messages.isTaken(message), "\(message)")
            for _ in 0..<8 { SecondReader.compare(messages.changed(message)) }
        }
        // Changes are small enough that half of the messages are still some.
        #expect(messages.takenShare > 0.2, "\(messages.takenShare)")
    }
}
